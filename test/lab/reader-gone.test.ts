/** Streams whose reader goes away end then, and not with the next thing that they would have to say. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestFabric } from './mad/fabric.ts';
import { lab } from './support/labs.ts';
import { RDMATOOL, run } from './support/rdmatool.ts';

/** Each of them has nothing to say for a minute after its first line. */
const DEADLINE_MS = 20_000;
/** How the stream ended, and its messages. */
const pipe = (command: string): string => `${command} | head -n 1 >/dev/null; echo "ended \${PIPESTATUS[0]}"`;
const SILENT_END = { stdout: 'ended 0\n', stderr: '' };

describe('in lab ib', () => {
  let fabric: TestFabric;
  beforeAll(async () => {
    fabric = await TestFabric.start({ fabric: 'pair' });
  });
  afterAll(() => fabric.stop());

  it.each([
    'mad recv --class PERF',
    'mad recv --class PERF --json',
    'mad serve',
    'mad get PortInfo --watch 60 --json',
    'mad get PortInfo --watch 60',
  ])('rdmatool %s | head -1', async (command) => {
    const started = performance.now();
    const { stdout, stderr } = await fabric.shell(`bash -c '${pipe(`rdmatool ${command}`)}'`);
    expect({ stdout, stderr }).toEqual(SILENT_END);
    expect(performance.now() - started).toBeLessThan(DEADLINE_MS);
  });
});

const rdmatool = `'${process.execPath}' '${RDMATOOL}'`;

it('rdmatool counters --watch 60 | head -1', async () => {
  const command = pipe(`${rdmatool} counters --watch 60 --json`);
  const { stdout, stderr, milliseconds } = await run(['bash', '-c', command], { lab: await lab() });
  expect({ stdout, stderr }).toEqual(SILENT_END);
  expect(milliseconds).toBeLessThan(DEADLINE_MS);
});

it('rdmatool trace | head -1 ends the program, and what it has started', async () => {
  // The child of the shell outlives it unless it is told to end as well.
  const program = "sh -c 'cat /dev/infiniband/rdma_cm 2>/dev/null; sleep 60 & wait'";
  const command = pipe(`${rdmatool} trace -- ${program}`);
  const { stdout, stderr, milliseconds } = await run(['bash', '-c', command]);
  expect({ stdout, stderr }).toEqual(SILENT_END);
  expect(milliseconds).toBeLessThan(DEADLINE_MS);
});

it('rdmatool trace passes on a signal to the program, past strace, and to what that is just starting', async () => {
  for (let turn = 0; turn < 15; turn++) {
    let toldAt = 0;
    const { status, stdout } = await run(
      [process.execPath, RDMATOOL, 'trace', '-o', '/dev/null', '--', 'sh', '-c', 'echo begun; sleep 60'],
      {
        onStart: (child) => {
          child.stdout?.once('data', () => {
            toldAt = performance.now();
            // At another moment of the start of sleep each time.
            setTimeout(() => child.kill('SIGTERM'), turn / 3);
          });
        },
      },
    );
    expect({ status, stdout }).toEqual({ status: 143, stdout: 'begun\n' });
    expect(performance.now() - toldAt).toBeLessThan(DEADLINE_MS);
  }
});
