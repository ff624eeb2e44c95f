// @ts-check

/** Something the machine lacks that set-up may not or cannot provide (EX_UNAVAILABLE of sysexits.h). */
export const UNAVAILABLE = 69;

/** Ends set-up with a message for the user, without a stack, and with an exit status. */
export class SetupError extends Error {
  /**
   * @param {string} message
   * @param {number} [status]
   */
  constructor(message, status = 1) {
    super(message);
    this.status = status;
  }
}
