/** The sequences of a client: a whole connection, and the attributes that its queue pair would get. */
import { cmEventJson } from '../abi/rdmacm-codes.ts';
import { QpState } from '../abi/verbs-codes.ts';
import { ibUverbsQpAttr } from '../abi/verbs-qp.ts';
import { explainCmEvent, statusName } from '../explain/cm-events.ts';
import { Failure } from '../explain/failure.ts';
import type {
  CmConnection,
  CmConnectResult,
  CmFurtherEvent,
  CmInitQpAttrResult,
  CmQueuePair,
  CmRoute,
} from '../model/cm.ts';
import type { CmPing } from '../model/cm-exchange.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { type Endpoint, refuseMulticast } from './address.ts';
import type { ConnectionValues } from './backend.ts';
import type { CmEvent } from './channel.ts';
import { DatagramClient } from './datagram-ping.ts';
import { type Pinger, type PingRequest, RpingClient } from './ping.ts';
import { checkPrivateData, privateDataJson } from './private-data.ts';
import { type CmEnvironment, type CmSettings, CONNECT_TIMEOUT_MS, conduct, type Session } from './session.ts';

export interface ConnectRequest {
  readonly privateData: Uint8Array;
  readonly responderResources: number;
  readonly initiatorDepth: number;
  readonly flowControl: boolean;
  readonly retryCount: number;
  readonly rnrRetryCount: number;
  readonly srq: boolean;
  /** A number to name in a handshake without a queue pair; null makes a real one. */
  readonly qpNum: number | null;
  /** How long the connection stays, milliseconds. */
  readonly holdMs: number;
  /** Data to send to and fro; null sends none. */
  readonly ping: PingRequest | null;
}

/** What rping asks for. */
export const RPING_REQUEST: ConnectRequest = {
  privateData: new Uint8Array(),
  responderResources: 1,
  initiatorDepth: 1,
  flowControl: false,
  retryCount: 7,
  rnrRetryCount: 7,
  srq: false,
  qpNum: null,
  holdMs: 0,
  ping: null,
};

export const connectionValues = (request: ConnectRequest): ConnectionValues => ({
  responder_resources: request.responderResources,
  initiator_depth: request.initiatorDepth,
  flow_control: request.flowControl ? 1 : 0,
  retry_count: request.retryCount,
  rnr_retry_count: request.rnrRetryCount,
  srq: request.srq ? 1 : 0,
  qp_num: request.qpNum ?? 0,
});

/** What a message of the peer said, as documents have it. */
export function connectionJson(event: CmEvent, transport: number | null): CmConnection {
  // A refusal carries private data, and none of the parameters.
  const { conn, ud } = event.name === 'REJECTED' ? { conn: null, ud: null } : event;
  return {
    ...privateDataJson(event.privateData, transport),
    responder_resources: conn?.responder_resources ?? null,
    initiator_depth: conn?.initiator_depth ?? null,
    flow_control: conn?.flow_control ?? null,
    retry_count: conn?.retry_count ?? null,
    rnr_retry_count: conn?.rnr_retry_count ?? null,
    srq: conn?.srq ?? null,
    qp_num: conn?.qp_num ?? ud?.qp_num ?? null,
    qkey: ud ? `0x${ud.qkey.toString(16)}` : null,
  };
}

/** What cannot go well is refused before anything is opened. Throws Failure USAGE, PRIVATE_DATA_TOO_LONG. */
export function checkConnection(peer: Endpoint, { privateData }: ConnectRequest, settings: CmSettings): void {
  refuseMulticast(peer);
  // Both kinds of IP addresses take the same room.
  checkPrivateData(privateData, 'connect', settings.portSpace, 'ipv4');
}

/** Connects, holds the connection, and takes it down again. */
export async function connect(
  peer: Endpoint,
  request: ConnectRequest,
  settings: CmSettings,
  environment: CmEnvironment,
): Promise<CmConnectResult> {
  let route: CmRoute | null = null;
  let qp: CmQueuePair | null = null;
  let connection: CmConnection | null = null;
  let pinger: Pinger | null = null;
  const events: CmFurtherEvent[] = [];
  checkConnection(peer, request, settings);
  const pinged = (): CmPing | null => pinger?.result() ?? null;
  const outcome = await conduct(settings, environment, async (session) => {
    await session.createId();
    await session.resolve(peer);
    route = session.route();
    pinger = await pingerFor(session, request);
    qp = await queuePair(session, request, pinger);
    const established = await handshake(session, request, (answer) => {
      connection = connectionJson(answer, session.transport);
    });
    await pinger?.run(established);
    await hold(session, request.holdMs, events);
    if (!session.id.isDatagram) await disconnect(session);
  });
  return { schema: SCHEMA_IDS.cmConnect, ...outcome, route, qp, connection, ping: pinged(), events };
}

/** What pings over this connection, with its queue pair, where that was asked for. */
async function pingerFor(session: Session, { ping }: ConnectRequest): Promise<Pinger | null> {
  if (ping === null) return null;
  return session.id.isDatagram ? DatagramClient.prepare(session, ping) : RpingClient.prepare(session, ping);
}

async function queuePair(
  session: Session,
  request: ConnectRequest,
  pinger: Pinger | null,
): Promise<CmQueuePair> {
  const type = session.id.isDatagram ? 'UD' : 'RC';
  if (pinger !== null) return { qp_num: pinger.queuePair, type, srq: false, real: true };
  if (request.qpNum !== null) return { qp_num: request.qpNum, type, srq: request.srq, real: false };
  const number = await session.step('create_qp', () =>
    session.id.createQp({ sharedReceiveQueue: request.srq }),
  );
  return { qp_num: number, type, srq: request.srq, real: true };
}

/** connect, and establish where no queue pair makes librdmacm do it. `answered` sees a refusal too. */
async function handshake(
  session: Session,
  request: ConnectRequest,
  answered: (event: CmEvent) => void,
): Promise<CmEvent> {
  const timeoutMs = session.settings.timeoutMs ?? CONNECT_TIMEOUT_MS;
  const expected =
    request.qpNum === null || session.id.isDatagram
      ? (['ESTABLISHED'] as const)
      : (['CONNECT_RESPONSE', 'ESTABLISHED'] as const);
  const event = await session.stepUntil(
    'connect',
    expected,
    timeoutMs,
    () => session.id.connect(connectionValues(request), request.privateData),
    answered,
  );
  if (event.name === 'CONNECT_RESPONSE') await session.step('establish', () => session.id.establish());
  return event;
}

/** Keeps the connection until the time is over or the peer ends it. Throws Failure INTERRUPTED, DEVICE_REMOVED. */
async function hold(session: Session, holdMs: number, events: CmFurtherEvent[]): Promise<void> {
  const until = performance.now() + holdMs;
  for (;;) {
    const left = Math.ceil(until - performance.now());
    if (left <= 0) return;
    const event = await session.eventWithin(left, 'holding the connection');
    if (event === null) return;
    events.push(furtherEvent(session, event));
    if (event.name === 'DEVICE_REMOVAL') session.throwIfFailure(event);
    if (event.name === 'DISCONNECTED') return;
  }
}

function furtherEvent(session: Session, event: CmEvent): CmFurtherEvent {
  const occurrence = session.occurrence(event);
  return {
    time: new Date().toISOString(),
    event: cmEventJson(event.event),
    status: event.status,
    status_name: statusName(occurrence),
    meaning: explainCmEvent(occurrence).meaning,
  };
}

/** Says goodbye. The peer that does not answer in time keeps nothing from ending: the id is destroyed next. */
async function disconnect(session: Session): Promise<void> {
  if (session.id.state === 'disconnected') {
    await session.step('disconnect', () => session.id.disconnect());
    return;
  }
  try {
    await session.stepUntil(
      'disconnect',
      ['DISCONNECTED'],
      session.settings.timeoutMs ?? CONNECT_TIMEOUT_MS,
      () => session.id.disconnect(),
    );
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'TIMED_OUT') throw error;
    throw new Failure(
      'TIMED_OUT',
      `${error.message}: the peer did not disconnect on its side`,
      'both sides must call rdma_disconnect; raise --timeout for a slow peer',
    );
  }
}

/**
 * The attributes for INIT, RTR and RTS. The last two are known only in the middle of a handshake: the sequence
 * connects without a queue pair, asks, and disconnects.
 */
export async function initQpAttr(
  peer: Endpoint,
  request: ConnectRequest,
  settings: CmSettings,
  environment: CmEnvironment,
): Promise<CmInitQpAttrResult> {
  const attributes: CmInitQpAttrResult['attributes'] = [];
  checkConnection(peer, request, settings);
  const outcome = await conduct(settings, environment, async (session) => {
    const ask = async (state: 'INIT' | 'RTR' | 'RTS'): Promise<void> => {
      const attr = await session.step(`init_qp_attr ${state}`, () =>
        session.id.initQpAttr(QpState.valueOf(state)),
      );
      attributes.push(ibUverbsQpAttr.toJson(attr));
    };
    await session.createId();
    await session.resolve(peer);
    await ask('INIT');
    if (session.id.isDatagram) return;
    await session.stepUntil('connect', ['CONNECT_RESPONSE'], settings.timeoutMs ?? CONNECT_TIMEOUT_MS, () =>
      session.id.connect(connectionValues(request), request.privateData),
    );
    await ask('RTR');
    await ask('RTS');
    await session.step('establish', () => session.id.establish());
    await disconnect(session);
  });
  return { schema: SCHEMA_IDS.cmInitQpAttr, ...outcome, attributes };
}
