/** Time: devices are opened side by side, nothing blocks the event loop, Ctrl-C ends it, nothing is left behind. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { deviceOf, lab } from '../support/labs.ts';
import { runWithLibrary } from '../support/library.ts';
import { queryDevice, RDMATOOL, rdmatool, rdmatoolJson, run } from '../support/rdmatool.ts';

const COUNT = 8;
const devices = Array.from({ length: COUNT }, (_, index) => `rdmap${index}s6:efa2`);

describe('opening takes 100 ms', () => {
  it('eight devices take far less than eight times as long', async () => {
    const quick = await lab({ devices });
    const slow = await lab({ devices, faults: ['*:delay=100'] });
    const times = { quick: [] as number[], slow: [] as number[] };
    for (let round = 0; round < 3; round++) {
      for (const [name, place] of [
        ['quick', quick],
        ['slow', slow],
      ] as const) {
        const { status, milliseconds } = await queryDevice([], { lab: place });
        expect(status).toBe(0);
        times[name].push(milliseconds);
      }
    }
    const extra = Math.min(...times.slow) - Math.min(...times.quick);
    // Four at once: 200 ms. One after another it would be 800.
    expect(Math.min(...times.slow)).toBeGreaterThan(200);
    expect(extra).toBeLessThan(650);
  });

  it('one after another where there is one thread', async () => {
    const slow = await lab({ devices, faults: ['*:delay=100'] });
    const outcome = await queryDevice([], { lab: slow, env: { UV_THREADPOOL_SIZE: '1' } });
    expect(outcome.status).toBe(0);
    expect(outcome.milliseconds).toBeGreaterThan(800);
  });

  it('while other work goes on', async () => {
    const slow = await lab({ devices: devices.slice(0, 2), faults: ['*:delay=400'] });
    const longest = await runWithLibrary(
      `let last = performance.now(), longest = 0;
       last = performance.now();
       const timer = setInterval(() => {
         longest = Math.max(longest, performance.now() - last);
         last = performance.now();
       }, 5);
       await queryDevices();
       clearInterval(timer);
       answer(longest);`,
      { lab: slow },
    );
    expect(longest).toBeLessThan(300);
  });
});

/** Sends a signal when the process has loaded libibverbs: it then waits for the device. */
async function sendOnceItAsks(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    if (readFileSync(`/proc/${child.pid}/maps`, 'utf8').includes('libibverbs')) {
      await sleep(100);
      child.kill(signal);
      return;
    }
    await sleep(20);
  }
}

describe('Ctrl-C during a slow open', () => {
  const slow = () => lab({ devices: ['rdmap0s6:efa2'], faults: ['rdmap0s6:delay=60000'] });
  const interrupt = (child: ChildProcess): void => void sendOnceItAsks(child, 'SIGINT');

  it('ends with 130, at once and with a word', async () => {
    const outcome = await rdmatool(['query-device'], { lab: await slow(), onStart: interrupt });
    expect(outcome).toMatchObject({
      status: 130,
      signal: null,
      stdout: '',
      stderr: 'rdmatool: interrupted\n',
    });
    expect(outcome.milliseconds).toBeLessThan(10_000);
  });

  it.each([['query-device'], ['list']])('%s --json still prints a document', async (command) => {
    const outcome = await rdmatoolJson([command], { lab: await slow(), onStart: interrupt });
    expect(outcome.status).toBe(130);
    expect(outcome.document.error).toMatchObject({ code: 'INTERRUPTED', errno: null });
  });

  it('ends by SIGTERM as any program does', async () => {
    const outcome = await rdmatool(['query-device'], {
      lab: await slow(),
      onStart: (child) => void sendOnceItAsks(child, 'SIGTERM'),
    });
    expect(outcome).toMatchObject({ status: null, signal: 'SIGTERM' });
  });
});

describe.concurrent('a query that takes longer than a second', () => {
  const slow = () => lab({ devices: ['rdmap0s6:efa2', 'rdmap1s6:efa2'], faults: ['rdmap1s6:delay=1700'] });
  const words = (command: string) => `'${process.execPath}' '${RDMATOOL}' ${command}`;

  it.each([['query-device'], ['list']])(
    '(%s) says on a terminal what it waits for, and takes it away',
    async (command) => {
      const { stdout } = await run(['script', '-qec', words(`${command} --color never`), '/dev/null'], {
        lab: await slow(),
      });
      const [before = '', after = ''] = stdout.split('\r\u001b[K');
      expect(before).toBe('1 of 2 devices; waiting for rdmap1s6');
      expect(after).toContain('rdmap0s6');
      expect(after).not.toMatch(/\u001b|waiting/);
    },
  );

  it('says nothing where stderr is not a terminal, or a dumb one', async () => {
    const place = await slow();
    const [piped, dumb] = await Promise.all([
      rdmatool(['list'], { lab: place }),
      run(['script', '-qec', words('list'), '/dev/null'], { lab: place, env: { TERM: 'dumb' } }),
    ]);
    expect(piped).toMatchObject({ status: 0, stderr: '' });
    expect(dumb.stdout.replaceAll('\r\n', '\n')).toBe(piped.stdout);
  });

  it('is interrupted on a line of its own', async () => {
    const place = await lab({ faults: ['rdmap0s6:delay=60000'] });
    const { stdout } = await run(
      ['script', '-qec', `timeout -s INT 3 ${words('query-device')}; echo "[$?]"`, '/dev/null'],
      { lab: place },
    );
    expect(stdout.replaceAll('\r\n', '\n')).toMatch(
      /^0 of 1 devices; waiting for rdmap0s6\r\u001b\[Krdmatool: interrupted\n\[124\]\n$/,
    );
  });
});

interface Remains {
  readonly descriptors: readonly [number, number];
  readonly resources: readonly [readonly string[], readonly string[]];
  readonly megabytes: number;
}

describe('three hundred queries in one process', () => {
  it('leave nothing open, whether they succeed or fail', async () => {
    const broken = {
      ...devicesWith(['open=EIO', 'context=ENOMEM', 'query-device=EIO', 'query-port=EIO', 'no-node']),
    };
    const place = await lab({
      devices: [...broken.devices, 'rdmap9s6:efa2', deviceOf('rxe0', { extends: 'rxe' })],
      faults: [...broken.faults, 'rxe0:gid-table=EINVAL'],
    });
    const remains = (await runWithLibrary(
      `const { readdirSync } = await import('node:fs');
       const descriptors = () => readdirSync('/proc/self/fd').length;
       const resources = () => process.getActiveResourcesInfo().sort();
       const megabytes = () => { gc(); const { heapUsed, external } = process.memoryUsage(); return (heapUsed + external) / 2 ** 20; };
       for (let i = 0; i < 30; i++) await queryDevices();
       const before = [descriptors(), resources(), megabytes()];
       for (let i = 0; i < 300; i++) {
         const { devices } = await queryDevices();
         if (devices.length !== 7 || devices.filter(({ error }) => error === null).length !== 2) throw new Error(JSON.stringify(devices));
       }
       answer({
         descriptors: [before[0], descriptors()],
         resources: [before[1], resources()],
         megabytes: megabytes() - before[2],
       });`,
      { lab: place },
    )) as Remains;
    expect(remains.descriptors[1]).toBe(remains.descriptors[0]);
    expect(remains.resources[1]).toEqual(remains.resources[0]);
    expect(remains.megabytes).toBeLessThan(3);
  });
});

/** A device for each fault. */
function devicesWith(faults: readonly string[]): { devices: string[]; faults: string[] } {
  return {
    devices: faults.map((_, index) => `rdmap${index}s6:efa2`),
    faults: faults.map((fault, index) => `rdmap${index}s6:${fault}`),
  };
}
