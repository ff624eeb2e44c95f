import { expect } from 'vitest';
import type { Place } from '../roce/tools.ts';
import { LEFT, RIGHT, resources } from './lab.ts';

/**
 * Runs of a client and of a listener that are killed at random moments, by a loop inside the guest; what the
 * kernel has of RDMA objects is as before at its end.
 * @param words options of both
 */
export async function killAtRandom(
  place: Place,
  count: number,
  words: readonly string[] = [],
): Promise<void> {
  const chosen = words.join(' ');
  const before = await resources(place);
  const loop = `
    i=0
    while [ $i -lt ${count} ]; do
      rdmatool cm listen ${RIGHT} --port $((8000 + i)) ${chosen} >/dev/null 2>&1 & l=$!
      rdmatool cm connect ${RIGHT}:$((8000 + i)) --bind ${LEFT} --hold 5 ${chosen} >/dev/null 2>&1 & c=$!
      sleep 0.$((RANDOM % 900 + 100)); [ $((RANDOM % 2)) = 0 ] && sleep 0.$((RANDOM % 900 + 100))
      kill -9 $c; sleep 0.0$((RANDOM % 90 + 10)); kill -9 $l
      wait $c $l 2>/dev/null
      i=$((i + 1))
    done`;
  expect((await place.inLab(['bash', '-c', loop])).status).toBe(0);
  await expect.poll(() => resources(place), { timeout: 30_000, interval: 1000 }).toBe(before);
}
