/** `cm connect --count`: many connections, their times and their failures. */
import { describe, expect, it, vi } from 'vitest';
import { LEFT, parse, RIGHT, resources, useGuest } from './cm/lab.ts';
import { expectMany, type Many, many } from './cm/many.ts';

// A guest without KVM on a busy machine is slow.
vi.setConfig({ testTimeout: 400_000 });
const place = useGuest();

describe('many connections', () => {
  it.each([
    [64, 64],
    [40, 4],
  ])('%i, %i at once', async (count, concurrency) => {
    await expectMany(place, count, concurrency);
  });

  it('that fail are counted by their cause', async () => {
    const { outcome, document } = await many(place, 7500, 20, 4, ['--reject', '--count', '20']);
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
