import { setTimeout as sleep } from 'node:timers/promises';

/** Does `work` now and every `milliseconds` after, until the signal or so often. Errors of `work` end it. */
export async function repeatUntil(
  signal: AbortSignal,
  milliseconds: number,
  work: () => Promise<unknown>,
  count = Number.POSITIVE_INFINITY,
): Promise<void> {
  for (let done = 1; !signal.aborted; done++) {
    const started = performance.now();
    try {
      await work();
      if (done >= count) return;
      await sleep(Math.max(0, milliseconds - (performance.now() - started)), undefined, { signal });
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
  }
}
