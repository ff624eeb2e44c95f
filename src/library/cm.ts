/** The connection manager. Each function does one sequence, takes everything down again, and tells its steps. */
import { DEFAULT_PORT, type Endpoint, EndpointError, parseEndpoint } from '../cm/address.ts';
import type { ConnectRequest } from '../cm/connect.ts';
import { SENDABLE_REASONS } from '../cm/reject-reasons.ts';
import type { CmEnvironment, CmSettings } from '../cm/session.ts';
import { Failure } from '../explain/failure.ts';
import type {
  CmBindResult,
  CmConnectResult,
  CmGetaddrinfoResult,
  CmInitQpAttrResult,
  CmListenObject,
  CmResolveResult,
} from '../model/cm.ts';
import type { CmJoinResult } from '../model/cm-join.ts';
import { type Choices, checkOptions, LONGEST_MS, MOST, type Ranges } from './checks.ts';
import { orThrow } from './outcome.ts';

/** What all sequences take. */
export interface CmOptions {
  /** `tcp` (reliable connections) unless given. */
  readonly portSpace?: 'tcp' | 'udp' | 'ib' | 'ipoib';
  /** Local address, where the one that the route gives is not wanted. */
  readonly bind?: string;
  /** Service port where the address names none; 7174 unless given. */
  readonly port?: number;
  /** For each step; 2000 for address and route and 10000 for the handshake unless given. */
  readonly timeoutMs?: number;
  /** Type of service, 0 to 255. */
  readonly tos?: number;
  /** Local ACK timeout of the queue pair, 4.096 us x 2^N. */
  readonly ackTimeout?: number;
  /** Shares a local address and port with others that do too. */
  readonly reuseAddr?: boolean;
  /** An IPv6 wildcard address does not stand for IPv4. */
  readonly afOnly?: boolean;
  /** Who speaks to the kernel; `librdmacm` unless given. */
  readonly backend?: 'librdmacm' | 'kernel';
  /** Ends the sequence, which throws INTERRUPTED and takes everything down. */
  readonly signal?: AbortSignal;
}

/** What both sides of a handshake can say. */
export interface HandshakeOptions extends CmOptions {
  /** Data that goes along; a text is sent as UTF-8. */
  readonly privateData?: Uint8Array | string;
  /** RDMA reads of the peer that are answered at once. */
  readonly responderResources?: number;
  /** RDMA reads under way to the peer. */
  readonly initiatorDepth?: number;
  /** Asks for end-to-end flow control. */
  readonly flowControl?: boolean;
  /** Retries where the other side has no buffer, 7 for ever. */
  readonly rnrRetryCount?: number;
  /** Uses a shared receive queue. */
  readonly srq?: boolean;
  /** Names this queue pair number, and makes no queue pair. */
  readonly qpNum?: number;
}

/** A connection of a client. */
export interface ConnectOptions extends HandshakeOptions {
  /** Retries of a request that is not acknowledged, 0 to 7. */
  readonly retryCount?: number;
  /** How long the connection stays, milliseconds. */
  readonly holdMs?: number;
  /** Sends so many pings to and fro, in the protocol of rping; of 64 bytes unless `size` is given. */
  readonly ping?: { readonly count: number; readonly size?: number };
}

/** A listener. */
export interface ListenOptions extends HandshakeOptions {
  /** Requests that may wait; 128 unless given. */
  readonly backlog?: number;
  /** Ends after so many connections have ended, or requests been rejected. */
  readonly count?: number;
  /** Rejects whoever asks: reason 28 (consumer defined), or 35 (vendor option) where the library has it. */
  readonly rejectReason?: (typeof SENDABLE_REASONS)[number];
  /** Disconnects so long after the connection stands. */
  readonly holdMs?: number;
  /** Sends back what comes over the connections. */
  readonly echo?: boolean;
}

/** What rdma_getaddrinfo(3) takes as hints. */
export interface GetaddrinfoOptions extends Pick<CmOptions, 'portSpace' | 'timeoutMs' | 'signal'> {
  readonly family?: (typeof FAMILIES)[number];
  /** For listening: RAI_PASSIVE. */
  readonly passive?: boolean;
  /** Looks no name up: RAI_NUMERICHOST. */
  readonly numeric?: boolean;
  /** Asks for no routes: RAI_NOROUTE. */
  readonly noRoute?: boolean;
}

/** A member of a multicast group. */
export interface JoinOptions
  extends Pick<CmOptions, 'bind' | 'timeoutMs' | 'tos' | 'ackTimeout' | 'backend' | 'signal'> {
  readonly portSpace?: 'udp' | 'ipoib';
  /** Receives nothing. */
  readonly sendOnly?: boolean;
  /** Datagrams to send. */
  readonly send?: number;
  /** Datagrams of others to wait for. */
  readonly receive?: number;
  /** Bytes of each that is sent; 100 unless given. */
  readonly size?: number;
  /** How long to stay in the group, milliseconds. */
  readonly holdMs?: number;
}

const PORT_SPACES = { tcp: 'TCP', udp: 'UDP', ib: 'IB', ipoib: 'IPOIB' } as const;
const FAMILIES = ['any', 'inet', 'inet6', 'ib'] as const;
/** Any number does over InfiniBand and RoCE. */
const ANY_QP_NUM = 1;
const PING_BYTES = 64;
const DATAGRAM_BYTES = 100;

const CM_RANGES = {
  port: [0, 65_535],
  timeoutMs: [1, LONGEST_MS],
  tos: [0, 255],
  ackTimeout: [0, 31],
  responderResources: [0, 255],
  initiatorDepth: [0, 255],
  rnrRetryCount: [0, 7],
  retryCount: [0, 7],
  qpNum: [0, 0xffffff],
  holdMs: [0, LONGEST_MS],
} as const satisfies Ranges;
const PING_RANGES = { count: [1, 10_000_000], size: [1, 1 << 20] } as const satisfies Ranges;
const LISTEN_RANGES = { backlog: [1, 65_535], count: [1, MOST] } as const satisfies Ranges;
const JOIN_RANGES = { send: [0, MOST], receive: [0, MOST], size: [1, 4096] } as const satisfies Ranges;
const CM_CHOICES = {
  portSpace: ['tcp', 'udp', 'ib', 'ipoib'],
  backend: ['librdmacm', 'kernel'],
  rejectReason: SENDABLE_REASONS,
} as const satisfies Choices;

/** Binds an id to a local address, and destroys it: `rdmatool cm bind`. Throws Failure. */
export async function bind(address: string, options: CmOptions = {}): Promise<CmBindResult> {
  const { bind: run } = await import('../cm/resolve.ts');
  return orThrow(await run(endpointOf(address), settingsOf(options), await environmentOf(options)));
}

/** Resolves an address, then the route to it: `rdmatool cm resolve`. Throws Failure. */
export async function resolve(address: string, options: CmOptions = {}): Promise<CmResolveResult> {
  const { resolve: run } = await import('../cm/resolve.ts');
  return orThrow(await run(endpointOf(address), settingsOf(options), await environmentOf(options)));
}

/**
 * Connects, holds the connection, and takes it down again: `rdmatool cm connect`. Throws Failure, such as REJECTED
 * with the reason; its `result` has the steps and what the peer said.
 * @param address ADDR, ADDR:PORT or [ADDR6]:PORT
 */
export async function connect(address: string, options: ConnectOptions = {}): Promise<CmConnectResult> {
  const peer = endpointOf(address);
  const settings = settingsOf(options);
  const { connect: run } = await import('../cm/connect.ts');
  const { ping } = options;
  if (ping !== undefined) checkOptions({ ...ping }, PING_RANGES);
  const request = {
    ...(await requestOf(options)),
    ping: ping === undefined ? null : { count: ping.count, size: ping.size ?? PING_BYTES },
  };
  return orThrow(await run(peer, request, settings, await environmentOf(options)));
}

/**
 * Connects without a queue pair of its own, and asks what the connection manager gives one for INIT, RTR and RTS:
 * `rdmatool cm init-qp-attr`. Throws Failure.
 * @param options names queue pair 1 unless `qpNum` is given
 */
export async function initQpAttr(
  address: string,
  options: HandshakeOptions = {},
): Promise<CmInitQpAttrResult> {
  const peer = endpointOf(address);
  const settings = settingsOf(options);
  const { initQpAttr: run } = await import('../cm/connect.ts');
  const request = await requestOf({ ...options, qpNum: options.qpNum ?? ANY_QP_NUM });
  return orThrow(await run(peer, request, settings, await environmentOf(options)));
}

/** What rdma_getaddrinfo(3) answers: `rdmatool cm getaddrinfo`. Throws Failure. No device is opened. */
export async function getaddrinfo(
  node: string | null,
  service: string | number | null = null,
  options: GetaddrinfoOptions = {},
): Promise<CmGetaddrinfoResult> {
  checkOptions(
    options,
    { timeoutMs: CM_RANGES.timeoutMs },
    { portSpace: CM_CHOICES.portSpace, family: FAMILIES },
  );
  const text = service === null ? null : String(service);
  // The library would take the port modulo 65536.
  if (text !== null && /^[0-9]+$/.test(text))
    checkOptions({ service: Number(text) }, { service: [0, 65_535] });
  const { getaddrinfo: run } = await import('../cm/getaddrinfo.ts');
  const { machine } = await environmentOf(options);
  const query = {
    node,
    service: text,
    portSpace: PORT_SPACES[options.portSpace ?? 'tcp'],
    family: options.family ?? 'any',
    passive: options.passive ?? false,
    numeric: options.numeric ?? false,
    noRoute: options.noRoute ?? false,
    timeoutMs: options.timeoutMs ?? 10_000,
  };
  return orThrow(await run(query, machine, options.signal ?? null));
}

async function requestOf(options: ConnectOptions): Promise<ConnectRequest> {
  const { RPING_REQUEST } = await import('../cm/connect.ts');
  return {
    ...RPING_REQUEST,
    privateData: bytesOf(options.privateData),
    responderResources: options.responderResources ?? RPING_REQUEST.responderResources,
    initiatorDepth: options.initiatorDepth ?? RPING_REQUEST.initiatorDepth,
    flowControl: options.flowControl ?? RPING_REQUEST.flowControl,
    retryCount: options.retryCount ?? RPING_REQUEST.retryCount,
    rnrRetryCount: options.rnrRetryCount ?? RPING_REQUEST.rnrRetryCount,
    srq: options.srq ?? RPING_REQUEST.srq,
    qpNum: options.qpNum ?? RPING_REQUEST.qpNum,
    holdMs: options.holdMs ?? RPING_REQUEST.holdMs,
  };
}

/**
 * Listens, answers, and tells of each event: `rdmatool cm listen`. Leaving the loop takes everything down, as the
 * signal does. Throws Failure.
 * @param address where to listen; null for every IPv6 and IPv4 address
 */
export async function* listen(
  address: string | null,
  options: ListenOptions = {},
): AsyncGenerator<CmListenObject, void> {
  const settings = settingsOf(options);
  checkOptions(options, LISTEN_RANGES);
  const { listen: run } = await import('../cm/listen.ts');
  const left = new AbortController();
  const signal = options.signal === undefined ? left.signal : AbortSignal.any([left.signal, options.signal]);
  const request = {
    address: address === null ? null : endpointOf(address),
    backlog: options.backlog ?? 128,
    count: options.count ?? null,
    privateData: bytesOf(options.privateData),
    rejectReason: options.rejectReason ?? null,
    responderResources: options.responderResources ?? null,
    initiatorDepth: options.initiatorDepth ?? null,
    rnrRetryCount: options.rnrRetryCount ?? 7,
    flowControl: options.flowControl ?? false,
    srq: options.srq ?? false,
    qpNum: options.qpNum ?? null,
    holdMs: options.holdMs ?? null,
    echo: options.echo ?? false,
  };
  const environment = await environmentOf({ ...options, signal });
  const waiting: CmListenObject[] = [];
  let wake = (): void => {};
  let isOver = false;
  const ended = run(request, settings, environment, async (object) => {
    waiting.push(object);
    wake();
  }).finally(() => {
    isOver = true;
    wake();
  });
  // Waited for below, whether the loop is left or not.
  ended.catch(() => {});
  try {
    for (;;) {
      const object = waiting.shift();
      if (object !== undefined) {
        // What ended it is thrown.
        yield orThrowIfLast(object);
        continue;
      }
      if (isOver) break;
      await new Promise<void>((resume) => {
        wake = resume;
      });
    }
    await ended;
  } finally {
    left.abort();
    await ended;
  }
}

/** An object that tells of no event tells why the listener ended. */
const orThrowIfLast = (object: CmListenObject): CmListenObject =>
  object.id === null ? orThrow(object) : object;

/** Joins a multicast group, sends to it or receives from it, and leaves it: `rdmatool cm join`. Throws Failure. */
export async function join(group: string, options: JoinOptions = {}): Promise<CmJoinResult> {
  checkOptions(options, JOIN_RANGES, { portSpace: ['udp', 'ipoib'] });
  const { join: run } = await import('../cm/join.ts');
  const request = {
    sendOnly: options.sendOnly ?? false,
    send: options.send ?? 0,
    receive: options.receive ?? 0,
    size: options.size ?? DATAGRAM_BYTES,
    holdMs: options.holdMs ?? 0,
  };
  const settings = settingsOf({ portSpace: 'udp', ...options, port: 0 });
  return orThrow(await run(endpointOf(group), request, settings, await environmentOf(options), () => {}));
}

function settingsOf(options: CmOptions): CmSettings {
  checkOptions(options, CM_RANGES, CM_CHOICES);
  return {
    portSpace: PORT_SPACES[options.portSpace ?? 'tcp'],
    bind: options.bind === undefined ? null : endpointOf(options.bind),
    port: options.port ?? DEFAULT_PORT,
    timeoutMs: options.timeoutMs ?? null,
    tos: options.tos ?? null,
    ackTimeout: options.ackTimeout ?? null,
    reuseAddr: options.reuseAddr ?? false,
    afOnly: options.afOnly ?? false,
  };
}

async function environmentOf({
  signal,
  backend,
}: Pick<CmOptions, 'signal' | 'backend'>): Promise<CmEnvironment> {
  const { thisEnvironment } = await import('../cm/session.ts');
  return thisEnvironment(signal ?? null, { backend: backend ?? 'librdmacm', showBytes: false });
}

/** Throws Failure USAGE for what is no address. */
function endpointOf(text: string): Endpoint {
  try {
    return parseEndpoint(text);
  } catch (error) {
    if (!(error instanceof EndpointError)) throw error;
    throw new Failure('USAGE', error.message, 'ADDR, ADDR:PORT or [ADDR6]:PORT', { cause: error });
  }
}

const bytesOf = (data: Uint8Array | string = new Uint8Array()): Uint8Array =>
  typeof data === 'string' ? new TextEncoder().encode(data) : data;
