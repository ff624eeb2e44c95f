/** A step that hangs in the kernel or the driver: Ctrl-C and the deadline end it, whichever it is. */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { bundleDriver } from '../lab/cm/bundle.ts';
import { LEFT, parse, RIGHT, resources, SERVING, useGuest } from '../lab/cm/lab.ts';
import { buildSlowKernel } from '../lab/cm/slow-kernel.ts';

// A guest without KVM on a busy machine is slow.
vi.setConfig({ testTimeout: 240_000 });
const place = useGuest();
const PEER = `${RIGHT} --bind ${LEFT}`;
let slowKernel = '';
let driver = '';
beforeAll(async () => {
  slowKernel = buildSlowKernel();
  driver = await bundleDriver('step-driver');
});

interface Ended {
  /** The step that hung, as slow-kernel.c names it. */
  readonly slow: string;
  readonly code: string | null;
  readonly message: string | null;
  readonly step: { readonly step: string; readonly status: number; readonly status_name: string } | null;
  /** From the abort, or from the beginning of the step. */
  readonly ms: number;
}

/** The step, and the last step of the document; null for a listener, and where there is no id yet. */
const CLIENT_STEPS = [
  ['create_id', 'create_id'],
  ['set_option', 'set_option TOS'],
  ['bind_addr', 'bind_addr'],
  ['getaddrinfo', 'getaddrinfo'],
  ['resolve_addr', 'resolve_addr'],
  ['resolve_route', 'resolve_route'],
  ['create_qp', 'create_qp'],
  ['connect', 'connect'],
  ['disconnect', 'disconnect'],
  ['init_qp_attr', 'init_qp_attr INIT'],
  ['listen', null],
] as const;
const LISTENER_STEPS = [
  ['accept', null],
  ['reject', null],
  ['create_qp', null],
] as const;

describe('a step that hangs', () => {
  const hang = async (way: 'abort' | 'deadline'): Promise<Ended[]> => {
    const { stdout, stderr } = await place.inLab([
      'env',
      `LD_PRELOAD=${slowKernel}`,
      // Calls that hang keep their threads.
      'UV_THREADPOOL_SIZE=16',
      'node',
      driver,
      way,
    ]);
    expect(stdout, stderr).not.toBe('');
    return JSON.parse(stdout);
  };

  it('is ended by Ctrl-C, each of them', async () => {
    const endings = await hang('abort');
    expect(endings.map(({ slow, code, step }) => [slow, step?.step ?? null, code])).toEqual(
      [...CLIENT_STEPS, ...LISTENER_STEPS].map(([slow, step]) => [slow, step, 'INTERRUPTED']),
    );
    for (const { slow, step, ms } of endings) {
      if (step) expect([slow, step.status, step.status_name]).toEqual([slow, -4, 'EINTR']);
      // The call itself takes a minute.
      expect(ms, slow).toBeLessThan(10_000);
    }
  });

  it('is ended by its deadline, each of them', async () => {
    const endings = await hang('deadline');
    expect(endings.map(({ slow, code, step }) => [slow, step?.step ?? null, code])).toEqual(
      CLIENT_STEPS.map(([slow, step]) => [slow, step, 'TIMED_OUT']),
    );
    for (const { slow, step, ms } of endings) {
      if (step) expect([slow, step.status, step.status_name]).toEqual([slow, -110, 'ETIMEDOUT']);
      expect(ms, slow).toBeLessThan(15_000);
    }
  });

  it('leaves nothing, and exit status 130 or 75, when its process ends', async () => {
    const { stdout } = await place.inLab([
      'bash',
      '-c',
      `export LD_PRELOAD=${slowKernel} SLOW_STEP=connect SLOW_MARK=/tmp/mark
      rdmatool cm connect ${PEER} --json >/tmp/out & p=$!
      until [ -e /tmp/mark ]; do sleep 0.05; done
      kill -INT $p; wait $p; echo $?; tr -d '\\n' </tmp/out; echo
      rm /tmp/mark
      SLOW_STEP=create_id rdmatool cm create-id >/dev/null 2>&1 & p=$!
      until [ -e /tmp/mark ]; do sleep 0.05; done
      kill -INT $p; wait $p; echo $?
      rdmatool cm connect ${PEER} --timeout 500 --json >/tmp/out; echo $?; tr -d '\\n' </tmp/out; echo`,
    ]);
    const [interrupted, first = '', opening, late, second = ''] = stdout.trim().split('\n');
    expect([interrupted, opening, late]).toEqual(['130', '130', '75']);
    expect(parse('cm-connect', first).error).toMatchObject({ code: 'INTERRUPTED' });
    expect(parse('cm-connect', second).error).toMatchObject({ code: 'TIMED_OUT' });
    await expect
      .poll(() => resources(place), { timeout: 15_000, interval: 500 })
      .toMatch(/^rxe0: .* cm_id 0 .* ctx 0 .*\nrxe1: .* cm_id 0 .* ctx 0 .*\n$/);
  });
});

it('Ctrl-C while a connection is held, and while nobody asks', async () => {
  const { stdout } = await place.inLab([
    'bash',
    '-c',
    `${SERVING}
    serve rdmatool cm listen ${RIGHT} --json
    until_said listening
    rdmatool cm connect ${PEER} --hold 60 --json >/tmp/out 2>/dev/null & p=$!
    until_said ESTABLISHED
    sleep 1; kill -INT $p; wait $p; echo $? $(tr -d '\\n' </tmp/out)
    kill -INT $server; served; echo $? $(tail -n 1 $said)`,
  ]);
  const [held = '', listened = ''] = stdout.trim().split('\n');
  expect(held).toMatch(/^130 /);
  expect(parse('cm-connect', held.slice(4))).toMatchObject({
    error: { code: 'INTERRUPTED', message: expect.stringContaining('holding the connection') },
    connection: { initiator_depth: 1 },
  });
  expect(listened).toMatch(/^130 /);
  expect(parse('cm-listen', listened.slice(4)).error).toMatchObject({ code: 'INTERRUPTED' });
});

it('a queue pair that may not lock its memory: rxe locks none, so the answer of a driver that does', async () => {
  const { status, stdout } = await place.inLab([
    'bash',
    '-c',
    `ulimit -l 64
    export LD_PRELOAD=${slowKernel} FAIL_STEP=create_qp FAIL_ERRNO=12
    setpriv --reuid nobody --clear-groups rdmatool cm connect ${PEER} --json`,
  ]);
  expect(status).toBe(1);
  const { error, steps } = parse('cm-connect', stdout);
  expect(error).toMatchObject({
    code: 'MEMLOCK_LIMIT',
    message: expect.stringContaining('this process may lock 65536 bytes (ulimit -l)'),
    hint: expect.stringContaining('ulimit -l unlimited'),
  });
  expect(steps.at(-1)).toMatchObject({ step: 'create_qp', status: -12, status_name: 'ENOMEM' });
});
