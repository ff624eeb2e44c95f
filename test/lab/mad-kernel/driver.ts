/**
 * Runs in lab roce: many datagrams between its two devices, and everything that the kernel refuses, in one process
 * through the core. Prints one JSON object. `driver pairs|failures|removal`.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseGid } from '../../../src/datagram/field.ts';
import { Failure } from '../../../src/explain/failure.ts';
import type { Registration } from '../../../src/mad/backend.ts';
import { loadUmad, type TransportChoice } from '../../../src/mad/open.ts';
import { ping } from '../../../src/mad/ping.ts';
import { receiveMads } from '../../../src/mad/receive.ts';
import { type SendOptions, sendMad } from '../../../src/mad/send.ts';
import { pingRule, serveMads } from '../../../src/mad/serve.ts';
import { MadSession } from '../../../src/mad/session.ts';
import type { MadRecvObject, MadServeObject } from '../../../src/model/mad.ts';

const WAYS = {
  libibumad: { transport: 'libibumad', header: 'new' },
  'device new': { transport: 'device', header: 'new' },
  'device old': { transport: 'device', header: 'old' },
} as const satisfies Record<string, TransportChoice>;
type Way = keyof typeof WAYS;
const ALL_WAYS = ['libibumad', 'device new', 'device old'] as const satisfies readonly Way[];

const RIGHT = parseGid('fd09:1::1');
const NEVER = new AbortController().signal;

const open = async (device: string, way: Way, room?: number): Promise<MadSession> =>
  MadSession.open(await loadUmad(WAYS[way]), {
    device,
    port: null,
    timeoutMs: 1000,
    retries: 5,
    window: 8,
    room,
  });

/** Descriptors of umad devices that this process has open. */
const openNodes = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('/umad');
    } catch {
      return false;
    }
  }).length;

async function failureOf(work: () => unknown): Promise<object> {
  try {
    await work();
    return { code: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.toJSON();
  }
}

/** Pings by every client from every server. */
async function pairs() {
  const results: object[] = [];
  for (const server of ALL_WAYS) {
    const right = await open('rxe1', server);
    const served: MadServeObject[] = [];
    const options = { rules: [pingRule()], others: [], count: ALL_WAYS.length, timeoutMs: 60_000 };
    const serving = serveMads(right, options, NEVER, async (object) => {
      served.push(object);
    });
    for (const client of ALL_WAYS) {
      const left = await open('rxe0', client);
      const result = await ping(
        left,
        { target: { kind: 'gid', gid: RIGHT }, count: 1, intervalMs: 1 },
        NEVER,
      );
      results.push({ server, client, header: left.header, error: result.error, received: result.received });
      await left.close();
    }
    const failure = await serving;
    await right.close();
    results.push({ server, failure, requests: served.filter(({ event }) => event === 'answered') });
  }
  return { results };
}

const registration = (values: Partial<Registration>): Registration => ({
  qpn: null,
  mgmtClass: 4,
  version: 1,
  oui: null,
  methods: 2n,
  rmpp: 0,
  flags: 0,
  ...values,
});

const REGISTRATIONS: Readonly<Record<string, Partial<Registration>>> = {
  'unknown flags': { flags: 0x10 },
  'OUI too long': { mgmtClass: 0x32, oui: 0x1001405 },
  'no OUI': { mgmtClass: 0x32, oui: 0 },
  'queue pair 2': { qpn: 2 },
  'queue pair 0': { mgmtClass: 1 },
  'RMPP without': { rmpp: 1 },
  'class 0x60': { mgmtClass: 0x60 },
};

const GET: SendOptions = {
  target: { kind: 'gid', gid: RIGHT },
  mgmtClass: 4,
  classVersion: null,
  method: 1,
  attribute: 'PortCounters',
  modifier: 0,
  tid: null,
  sl: 0,
  pathBits: 0,
  qpn: null,
  qkey: null,
  pkeyIndex: 0,
  withGrh: false,
  grh: { gid: null, gidIndex: null, hopLimit: 64, trafficClass: 0, flowLabel: 0 },
  headerFields: [],
  length: null,
  data: null,
  dataBytes: null,
  fields: [],
  componentMask: null,
  key: null,
  oui: null,
  rmpp: false,
  count: 1,
};

const SENDS: Readonly<Record<string, Partial<SendOptions>>> = {
  'GID index': { grh: { ...GET.grh, gidIndex: 200 } },
  'another kind of GID': { grh: { ...GET.grh, gidIndex: 1 } },
  short: { length: 20 },
  'agent 7': { headerFields: ['id=7'] },
  'agent 70': { headerFields: ['id=70'] },
  'no route header': { headerFields: ['grh_present=0'] },
};

async function failures(way: Way) {
  const registrations: Record<string, object> = {};
  for (const [name, values] of Object.entries(REGISTRATIONS)) {
    const session = await open('rxe1', way);
    registrations[name] = await failureOf(() => session.register(registration(values)));
    await session.close();
  }
  const taken = await open('rxe1', way);
  taken.register(registration({}));
  registrations['duplicate'] = await failureOf(() => taken.register(registration({})));
  await taken.close();

  const full = await open('rxe1', way);
  let agents = 0;
  registrations['too many'] = await failureOf(() => {
    for (; agents < 100; agents++) full.register(registration({ methods: 0n }));
  });
  await full.close();

  const sends: Record<string, object> = {};
  for (const [name, values] of Object.entries(SENDS)) {
    const session = await open('rxe0', way);
    sends[name] = await failureOf(() => sendMad(session, { ...GET, ...values }));
    await session.close();
  }
  return { agents, registrations, sends, shortRoom: await shortRoom(way), nodes: openNodes() };
}

/** A receiver whose room is shorter than the first datagram. */
async function shortRoom(way: Way): Promise<object> {
  const right = await open('rxe1', way, 100);
  const left = await open('rxe0', way);
  const receive = { registrations: [registration({})], count: 1, timeoutMs: 20_000 };
  const failed = failureOf(() => receiveMads(right, receive, NEVER, async () => {}));
  await sendMad(left, GET).catch(() => undefined);
  const failure = await failed;
  await left.close();
  await right.close();
  return failure;
}

/** The device goes away under a receiver, which then registers once more. */
async function removal(way: Way) {
  const session = await open('rxe1', way);
  const objects: MadRecvObject[] = [];
  const receive = { registrations: [registration({})], count: null, timeoutMs: null };
  const waiting = failureOf(() =>
    receiveMads(session, receive, NEVER, async (object) => {
      objects.push(object);
    }),
  );
  await sleep(300);
  execFileSync('rdma', ['link', 'del', 'rxe1']);
  const whileWaiting = await waiting;
  const registering = await failureOf(() => session.register(registration({ mgmtClass: 5 })));
  await session.close();
  execFileSync('rdma', ['link', 'add', 'rxe1', 'type', 'rxe', 'netdev', 'veth1']);
  return { whileWaiting, registering, events: objects.map(({ event }) => event), nodes: openNodes() };
}

const [kind = '', wanted = 'libibumad'] = process.argv.slice(2);
const way = ALL_WAYS.find((each) => each === wanted);
if (way === undefined) throw new Error(`there is no ${wanted}`);
const KINDS: Readonly<Record<string, (way: Way) => Promise<object>>> = { pairs, failures, removal };
const run = KINDS[kind];
if (run === undefined) throw new Error(`there is no ${kind}`);
process.stdout.write(`${JSON.stringify(await run(way))}\n`);
