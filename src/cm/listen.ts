/** The sequence of a server: listens, answers every request, and tells of every event as it comes. */
import { cmEventJson, UDP_QKEY } from '../abi/rdmacm-codes.ts';
import type { SocketAddress } from '../abi/sockaddr.ts';
import { TransportType } from '../abi/verbs-codes.ts';
import { type CmOccurrence, cmEventFailure, explainCmEvent, statusName } from '../explain/cm-events.ts';
import { Failure, type FailureJson } from '../explain/failure.ts';
import type { CmAddress, CmListenObject } from '../model/cm.ts';
import { emptyListenObject } from '../model/cm-empty.ts';
import { ClosedHandleError } from '../native/errors.ts';
import { type Endpoint, endpointText } from './address.ts';
import type { ConnectionValues } from './backend.ts';
import type { CmChannel, CmEvent, CmId } from './channel.ts';
import { connectionJson } from './connect.ts';
import { DatagramEcho } from './datagram-echo.ts';
import { type Echo, RpingEcho } from './echo.ts';
import { callFailed, type Place } from './failures.ts';
import { checkPrivateData } from './private-data.ts';
import { REASON_CONSUMER } from './reject-reasons.ts';
import {
  addressJson,
  type CmEnvironment,
  type CmSettings,
  CONNECT_TIMEOUT_MS,
  closeChannel,
  openChannel,
  Session,
} from './session.ts';

export interface ListenRequest {
  /** Where to listen; null is every IPv6 and IPv4 address. */
  readonly address: Endpoint | null;
  readonly backlog: number;
  /** Ends after so many connections have ended, or requests been rejected; null never does. */
  readonly count: number | null;
  /** Sent with accept or reject. */
  readonly privateData: Uint8Array;
  /** null accepts; 28, or 35 where the library has it. */
  readonly rejectReason: number | null;
  /** null takes what the peer asks for. */
  readonly responderResources: number | null;
  readonly initiatorDepth: number | null;
  readonly rnrRetryCount: number;
  readonly flowControl: boolean;
  readonly srq: boolean;
  /** A number to name in place of a real queue pair. */
  readonly qpNum: number | null;
  /** Disconnects so long after the connection stands, milliseconds; null waits for the peer to do it. */
  readonly holdMs: number | null;
  /** Sends back what comes over the connections. */
  readonly echo: boolean;
}

/** Where an accepted connection is. */
interface Served {
  readonly key: string;
  readonly id: CmId;
  readonly local: SocketAddress | null;
  readonly peer: SocketAddress | null;
  readonly device: string | null;
  readonly transport: number | null;
  readonly port: number | null;
  /** What sends back, with the end of its work. */
  echo: { readonly service: Echo; readonly ended: Promise<void> } | null;
}

/** A datagram service ends by itself: nobody says goodbye to it. */
const DATAGRAM_IDLE_MS = 5000;

/** Tells a service that its connection is over: the end of every connection, and no failure. */
const ENDED = new Failure('DISCONNECTED', 'the connection has ended', 'nothing');

const ANY: Endpoint = { host: '::', port: null, scope: null };

/**
 * Listens until `count` is reached, the signal aborts, the listener's device goes away, or nothing came for the
 * time that the settings name.
 * @param emit gets each object as its event comes
 * @returns the failure that ended it, which the last object carries too
 */
export async function listen(
  request: ListenRequest,
  settings: CmSettings,
  environment: CmEnvironment,
  emit: (object: CmListenObject) => Promise<void>,
): Promise<FailureJson | null> {
  const tell = (object: CmListenObject): Promise<void> =>
    emit({ ...object, kernel_commands: environment.takeKernelCommands?.() ?? null });
  checkPrivateData(
    request.privateData,
    request.rejectReason === null ? 'accept' : 'reject',
    settings.portSpace,
    'ipv4',
  );
  let channel: CmChannel | null = null;
  let server: Server | null = null;
  try {
    channel = await openChannel(environment);
    server = new Server(channel, request, settings, environment, tell);
    await server.serve();
    return null;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    await tell(emptyListenObject(error.toJSON()));
    return error.toJSON();
  } finally {
    if (server) await server.stop();
    else if (channel) await closeChannel(channel);
    const kernel_commands = environment.takeKernelCommands?.() ?? [];
    // What took everything down belongs to the whole.
    if (kernel_commands.length > 0) await emit({ ...emptyListenObject(null), kernel_commands });
  }
}

class Server {
  readonly #served = new Map<CmId, Served>();
  /** Those of them whose connection has ended. */
  readonly #ended = new Set<Served>();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Connections that have ended, or requests that were rejected. */
  #done = 0;
  #accepted = 0;
  readonly #session: Session;
  /** What a service threw that is no failure of its connection: the output, or a mistake of ours. */
  #broken: { readonly error: unknown } | null = null;
  /** Aborts when a service ends: no event tells of that. */
  #serviceEnded = new AbortController();

  constructor(
    private readonly channel: CmChannel,
    private readonly request: ListenRequest,
    private readonly settings: CmSettings,
    private readonly environment: CmEnvironment,
    private readonly tell: (object: CmListenObject) => Promise<void>,
  ) {
    this.#session = new Session(channel, settings, environment);
  }

  async serve(): Promise<void> {
    const { count, address, backlog } = this.request;
    const session = this.#session;
    await session.createId();
    await session.bind(address ?? ANY, this.settings.port);
    await session.step('listen', () => session.id.listen(backlog));
    const { local, device, ib_port } = session.outcome();
    await this.tell({
      ...emptyListenObject(null),
      id: session.id.key,
      action: 'listening',
      local,
      device,
      ib_port,
    });
    while (count === null || this.#done < count) {
      const event = await this.#nextEvent(local);
      if (this.#broken !== null) throw this.#broken.error;
      if (event === null) continue;
      if (event.name === 'CONNECT_REQUEST') await this.#answer(event);
      else await this.#observe(event, session);
    }
  }

  /** null: a service has ended by itself. */
  async #nextEvent(local: CmAddress | null): Promise<CmEvent | null> {
    const { signal } = this.environment;
    const ended = new AbortController();
    this.#serviceEnded = ended;
    // While something is sent back it is not true that nothing comes.
    const isServing = [...this.#served.values()].some(({ echo }) => echo !== null);
    try {
      return await this.channel.nextEvent(null, {
        timeoutMs: isServing ? null : this.settings.timeoutMs,
        signal: signal === null ? ended.signal : AbortSignal.any([signal, ended.signal]),
        what: `listening on ${local === null ? 'all addresses' : `${local.addr} port ${local.port}`}`,
      });
    } catch (error) {
      if (ended.signal.aborted && !signal?.aborted) return null;
      throw error;
    }
  }

  async #answer(event: CmEvent): Promise<void> {
    const { id } = event;
    const { local, peer, port } = id.route();
    const device = id.device();
    const served: Served = {
      key: id.key,
      id,
      local,
      peer,
      device: device?.name ?? null,
      transport: device?.transport ?? null,
      port: port === 0 ? null : port,
      echo: null,
    };
    this.#served.set(id, served);
    const { count, rejectReason } = this.request;
    // More than --count at once: those that come too many are told no.
    const tooMany = count !== null && rejectReason === null && this.#accepted >= count;
    const action = rejectReason !== null || tooMany ? 'reject' : 'accept';
    await this.#say(event, served, action);
    try {
      if (action === 'accept') {
        this.#accepted++;
        await this.#accept(event, served);
      } else {
        const data = tooMany ? new Uint8Array() : this.request.privateData;
        await this.#session.bounded('reject', () => id.reject(rejectReason ?? REASON_CONSUMER, data));
        await this.#release(served, !tooMany);
      }
    } catch (error) {
      // One connection that fails must not end the listener.
      const failure = callFailed(error, this.#place(served, action));
      if (failure.code === 'INTERRUPTED') throw failure;
      await this.tell({ ...this.#object(served), error: failure.toJSON(), action: 'destroy' });
      await this.#release(served, true);
      if (failure.code === 'NO_SYMBOL') throw failure;
    }
  }

  async #accept(event: CmEvent, served: Served): Promise<void> {
    const { request } = this;
    const { id } = event;
    const echo = request.echo
      ? await this.#session.bounded('create_qp', () => this.#prepareEcho(served))
      : null;
    if (request.qpNum === null && echo === null) {
      await this.#session.bounded('create_qp', () => id.createQp({ sharedReceiveQueue: request.srq }));
    }
    const asked = event.conn;
    const values: ConnectionValues = {
      // The peer's own wish, from this side: what it wants to start is answered here.
      responder_resources: request.responderResources ?? asked?.responder_resources ?? 0,
      initiator_depth: request.initiatorDepth ?? asked?.initiator_depth ?? 0,
      flow_control: request.flowControl ? 1 : 0,
      retry_count: asked?.retry_count ?? 7,
      rnr_retry_count: request.rnrRetryCount,
      srq: request.srq ? 1 : 0,
      qp_num: request.qpNum ?? 0,
    };
    await this.#session.bounded('accept', () => id.accept(values, request.privateData));
    if (echo !== null) {
      const ended = this.#serve(served, echo).catch((error: unknown) => {
        this.#broken ??= { error };
        this.#serviceEnded.abort();
      });
      served.echo = { service: echo, ended };
    }
    // A datagram service is answered with this; there is no connection that could end.
    else if (id.isDatagram) await this.#release(served, true);
  }

  /** Before the peer knows that it may send. Throws Failure, NativeCallError. */
  async #prepareEcho({ id, port }: Served): Promise<Echo> {
    const { signal } = this.environment;
    const { timeoutMs } = this.settings;
    if (!id.isDatagram) {
      const path = await id.createDataPath(RpingEcho.DEPTH);
      return RpingEcho.prepare(path, timeoutMs ?? CONNECT_TIMEOUT_MS, signal);
    }
    const path = await id.createDataPath(DatagramEcho.DEPTH);
    const idleMs = this.request.holdMs ?? DATAGRAM_IDLE_MS;
    return DatagramEcho.prepare(path, { port: port ?? 1, qkey: UDP_QKEY }, idleMs, signal);
  }

  /** Sends back until the connection ends; what goes wrong ends it, and not the listener. */
  async #serve(served: Served, echo: Echo): Promise<void> {
    let failure: Failure | null = null;
    try {
      await echo.run();
    } catch (error) {
      // The id is destroyed while it served.
      if (error instanceof ClosedHandleError) return;
      failure = callFailed(error, this.#place(served, 'echo'));
      // The end of the connection and of the listener have objects of their own.
      if (failure === ENDED || failure.code === 'INTERRUPTED') return;
    }
    await this.tell({
      ...this.#object(served),
      error: failure?.toJSON() ?? null,
      action: served.id.isDatagram ? 'destroy' : 'disconnect',
      echo: echo.result(),
    });
    if (served.id.isDatagram) await this.#release(served, true);
    // The event that follows lets go of it.
    else if (served.id.state === 'connected' || served.id.state === 'accepting') {
      await served.id
        .disconnect()
        .catch((error: unknown) => callFailed(error, this.#place(served, 'disconnect')));
    }
  }

  async #observe(event: CmEvent, session: Session): Promise<void> {
    const served = this.#served.get(event.id) ?? null;
    if (served === null) {
      await this.#say(event, null, null);
      if (event.id === session.id) session.throwIfFailure(event);
      return;
    }
    if (event.name === 'ESTABLISHED') this.#disconnectLater(served);
    const ends = event.name === 'DISCONNECTED';
    const isOver =
      ends || event.name === 'TIMEWAIT_EXIT' || cmEventFailure(this.#occurrence(event, served)) !== null;
    if (isOver) {
      served.echo?.service.traffic.end(ENDED);
      await served.echo?.ended;
    }
    await this.#say(event, served, ends ? 'disconnect' : isOver ? 'destroy' : null);
    if (ends && served.id.state === 'disconnected') {
      // The connection is over either way; what the call says of that is no news.
      await this.#session
        .bounded('disconnect', () => served.id.disconnect())
        .catch((error: unknown) => callFailed(error, this.#place(served, 'disconnect')));
    }
    if (ends && served.transport !== TransportType.valueOf('IWARP')) {
      // The id stays for the TIMEWAIT_EXIT that follows; the connection is over.
      this.#done++;
      this.#ended.add(served);
    } else if (isOver) {
      await this.#release(served, !this.#ended.has(served));
    }
  }

  /** Says goodbye first, where that was asked for. */
  #disconnectLater(served: Served): void {
    const { holdMs } = this.request;
    if (holdMs === null || served.id.isDatagram) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (served.id.state !== 'connected') return;
      // A failure shows in the event that follows, or in its absence.
      served.id.disconnect().catch((error: unknown) => callFailed(error, this.#place(served, 'disconnect')));
    }, holdMs);
    this.#timers.add(timer);
  }

  /** Takes everything down; no goodbye is said after this, and nothing sent back. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const { echo } of this.#served.values()) {
      echo?.service.traffic.end(ENDED);
      await echo?.ended;
    }
    await this.#session.close();
  }

  #place({ local, peer, device }: Served, step: string): Place {
    const { portSpace } = this.settings;
    return { step, portSpace, local, peer, device, machine: this.environment.machine };
  }

  async #release(served: Served, counts: boolean): Promise<void> {
    if (!this.#served.delete(served.id)) return;
    this.#ended.delete(served);
    try {
      await this.#session.bounded('destroy_id', () => served.id.destroy());
    } catch (error) {
      throw callFailed(error, this.#place(served, 'destroy_id'));
    }
    if (counts) this.#done++;
    if (served.echo !== null) this.#serviceEnded.abort();
  }

  #occurrence(event: CmEvent, served: Served | null): CmOccurrence {
    return {
      event: event.event,
      status: event.status,
      portSpace: this.settings.portSpace,
      transport: served?.transport ?? null,
      device: served?.device ?? null,
      local: served?.local ? endpointText(served.local) : null,
      peer: served?.peer ? endpointText(served.peer) : null,
    };
  }

  #object(served: Served | null): CmListenObject {
    return {
      ...emptyListenObject(null),
      id: served?.key ?? null,
      local: served?.local ? addressJson(served.local) : null,
      peer: served?.peer ? addressJson(served.peer) : null,
      device: served?.device ?? null,
      ib_port: served?.port ?? null,
    };
  }

  async #say(event: CmEvent, served: Served | null, action: CmListenObject['action']): Promise<void> {
    const occurrence = this.#occurrence(event, served);
    // Told once: not again with what follows the end.
    const ends = action !== null && served !== null && !this.#ended.has(served);
    const carries = event.name === 'CONNECT_REQUEST' || event.privateData.some((byte) => byte !== 0);
    await this.tell({
      ...this.#object(served),
      id: event.id.key,
      event: cmEventJson(event.event),
      status: event.status,
      status_name: statusName(occurrence),
      meaning: explainCmEvent(occurrence).meaning,
      action,
      connection: carries ? connectionJson(event, served?.transport ?? null) : null,
      echo: ends ? (served?.echo?.service.result() ?? null) : null,
    });
  }
}
