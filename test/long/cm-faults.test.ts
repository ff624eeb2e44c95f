/** Loss and faults on the wire, and peers that stop or go: pings tell what happened, and end by their deadline. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type CmDocument, LEFT, parse, RIGHT, resources, useGuest } from '../lab/cm/lab.ts';
import type { Running } from '../lab/roce/tools.ts';

// A guest without KVM on a busy machine is slow.
vi.setConfig({ testTimeout: 240_000 });
const place = useGuest();
const script = (text: string) => place.inLab(['bash', '-c', text]);

const TIMEOUT_MS = 5000;
const PORT = '7200';

interface Pinging {
  readonly server: Running;
  readonly client: Running;
}

/** A client that pings until something ends it, and its peer. */
async function startPinging(serverCommand: readonly string[], ready: string): Promise<Pinging> {
  const server = place.startInLab(serverCommand);
  await server.said(ready);
  const client = place.startInLab([
    ...['rdmatool', 'cm', 'connect', `${RIGHT}:${PORT}`, '--bind', LEFT, '--json'],
    ...['--ping', '1000000', '--timeout', String(TIMEOUT_MS)],
  ]);
  await expect
    .poll(async () => (await script('rdma resource show cm_id')).stdout, { timeout: 90_000, interval: 500 })
    .toMatch(/link rxe0\/1 .*state CONNECT/);
  return { server, client };
}

const ours = (): Promise<Pinging> =>
  startPinging(['rdmatool', 'cm', 'listen', `${RIGHT}:${PORT}`, '--echo', '--json'], '"listening"');

interface Pinged extends CmDocument {
  readonly ping: { readonly sent: number; readonly received: number; readonly verified: number };
}

/** Does something to them, and gives what the client says at its end, within the deadline. */
async function outcomeAfter({ client, server }: Pinging, fault: () => Promise<unknown>) {
  await fault();
  const since = Date.now();
  const outcome = await client.outcome;
  const tookMs = Date.now() - since;
  // Twice the deadline of a step, and the time that a slow guest takes for everything.
  expect(tookMs).toBeLessThan(2 * TIMEOUT_MS + 20_000);
  server.child.kill('SIGTERM');
  await server.outcome;
  return {
    outcome,
    document: parse<Pinged>('cm-connect', outcome.stdout),
  };
}

afterEach(async () => {
  await script('tc qdisc del dev veth0 root 2>/dev/null; true');
  await expect.poll(() => resources(place), { timeout: 30_000, interval: 500 }).not.toMatch(/mr [1-9]/);
});

describe('pings', () => {
  it('over a wire that loses packets come back all the same', async () => {
    const server = place.startInLab([
      ...['rdmatool', 'cm', 'listen', `${RIGHT}:${PORT}`, '--echo', '--count', '1', '--json'],
    ]);
    await server.said('"listening"');
    expect((await script('tc qdisc add dev veth0 root netem loss 5%')).status).toBe(0);
    const { stdout } = await place.inLab([
      ...['rdmatool', 'cm', 'connect', `${RIGHT}:${PORT}`, '--bind', LEFT, '--json'],
      ...['--ping', '20', '--size', '3000', '--timeout', '30000'],
    ]);
    expect(parse('cm-connect', stdout)).toMatchObject({
      error: null,
      ping: { sent: 20, received: 20, verified: 20 },
    });
    await server.outcome;
  });

  it('to a peer that stops', async () => {
    const pinging = await startPinging(
      ['bash', '-c', `rping -s -a ${RIGHT} -p ${PORT} & echo started; wait`],
      'started',
    );
    const { outcome, document } = await outcomeAfter(pinging, () => script('kill -STOP $(pidof rping)'));
    await script('kill -KILL $(pidof rping)');
    expect(outcome.status).toBe(75);
    expect(document.error).toMatchObject({
      code: 'TIMED_OUT',
      message: expect.stringContaining('though the peer has acknowledged the message'),
    });
  });

  it('to a peer that is killed', async () => {
    const pinging = await startPinging(
      ['bash', '-c', `rping -s -a ${RIGHT} -p ${PORT} & echo started; wait`],
      'started',
    );
    const { outcome, document } = await outcomeAfter(pinging, () => script('kill -KILL $(pidof rping)'));
    expect(outcome.status).toBe(1);
    expect(document.error?.code).toMatch(/^(DISCONNECTED|COMPLETION_FAILED)$/);
  });

  it('end at Ctrl-C with 130, and nothing is left', async () => {
    const pinging = await ours();
    const { outcome, document } = await outcomeAfter(pinging, async () => {
      pinging.client.child.kill('SIGINT');
    });
    expect(outcome.status).toBe(130);
    expect(document.error).toMatchObject({ code: 'INTERRUPTED' });
    expect(document.ping.received).toBeGreaterThan(0);
  });
});

describe('connect', () => {
  it('over a dead wire ends by its deadline', async () => {
    expect((await script('tc qdisc add dev veth0 root netem loss 100%')).status).toBe(0);
    const since = Date.now();
    const { status, stdout } = await place.inLab([
      ...['rdmatool', 'cm', 'connect', `${RIGHT}:${PORT}`, '--bind', LEFT, '--json'],
      ...['--ping', '1', '--timeout', String(TIMEOUT_MS)],
    ]);
    expect(Date.now() - since).toBeLessThan(TIMEOUT_MS + 30_000);
    expect(status).toBe(75);
    expect(parse('cm-connect', stdout)).toMatchObject({
      error: { code: 'TIMED_OUT' },
      ping: { sent: 0, received: 0 },
    });
  });
});

/**
 * How a ping may end whose path is cut, by what of it was on its way: message, status and code go together. The
 * message is acknowledged, and the peer cannot read, write or answer any more; it is not acknowledged within the
 * time; the device has given up repeating it, or could not send it at all.
 */
const LOST_PATHS = [
  { says: /: no answer within 5000 ms, though the peer has acknowledged the/, code: 'TIMED_OUT', status: 75 },
  { says: /: no answer within 5000 ms, and not even an acknowledgement/, code: 'TIMED_OUT', status: 75 },
  { says: /IBV_WC_RETRY_EXC_ERR/, code: 'UNREACHABLE', status: 75 },
  { says: /IBV_WC_LOC_QP_OP_ERR/, code: 'COMPLETION_FAILED', status: 1 },
] as const;

function expectLostPath(status: number | null, { error, ping }: Pinged): void {
  const ending = LOST_PATHS.find(({ says }) => says.test(error?.message ?? ''));
  expect(ending, error?.message).toBeDefined();
  expect([error?.code, status]).toEqual([ending?.code, ending?.status]);
  // The one that was on its way; all before it came back whole.
  expect(error?.message).toMatch(
    new RegExp(`^.*ping ${ping.received + 1} of 1000000, waiting until the peer has `),
  );
  expect(ping).toMatchObject({ sent: ping.received + 1, verified: ping.received });
  expect(ping.received).toBeGreaterThan(0);
  // Whichever it was, the link is to be looked at.
  expect(error?.hint).toContain('ip link');
}

describe('pings over a wire that does not come back', () => {
  // A link that was down does not get its routes, neighbours and GIDs back: the next test needs another guest.
  afterEach(async () => {
    await place.rdmatool(['lab', 'down', 'roce']);
    expect(await place.rdmatool(['lab', 'up', 'roce'])).toMatchObject({ status: 0 });
  });

  it.each([
    ['with the link down in the middle', 'ip link set veth0 down'],
    ['to an address that has moved away', `ip addr del ${RIGHT}/32 dev veth1`],
  ])('%s', async (_what, fault) => {
    const { outcome, document } = await outcomeAfter(await ours(), () => script(fault));
    expectLostPath(outcome.status, document);
  });
});
