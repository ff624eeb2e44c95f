import { DeadlineError, within } from './deadline.ts';

/** Calls on one thing, each with a deadline. Once one has not come back, the others are not begun any more. */
export class Patience {
  #late: DeadlineError | null = null;

  /** @param what the calls are on, for messages */
  constructor(private readonly what: string) {}

  /**
   * The result of a call.
   * @throws DeadlineError, and what the call throws
   */
  async call<T>(milliseconds: number, operation: string, begin: () => Promise<T>): Promise<T> {
    this.check();
    try {
      return await within(milliseconds, `${this.what}: ${operation}`, begin());
    } catch (error) {
      if (error instanceof DeadlineError) this.#late = error;
      throw error;
    }
  }

  /** Throws the DeadlineError of the call that has not come back, if there is one. */
  check(): void {
    if (this.#late !== null) throw this.#late;
  }
}
