/**
 * Runs in the lab: many connections in one process, through the core, while a timer tells whether the event loop
 * keeps ticking. Prints one JSON object.
 * `driver connects|rejects|concurrent|pending|joins|rubbish COUNT [librdmacm|kernel]`.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { gidText } from '../../../src/abi/ib-types.ts';
import { parseEndpoint } from '../../../src/cm/address.ts';
import type { CmChannel, CmId } from '../../../src/cm/channel.ts';
import { connect, connectionValues, RPING_REQUEST } from '../../../src/cm/connect.ts';
import { type ListenRequest, listen } from '../../../src/cm/listen.ts';
import { rpingMessage } from '../../../src/cm/rping.ts';
import { type CmSettings, closeChannel, openChannel, thisEnvironment } from '../../../src/cm/session.ts';
import type { CmListenObject } from '../../../src/model/cm.ts';

const [kind = '', count = '1', chosen = 'librdmacm'] = process.argv.slice(2);
const environment = thisEnvironment(null, {
  backend: chosen === 'kernel' ? 'kernel' : 'librdmacm',
  showBytes: false,
});

const LEFT = parseEndpoint('10.9.0.1');
const RIGHT = parseEndpoint('10.9.1.1');
const NONE = new Uint8Array();

const settings = (port: number, bind: CmSettings['bind']): CmSettings => ({
  portSpace: 'TCP',
  bind,
  port,
  timeoutMs: 30_000,
  tos: null,
  ackTimeout: null,
  reuseAddr: false,
  afOnly: false,
});

const serverRequest: ListenRequest = {
  address: RIGHT,
  backlog: 128,
  count: null,
  privateData: NONE,
  rejectReason: null,
  responderResources: null,
  initiatorDepth: null,
  rnrRetryCount: 7,
  flowControl: false,
  srq: false,
  qpNum: null,
  holdMs: null,
  echo: false,
};

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;
const resources = (): string => execFileSync('rdma', ['resource'], { encoding: 'utf8' });

/** The longest time between two ticks of the event loop. */
function watchTicks(): () => number {
  let last = performance.now();
  let longest = 0;
  const tick = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(tick, 5);
  return () => {
    clearInterval(timer);
    tick();
    return Math.round(longest);
  };
}

/** A listener in this process; resolves when it listens. */
async function startServer(request: Partial<ListenRequest>, port: number) {
  const objects: CmListenObject[] = [];
  let listening = (): void => {};
  const ready = new Promise<void>((resolve) => {
    listening = resolve;
  });
  const done = listen({ ...serverRequest, ...request }, settings(port, null), environment, async (object) => {
    objects.push(object);
    if (object.action === 'listening') listening();
  });
  await Promise.race([ready, done]);
  return { objects, done };
}

async function oneAfterAnother(count: number, rejectReason: number | null) {
  const { objects, done } = await startServer({ count, rejectReason, privateData: Buffer.from('no') }, 7301);
  const codes: Record<string, number> = {};
  for (let i = 0; i < count; i++) {
    const result = await connect(RIGHT, RPING_REQUEST, settings(7301, LEFT), environment);
    const code = result.error?.code ?? 'DONE';
    codes[code] = (codes[code] ?? 0) + 1;
  }
  const failure = await done;
  const events: Record<string, number> = {};
  for (const { event } of objects) {
    const name = event?.name ?? 'none';
    events[name] = (events[name] ?? 0) + 1;
  }
  return { codes, failure, events };
}

/** `count` ids of one channel that connect to one listener at once. */
async function concurrent(count: number) {
  const { done } = await startServer({ count }, 7302);
  const channel = await openChannel(environment);
  const wait = { timeoutMs: 60_000, signal: null, what: 'concurrent' };
  const started = performance.now();
  const outcomes = await Promise.all(
    Array.from({ length: count }, async () => {
      const id = await resolved(channel, 7302);
      await id.createQp({ sharedReceiveQueue: false });
      await id.connect(connectionValues(RPING_REQUEST), NONE);
      return { id, name: (await channel.nextEvent(id, wait)).name };
    }),
  );
  const connectedMs = Math.round(performance.now() - started);
  for (const { id, name } of outcomes) if (name === 'ESTABLISHED') await id.disconnect();
  const failure = await done;
  await closeChannel(channel);
  return { connectedMs, failure, established: outcomes.filter(({ name }) => name === 'ESTABLISHED').length };
}

async function resolved(channel: CmChannel, port: number): Promise<CmId> {
  const wait = { timeoutMs: 60_000, signal: null, what: 'resolve' };
  const address = (host: string, service: number) =>
    ({ family: 'ipv4', address: host, port: service, scopeId: 0 }) as const;
  const id = await channel.createId('TCP');
  await id.resolveAddr(address(LEFT.host, 0), address(RIGHT.host, port), 10_000);
  await channel.nextEvent(id, wait);
  await id.resolveRoute(10_000);
  await channel.nextEvent(id, wait);
  return id;
}

/** Requests and other events that nobody takes, on ids that are destroyed all the same. */
async function pending(count: number) {
  const server = await openChannel(environment);
  const listener = await server.createId('TCP');
  await listener.bindAddr({ family: 'ipv4', address: RIGHT.host, port: 7303, scopeId: 0 });
  await listener.listen(128);
  const client = await openChannel(environment);
  for (let i = 0; i < count; i++) {
    const id = await resolved(client, 7303);
    await id.connect({ ...connectionValues(RPING_REQUEST), qp_num: 1 }, NONE);
  }
  await sleep(500);
  // One of them is taken, so that the others are on their way through the channel too.
  await server.nextEvent(listener, { timeoutMs: 10_000, signal: null, what: 'pending' });
  const started = performance.now();
  await closeChannel(server);
  const serverMs = Math.round(performance.now() - started);
  await closeChannel(client);
  return { serverMs };
}

/** What a client can send to an echo service that it should not: each over a connection of its own. */
async function rubbish() {
  const messages: Readonly<Record<string, (rkey: number, address: bigint) => Uint8Array>> = {
    'a byte too many': () => new Uint8Array(17),
    'longer than any buffer': () => new Uint8Array(5000),
    'no memory of ours': () => rpingMessage.encode({ address: 4096n, rkey: 0xbad, size: 64 }),
    'a ping of 2 GiB': (rkey, address) => rpingMessage.encode({ address, rkey, size: 0x8000_0000 }),
    'a ping of nothing': (rkey, address) => rpingMessage.encode({ address, rkey, size: 0 }),
  };
  const { objects, done } = await startServer({ count: 5, echo: true }, 7304);
  const channel = await openChannel(environment);
  const wait = { timeoutMs: 60_000, signal: null, what: 'rubbish' };
  const outcomes: Record<string, string | null> = {};
  for (const [name, make] of Object.entries(messages)) {
    const id = await resolved(channel, 7304);
    const path = await id.createDataPath({ sends: 4, receives: 4 });
    const memory = await path.registerMemory(8192, ['LOCAL_WRITE', 'REMOTE_READ', 'REMOTE_WRITE']);
    await id.connect(connectionValues(RPING_REQUEST), NONE);
    await channel.nextEvent(id, wait);
    const message = make(memory.rkey, memory.address);
    memory.bytes.set(message);
    path.postSend({ id: 1, opcode: 2, part: { memory, offset: 0, length: message.length } });
    // The service says goodbye, and the listener goes on.
    outcomes[name] = (await channel.nextEvent(id, wait)).name;
    await id.disconnect();
    await id.destroy();
  }
  const failure = await done;
  await closeChannel(channel);
  const said = objects.flatMap(({ error }) => (error === null ? [] : [`${error.code}: ${error.message}`]));
  return { outcomes, said, failure };
}

/** Joins groups, one to send only, leaves one of them, and leaves the other to the end of the id. */
async function joins() {
  const groups = ['239.9.1.1', '239.9.1.2'] as const;
  const wait = { timeoutMs: 30_000, signal: null, what: 'join' };
  const channel = await openChannel(environment);
  const id = await channel.createId('UDP');
  const address = (host: string) => ({ family: 'ipv4', address: host, port: 0, scopeId: 0 }) as const;
  await id.resolveAddr(address(LEFT.host), address(groups[0]), 10_000);
  await channel.nextEvent(id, wait);
  await id.createQp({ sharedReceiveQueue: false });
  const events: object[] = [];
  for (const [index, group] of groups.entries()) {
    await id.joinMulticast(address(group), index === 1);
    const { name, status, privateData, ud } = await channel.nextEvent(id, wait);
    events.push({
      name,
      status,
      dataLength: privateData.length,
      qpNum: ud?.qp_num,
      qkey: ud?.qkey,
      dgid: ud && gidText(ud.ah_attr.grh.dgid),
    });
  }
  await id.leaveMulticast(address(groups[0]));
  const again = await id.leaveMulticast(address(groups[0])).then(
    () => 0,
    ({ errno }: { errno: number }) => errno,
  );
  await closeChannel(channel);
  return { events, again };
}

const KINDS: Readonly<Record<string, (count: number) => Promise<object>>> = {
  connects: (n) => oneAfterAnother(n, null),
  rejects: (n) => oneAfterAnother(n, 28),
  concurrent,
  pending,
  joins,
  rubbish,
};
const run = KINDS[kind];
if (run === undefined) throw new Error(`there is no ${kind}`);
// What is opened once and stays: libraries, devices.
await oneAfterAnother(1, 28);
const before = { descriptors: openDescriptors(), resources: resources() };
const longestTick = watchTicks();
const result = await run(Number(count));
const longestTickMs = longestTick();
const after = { descriptors: openDescriptors(), resources: resources() };
process.stdout.write(`${JSON.stringify({ ...result, longestTickMs, before, after })}\n`);
