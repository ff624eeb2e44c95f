/** `cm connect --count`: many connections, their times and their failures. */
import { describe, expect, it, vi } from 'vitest';
import { LEFT, parse, RIGHT, resources, useGuest } from './cm/lab.ts';

// A guest without KVM on a busy machine is slow.
vi.setConfig({ testTimeout: 400_000 });
const place = useGuest();

interface Many {
  readonly error: { readonly code: string } | null;
  readonly established: number;
  readonly failed: number;
  readonly connections_per_second: number | null;
  readonly duration_ms: number;
  readonly steps: readonly {
    readonly step: string;
    readonly count: number;
    readonly min_ms: number;
    readonly median_ms: number;
    readonly p99_ms: number;
    readonly max_ms: number;
  }[];
  readonly failures: readonly { readonly count: number; readonly step: string; readonly status: number }[];
}

/** Connects to a listener that ends by itself. */
async function many(
  port: number,
  count: number,
  concurrency: number,
  listenerOptions: readonly string[] = [],
) {
  const server = place.startInLab([
    'rdmatool',
    'cm',
    'listen',
    `${RIGHT}:${port}`,
    '--json',
    ...(listenerOptions.length === 0 ? ['--count', String(count)] : listenerOptions),
  ]);
  await server.said('"listening"');
  const outcome = await place.inLab([
    ...['rdmatool', 'cm', 'connect', `${RIGHT}:${port}`, '--bind', LEFT, '--json', '--timeout', '60000'],
    ...['--count', String(count), '--concurrency', String(concurrency)],
  ]);
  const ended = await server.outcome;
  return { outcome, document: parse<Many>('cm-connect-many', outcome.stdout), ended };
}

const STEPS = [
  'create_id',
  'bind_addr',
  'resolve_addr',
  'resolve_route',
  'create_qp',
  'connect',
  'disconnect',
  'destroy',
];

describe('many connections', () => {
  it.each([
    [64, 64],
    [1000, 1],
    [200, 16],
  ])('%i, %i at once', async (count, concurrency) => {
    const { outcome, document, ended } = await many(7400 + concurrency, count, concurrency);
    expect(outcome.status, outcome.stderr).toBe(0);
    expect(outcome.stderr).not.toContain('Warning');
    expect(document).toMatchObject({ error: null, established: count, failed: 0, failures: [] });
    expect(document.steps.map(({ step }) => step)).toEqual(STEPS);
    for (const { count: times, min_ms, median_ms, p99_ms, max_ms } of document.steps) {
      expect(times).toBe(count);
      expect(min_ms).toBeGreaterThan(0);
      expect(min_ms).toBeLessThanOrEqual(median_ms);
      expect(median_ms).toBeLessThanOrEqual(p99_ms);
      expect(p99_ms).toBeLessThanOrEqual(max_ms);
    }
    expect(document.connections_per_second).toBeCloseTo(count / (document.duration_ms / 1000), 1);
    expect(ended.status).toBe(0);
    expect(ended.stdout.match(/RDMA_CM_EVENT_ESTABLISHED/g)).toHaveLength(count);
  });

  it('that fail are counted by their cause', async () => {
    const { outcome, document } = await many(7500, 20, 4, ['--reject', '--count', '20']);
    expect(outcome.status).toBe(1);
    expect(document).toMatchObject({
      error: { code: 'REJECTED' },
      established: 0,
      failed: 20,
      failures: [{ count: 20, step: 'connect', status: 28, status_name: 'CONSUMER_DEFINED' }],
    });
    const nobody = await place.inLab([
      ...['rdmatool', 'cm', 'connect', `${RIGHT}:7501`, '--bind', LEFT, '--count', '5', '--json'],
    ]);
    expect(parse<Many>('cm-connect-many', nobody.stdout)).toMatchObject({
      failed: 5,
      failures: [{ count: 5, step: 'connect', status: 8 }],
    });
  });

  it('more at once than the library takes calls', async () => {
    const outcome = await place.inLab([
      ...['rdmatool', 'cm', 'connect', `${RIGHT}:7502`, '--bind', LEFT, '--qp-num', '1', '--json'],
      ...['--count', '400', '--concurrency', '400', '--timeout', '60000'],
    ]);
    expect(parse<Many>('cm-connect-many', outcome.stdout)).toMatchObject({
      failed: 400,
      error: { code: 'REJECTED' },
    });
  });

  it('end on Ctrl-C with what is known by then', async () => {
    const outcome = await place.inLab([
      'bash',
      '-c',
      `rdmatool cm connect ${RIGHT}:7503 --bind ${LEFT} --count 1000000 --json > /tmp/many & p=$!
       sleep 12; kill -INT $p; wait $p; r=$?; cat /tmp/many; exit $r`,
    ]);
    expect(outcome.status).toBe(130);
    const document = parse<Many>('cm-connect-many', outcome.stdout);
    expect(document).toMatchObject({ error: { code: 'INTERRUPTED' }, established: 0 });
    expect(document.failed).toBeGreaterThan(0);
  });

  it('leave nothing behind', async () => {
    await expect
      .poll(() => resources(place), { timeout: 30_000, interval: 1000 })
      .toMatch(/^rxe0: .* cm_id 0 .* ctx 0 .*\nrxe1: .* cm_id 0 .* ctx 0 .*\n$/);
  });
});
