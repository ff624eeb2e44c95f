import { Failure } from '../explain/failure.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * What Ctrl-C does to a command: it ends it at once, unless the command has asked to take down first what it has
 * set up. The second one ends the process in any case.
 */
export class Interruption {
  readonly #controller = new AbortController();
  #isAwaited = false;

  /** From now on the ending signals abort this one, and the command goes on to its end. */
  readonly awaited = (): AbortSignal => {
    if (!this.#isAwaited) {
      this.#isAwaited = true;
      // After the first, the signals have their usual effect again.
      for (const name of SIGNALS) process.once(name, () => this.#controller.abort());
    }
    return this.#controller.signal;
  };

  /**
   * The result of a command.
   * @throws Failure INTERRUPTED, where Ctrl-C comes first and the command does not wait for it
   */
  async orResult<T>(work: Promise<T>): Promise<T> {
    let interrupt = (): void => {};
    const interruption = new Promise<never>((_, reject) => {
      interrupt = () => {
        if (!this.#isAwaited) reject(new Failure('INTERRUPTED', 'interrupted', ''));
      };
      process.once('SIGINT', interrupt);
    });
    try {
      return await Promise.race([work, interruption]);
    } finally {
      process.off('SIGINT', interrupt);
    }
  }
}
