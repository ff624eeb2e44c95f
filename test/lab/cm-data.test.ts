/** Data between rdmatool and every other program of the lab, each in both roles. */
import { describe, expect, it, vi } from 'vitest';
import { bundleDriver } from './cm/bundle.ts';
import { CELLS, connect, listen } from './cm/cells.ts';
import { LEFT, parse, resources, useGuest } from './cm/lab.ts';
import { expectMeeting, meet } from './cm/meetings.ts';
import { foreign } from './support/json.ts';

// A guest without KVM on a busy machine is slow.
vi.setConfig({ testTimeout: 240_000 });
const place = useGuest();

describe('peer x mode', () => {
  // Those that end in an error take their deadlines: they are in the long tier.
  it.each(CELLS.filter(({ clientStatus }) => clientStatus === 0))('$peer x $mode', (cell) =>
    expectMeeting(place, cell),
  );

  it('leaves nothing behind', async () => {
    expect(await resources(place)).not.toMatch(/mr [1-9]/);
  });
});

describe('the documents', () => {
  it('fit their schemas', async () => {
    const met = await meet(place, {
      server: listen('--echo --count 1 --json'),
      client: connect('--ping 3 --size 100 --json'),
    });
    expect(parse('cm-connect', met.client)).toMatchObject({
      error: null,
      ping: { protocol: 'rping', size: 100, count: 3, sent: 3, received: 3, verified: 3, completion: null },
    });
    const objects = met.server
      .trim()
      .split('\n')
      .map((line) => parse('cm-listen', line));
    expect(objects.find(({ echo }) => echo !== null)).toMatchObject({
      echo: { protocol: 'rping', served: 3, bytes: 300, completion: null },
    });
    const joined = await place.inLab([
      'rdmatool',
      'cm',
      'join',
      '239.9.2.4',
      '--bind',
      LEFT,
      '--send',
      '2',
      '--json',
    ]);
    expect(parse('cm-join', joined.stdout)).toMatchObject({
      error: null,
      group: { gid: '::ffff:239.9.2.4', qp_num: 0xffffff, qkey: '0x1234567', lid: 0 },
      sent: 2,
      received: 0,
    });
  });
});

interface Rubbish {
  readonly outcomes: Readonly<Record<string, string>>;
  readonly said: readonly string[];
  readonly failure: unknown;
  readonly before: object;
  readonly after: object;
}

describe('an echo service', () => {
  it('ends the connection with whoever sends rubbish, says why, and goes on', async () => {
    const { stdout } = await place.inLab(['node', await bundleDriver(), 'rubbish', '1']);
    const { outcomes, said, failure, before, after } = foreign<Rubbish>(stdout);
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['DISCONNECTED']));
    expect(said).toEqual([
      expect.stringMatching(/^BAD_MESSAGE: .*sent 17 bytes/),
      // <infiniband/verbs.h> has LOC_LEN_ERR (1) for it; rxe says LOC_QP_OP_ERR (2).
      expect.stringMatching(/^COMPLETION_FAILED: .*IBV_WC_LOC_(LEN|QP_OP)_ERR \([12]\)/),
      expect.stringMatching(/^COMPLETION_FAILED: .*RDMA_READ.*IBV_WC_REM_ACCESS_ERR \(10\)/),
      expect.stringMatching(/^BAD_MESSAGE: .*2 GiB/),
      expect.stringMatching(/^BAD_MESSAGE: .*0 bytes/),
    ]);
    expect(failure).toBeNull();
    expect(after).toEqual(before);
  });
});
