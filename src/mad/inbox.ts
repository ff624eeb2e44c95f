/** What has come for an agent and has not been looked at yet. */
import { Failure } from '../explain/failure.ts';
import { NativeCallError } from '../native/errors.ts';
import { readingFailed } from './failures.ts';
import type { Received } from './reply.ts';
import type { MadSession } from './session.ts';

export class Inbox {
  readonly #queue: Received[] = [];
  #failure: Error | null = null;
  #wake: (() => void) | null = null;

  /**
   * Listens on the session until it is closed.
   * @param first is told of each message as it comes, before it is taken from here
   */
  constructor(
    private readonly session: MadSession,
    first: (received: Received) => void = () => {},
  ) {
    session.listen(
      (received) => {
        first(received);
        this.#queue.push(received);
        this.#wake?.();
      },
      (error) => {
        this.#failure = error instanceof Error ? error : new Error(String(error));
        this.#wake?.();
      },
    );
  }

  /**
   * The next message; null when none came within the time (null: for ever).
   * @throws Failure when the port is lost, or the signal aborts
   */
  async next(milliseconds: number | null, signal: AbortSignal): Promise<Received | null> {
    const deadline = milliseconds === null ? null : performance.now() + milliseconds;
    for (;;) {
      if (signal.aborted) throw new Failure('INTERRUPTED', 'interrupted', '');
      const received = this.#queue.shift();
      if (received) return received;
      if (this.#failure) throw this.#explained(this.#failure);
      const left = deadline === null ? null : deadline - performance.now();
      if (left !== null && left <= 0) return null;
      await this.#change(left, signal);
    }
  }

  #explained(error: Error): Error {
    return error instanceof NativeCallError ? readingFailed(this.session.title, error) : error;
  }

  #change(milliseconds: number | null, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#wake = null;
        resolve();
      };
      // setTimeout takes no longer time.
      if (milliseconds !== null) timer = setTimeout(done, Math.min(milliseconds, 2 ** 31 - 1));
      signal.addEventListener('abort', done);
      this.#wake = done;
    });
  }
}
