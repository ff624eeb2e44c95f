/** Work that Ctrl-C does not wait for. */
import { interrupted } from './channel.ts';

/**
 * The result of `work`, or Failure INTERRUPTED once the signal is given: then the work goes on, and nobody takes its
 * result.
 * @param what is interrupted, as a message has it
 */
export async function orInterrupted<T>(
  signal: AbortSignal | null,
  what: string,
  work: Promise<T>,
): Promise<T> {
  if (signal === null) return work;
  let abort = (): void => {};
  const interruption = new Promise<never>((_, reject) => {
    abort = () => reject(interrupted(what));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([work, interruption]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
