import { expect } from 'vitest';
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

export async function leftBehind(place: Place): Promise<string[]> {
  const { stdout } = await place.inLab(['bash', '-c', LEFT_BEHIND]);
  return stdout.trim().split('\n');
}

/**
 * Servers and clients that are killed by a loop inside the guest: most while datagrams go to and fro, long ones among
 * them, at random moments; some while they start. Transports and headers take turns.
 * @param count processes to kill
 */
export async function killAtWork(place: Place, count: number): Promise<void> {
  const before = await leftBehind(place);
  // Nothing is open, and the agents could be registered: nothing came for them.
  expect(before).toEqual(['0', expect.any(String), 'agents 75', 'agents 75']);
  const pairs = Math.ceil(count / 2);
  const loop = `
    ways=('--transport libibumad' '--transport device' '--header old')
    worked=0
    head -c 3000 /dev/zero | tr '\\0' x > /tmp/request
    run() { # number of the pair
      class=$((0x30 + $1 % ${AT_ONCE})) out=/tmp/out.$(($1 % ${AT_ONCE}))
      echo '{"answers": [{"class": '$class', "attribute": "any", "data": "00112233", "repeat": 500}]}' > $out.json
      : > $out
      rdmatool mad serve -d rxe1 \${ways[$1 % 3]} --answers $out.json > $out 2>/dev/null & s=$!
      rdmatool mad send 1 fd09:1::1 -d rxe0 \${ways[$1 / 3 % 3]} --class $class --oui 0x001405 --rmpp \\
        --data-file /tmp/request -c 1000000 --timeout 200 --retries 1000 >/dev/null 2>&1 & c=$!
      if [ $((RANDOM % 4)) != 0 ]; then
        for _ in $(seq 300); do grep -q 'SUCCESS' $out && break; sleep 0.1; done
        grep -q 'SUCCESS' $out && echo worked
      fi
      sleep 0.$((RANDOM % 900 + 100))
      if [ $((RANDOM % 2)) = 0 ]; then first=$c second=$s; else first=$s second=$c; fi
      kill -9 $first; sleep 0.0$((RANDOM % 90 + 10)); kill -9 $second
      wait $c $s 2>/dev/null
    }
    i=0
    while [ $i -lt ${pairs} ]; do
      jobs=
      for _ in $(seq ${AT_ONCE}); do
        [ $i -lt ${pairs} ] || break
        run $i & jobs="$jobs $!"
        i=$((i + 1))
      done
      wait $jobs
    done`;
  const { status, stdout, stderr } = await place.inLab(['bash', '-c', loop]);
  expect(status, stderr).toBe(0);
  // Killed at work, and not only while they started.
  expect(stdout.match(/worked/g)?.length ?? 0).toBeGreaterThan(pairs / 3);
  await expect.poll(() => leftBehind(place), { timeout: 60_000, interval: 2000 }).toEqual(before);
}
