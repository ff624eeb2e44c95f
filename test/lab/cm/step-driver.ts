/**
 * Runs in the lab, behind slow-kernel.so: hangs at each step in turn, and ends the wait by an abort, or by the
 * deadline. Prints one JSON object. `step-driver abort|deadline`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEndpoint } from '../../../src/cm/address.ts';
import { connect, initQpAttr, RPING_REQUEST } from '../../../src/cm/connect.ts';
import { listen } from '../../../src/cm/listen.ts';
import { bind, createId, resolve } from '../../../src/cm/resolve.ts';
import { type CmEnvironment, type CmSettings, thisEnvironment } from '../../../src/cm/session.ts';
import type { CmStep } from '../../../src/model/cm.ts';

const MARK = '/tmp/step-driver-mark';
const LEFT = parseEndpoint('10.9.0.1');
const RIGHT = parseEndpoint('10.9.1.1');
const NAME = parseEndpoint('nobody.invalid');
const HANDSHAKE = { ...RPING_REQUEST, qpNum: 1 };

const settingsOf = (port: number, timeoutMs: number | null, more: Partial<CmSettings> = {}): CmSettings => ({
  portSpace: 'TCP',
  bind: LEFT,
  port,
  timeoutMs,
  tos: null,
  ackTimeout: null,
  reuseAddr: false,
  afOnly: false,
  ...more,
});

interface Ended {
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly steps: readonly CmStep[];
}

/** Serves at a port until the signal; ends with what ended it. */
async function serve(environment: CmEnvironment, settings: CmSettings, rejectReason: number | null) {
  let listening = (): void => {};
  const ready = new Promise<void>((done) => {
    listening = done;
  });
  const request = {
    address: RIGHT,
    backlog: 8,
    count: null,
    privateData: new Uint8Array(),
    rejectReason,
    responderResources: null,
    initiatorDepth: null,
    rnrRetryCount: 7,
    flowControl: false,
    srq: false,
    qpNum: null,
    holdMs: null,
  };
  const done = listen(request, settings, environment, async ({ action }) => {
    if (action === 'listening') listening();
  }).then((error): Ended => ({ error, steps: [] }));
  await Promise.race([ready, done]);
  return done;
}

interface Case {
  readonly slow: string;
  run(environment: CmEnvironment, timeoutMs: number | null): Promise<Ended>;
  /** The other side, where one is needed. */
  readonly peer?: 'listener' | 'client';
}

const client = (timeoutMs: number | null, more?: Partial<CmSettings>) => settingsOf(7401, timeoutMs, more);
/** Each has a port of its own: the last one is given up, and may still be going. */
let port = 7402;
const server = (timeoutMs: number | null) => settingsOf(++port, timeoutMs, { bind: null });

const CASES: readonly Case[] = [
  { slow: 'create_id', run: (env, ms) => createId(client(ms), env) },
  { slow: 'set_option', run: (env, ms) => createId(client(ms, { tos: 3 }), env) },
  { slow: 'bind_addr', run: (env, ms) => bind(LEFT, client(ms), env) },
  { slow: 'getaddrinfo', run: (env, ms) => resolve(NAME, client(ms), env) },
  { slow: 'resolve_addr', run: (env, ms) => resolve(RIGHT, client(ms), env) },
  { slow: 'resolve_route', run: (env, ms) => resolve(RIGHT, client(ms), env) },
  { slow: 'create_qp', run: (env, ms) => connect(RIGHT, RPING_REQUEST, client(ms), env) },
  { slow: 'connect', run: (env, ms) => connect(RIGHT, HANDSHAKE, client(ms), env) },
  { slow: 'disconnect', peer: 'listener', run: (env, ms) => connect(RIGHT, HANDSHAKE, client(ms), env) },
  { slow: 'init_qp_attr', run: (env, ms) => initQpAttr(RIGHT, HANDSHAKE, client(ms), env) },
  { slow: 'listen', run: (env, ms) => serve(env, server(ms), null) },
  { slow: 'accept', peer: 'client', run: (env, ms) => serve(env, server(ms), null) },
  { slow: 'reject', peer: 'client', run: (env, ms) => serve(env, server(ms), 28) },
  { slow: 'create_qp', peer: 'client', run: (env, ms) => serve(env, server(ms), null) },
];

const until = async (what: string, condition: () => boolean): Promise<void> => {
  for (const end = performance.now() + 30_000; !condition(); await sleep(10)) {
    if (performance.now() > end) throw new Error(`it took too long until ${what}`);
  }
};

async function hangAt({ slow, peer, run }: Case, way: string) {
  rmSync(MARK, { force: true });
  const controller = new AbortController();
  const others = new AbortController();
  const listener = peer === 'listener' ? serve(thisEnvironment(others.signal), client(60_000), null) : null;
  // It listens before the step is made slow.
  if (listener) await sleep(1000);
  Object.assign(process.env, { SLOW_STEP: slow, SLOW_MARK: MARK });
  const running = run(thisEnvironment(controller.signal), way === 'deadline' ? 500 : null);
  let asking: Promise<unknown> = Promise.resolve();
  if (peer === 'client') {
    await sleep(1000);
    asking = connect(RIGHT, HANDSHAKE, settingsOf(port, 5000), thisEnvironment(others.signal));
  }
  await until(`${slow} began`, () => existsSync(MARK));
  const began = performance.now();
  if (way === 'abort') controller.abort();
  const { error, steps } = await running;
  const ms = Math.round(performance.now() - began);
  // Lets the call go on; all that is left ends.
  delete process.env['SLOW_STEP'];
  rmSync(MARK);
  others.abort();
  await Promise.all([asking, listener]);
  return { slow, code: error?.code ?? null, message: error?.message ?? null, step: steps.at(-1) ?? null, ms };
}

const [way = ''] = process.argv.slice(2);
// A listener goes on where one connection fails.
const cases = way === 'deadline' ? CASES.filter(({ peer }) => peer !== 'client') : CASES;
// What librdmacm tries when it starts is behind it.
await createId(client(null), thisEnvironment(null));
const results: Awaited<ReturnType<typeof hangAt>>[] = [];
for (const one of cases) results.push(await hangAt(one, way));
const resources = (): string => execFileSync('rdma', ['resource'], { encoding: 'utf8' });
await until('nothing was left', () => !/cm_id [1-9]/.test(resources()));
process.stdout.write(`${JSON.stringify(results)}\n`);
