import { setTimeout as sleep } from 'node:timers/promises';

/** Does `work` now and every `milliseconds` after, until the signal is given. Errors of `work` end it. */
export async function repeatUntil(
  signal: AbortSignal,
  milliseconds: number,
  work: () => Promise<unknown>,
): Promise<void> {
  while (!signal.aborted) {
    const started = performance.now();
    try {
      await work();
      await sleep(Math.max(0, milliseconds - (performance.now() - started)), undefined, { signal });
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
  }
}
