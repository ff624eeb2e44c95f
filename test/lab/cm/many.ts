/** `cm connect --count` against a listener, in the lab. */
import { expect } from 'vitest';
import type { Place } from '../roce/tools.ts';
import { LEFT, parse, RIGHT } from './lab.ts';

export interface Many {
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
export async function many(
  place: Place,
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

/** Makes that many connections, and holds the result against what the listener has seen. */
export async function expectMany(place: Place, count: number, concurrency: number): Promise<void> {
  const { outcome, document, ended } = await many(place, 7400 + concurrency, count, concurrency);
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
  expect(ended.stdout.match(/RDMA_CM_EVENT_CONNECT_REQUEST/g)).toHaveLength(count);
  // A goodbye that overtakes the last message of the handshake ends a connection that the server has not seen made.
  expect(ended.stdout.match(/RDMA_CM_EVENT_ESTABLISHED/g)?.length).toBeGreaterThan(count * 0.9);
}
