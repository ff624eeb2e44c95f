import { expect } from 'vitest';
import { killPairs } from '../roce/kill-pairs.ts';
import type { Place } from '../roce/tools.ts';
import { LEFT, RIGHT, resources } from './lab.ts';

const AT_ONCE = 4;

/**
 * Listeners and clients that are killed with connections that stand and pings that go to and fro, and some while they
 * start; what the kernel has of RDMA objects is as before at the end.
 * @param count processes to kill
 * @param words options of both
 */
export async function killConnected(
  place: Place,
  count: number,
  deadlineMs: number,
  words: readonly string[] = [],
): Promise<void> {
  const chosen = words.join(' ');
  const before = await resources(place);
  await killPairs(place, {
    count,
    atOnce: AT_ONCE,
    server: `rdmatool cm listen ${RIGHT} --port $((8000 + i)) --echo ${chosen}`,
    client: `rdmatool cm connect ${RIGHT}:$((8000 + i)) --bind ${LEFT} --ping 1000000 ${chosen}`,
    ready: 'listening',
    atWork: 'ESTABLISHED',
    deadlineMs,
  });
  await expect.poll(() => resources(place), { timeout: 30_000, interval: 1000 }).toBe(before);
}
