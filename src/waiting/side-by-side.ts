import { abandonedOperations } from './deadline.ts';

/** How many things are worked on at once. */
const LANES = 4;
/** Threads for them, and in reserve for those that a hanging call keeps. */
const THREADS = 16;
const VARIABLE = 'UV_THREADPOOL_SIZE';

/**
 * Asks libuv for more threads than its usual four. Has an effect only before its pool is first used; a number that
 * the user has set stays.
 */
export function reserveThreads(environment: NodeJS.ProcessEnv = process.env): void {
  environment[VARIABLE] ||= String(THREADS);
}

/** How many calls into C can run or hang at once: the threads of libuv's pool. uv_queue_work(3). */
export function poolThreads(environment: NodeJS.ProcessEnv = process.env): number {
  const wished = Number.parseInt(environment[VARIABLE] || '4', 10);
  return Math.min(Math.max(Number.isNaN(wished) ? 1 : wished, 1), 1024);
}

/**
 * Does `work` on each item, on a few at once, so that the time of an item runs from its beginning and not from the
 * first one's. A call that never comes back keeps its thread; where none is left, the items that remain are not
 * begun.
 * @param notBegun what stands for such an item
 */
export async function sideBySide<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  notBegun: (item: T) => R,
  threads: number = poolThreads(),
): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const before = abandonedOperations();
  const lanes = Math.min(LANES, threads, items.length);
  let ended = 0;
  const lane = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      results[index] = await work(item);
      const lost = abandonedOperations() - before;
      // Each lane that goes on needs a thread.
      if (threads - lost < lanes - ended) {
        ended++;
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  for (const [index, item] of waiting) results[index] = notBegun(item);
  return results;
}
