/** Why a lab cannot be had: what failed, what to do next, and the exit status that the command ends with. */
export class LabError extends Error {
  override readonly name = 'LabError';

  constructor(
    /** Stable, for scripts: `usage`, `bad_profile`, `no_compiler`, `compiler_failed`. */
    readonly code: string,
    message: string,
    readonly hint: string | null,
    readonly exit: number,
  ) {
    super(message);
  }
}

/** A wrong option value. */
export const usageError = (message: string, hint = 'rdmatool lab run --help shows what there is'): LabError =>
  new LabError('usage', message, hint, 2);
