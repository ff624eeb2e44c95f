import { expect } from 'vitest';
import { type KillPlan, killPairs } from '../roce/kill-pairs.ts';
import type { Place } from '../roce/tools.ts';

/** Pairs of a server and a client at a time, each with a class of its own. */
const AT_ONCE = 4;

/** What is open of the umad devices, and whether every method of the classes can be had. */
const LEFT_BEHIND = `
  ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c /dev/infiniband/umad
  cat /sys/module/ib_umad/refcnt
  for device in rxe0 rxe1; do
    rdmatool mad recv -d $device --class 0x30 --class 0x31 --class 0x32 --class 0x33 --timeout 10 >/dev/null 2>&1
    echo agents $?
  done`;

async function leftBehind(place: Place): Promise<string[]> {
  const { stdout } = await place.inLab(['bash', '-c', LEFT_BEHIND]);
  return stdout.trim().split('\n');
}

const plan = (count: number, deadlineMs: number): KillPlan => ({
  count,
  atOnce: AT_ONCE,
  prepare: `
      ways=('--transport libibumad' '--transport device' '--header old')
      head -c 3000 /dev/zero | tr '\\0' x > request
      for ((class = 0x30; class < 0x30 + ${AT_ONCE}; class++)); do
        echo '{"answers": [{"class": '$class', "attribute": "any", "data": "00112233", "repeat": 500}]}' > $class.json
      done`,
  server: `rdmatool mad serve -d rxe1 \${ways[i % 3]} --answers $((0x30 + slot)).json`,
  client: `rdmatool mad send 1 fd09:1::1 -d rxe0 \${ways[i / 3 % 3]} --class $((0x30 + slot)) --oui 0x001405 --rmpp \
        --data-file request -c 1000000 --window 1 --timeout 1000 --retries 1000`,
  // Where no server is yet, the kernel answers itself, and a client that gets answers never rests.
  ready: 'listening',
  // Of an answer that has gone.
  atWork: 'SUCCESS',
  deadlineMs,
});

/**
 * Servers and clients that are killed while datagrams go to and fro, long ones among them, and some while they start.
 * Transports and headers take turns.
 * @param count processes to kill
 */
export async function killAtWork(place: Place, count: number, deadlineMs: number): Promise<void> {
  const before = await leftBehind(place);
  // Nothing is open, and the agents could be registered: nothing came for them.
  expect(before).toEqual(['0', expect.any(String), 'agents 75', 'agents 75']);
  await killPairs(place, plan(count, deadlineMs));
  await expect.poll(() => leftBehind(place), { timeout: 60_000, interval: 2000 }).toEqual(before);
}
