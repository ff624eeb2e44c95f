/** Many connections to one peer, some at once: each step timed, failures counted by their cause. */
import { performance } from 'node:perf_hooks';
import { type CmEventName, CmOption, cmEventJson } from '../abi/rdmacm-codes.ts';
import type { SocketAddress } from '../abi/sockaddr.ts';
import { type CmOccurrence, cmEventFailure, explainCmEvent, statusName } from '../explain/cm-events.ts';
import { errnoName } from '../explain/errno.ts';
import { Failure } from '../explain/failure.ts';
import type { CmConnectManyResult, CmFailureGroup } from '../model/cm-connect-many.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { NativeCallError } from '../native/errors.ts';
import { within } from '../waiting/deadline.ts';
import { type Endpoint, endpointText, resolveEndpoint } from './address.ts';
import type { CmChannel, CmEvent, CmId } from './channel.ts';
import { type ConnectRequest, checkConnection, connectionValues } from './connect.ts';
import { callFailed } from './failures.ts';
import {
  addressJson,
  type CmEnvironment,
  type CmSettings,
  CONNECT_TIMEOUT_MS,
  closeChannel,
  openChannel,
  PORT_SPACE_WORDS,
  STEP_TIMEOUT_MS,
} from './session.ts';
import { StepTimes } from './step-times.ts';

/** The kernel's own timeouts end in an event: it shall win against ours. */
const GRACE_MS = 2000;
/** For one id; what hangs inside C longer is left to the end of the process. */
const DESTROY_DEADLINE_MS = 10_000;

/** The steps in their order, as cmtime has them. */
const STEPS = [
  'create_id',
  'set_option',
  'bind_addr',
  'resolve_addr',
  'resolve_route',
  'create_qp',
  'connect',
  'establish',
  'disconnect',
  'destroy',
] as const;
type StepName = (typeof STEPS)[number];

export interface ManyRequest {
  readonly connection: ConnectRequest;
  readonly count: number;
  readonly concurrency: number;
  /** It runs on a thread of its own, where calls need no deadline of theirs: who waits for the thread has one. */
  readonly apart: boolean;
}

/** How far it is. */
export interface ManyProgress {
  readonly established: number;
  readonly failed: number;
  readonly count: number;
}

/** One connection did not come about, or did not end well. */
class StepFailure {
  constructor(
    readonly step: StepName,
    readonly failure: Failure,
    readonly event: CmEvent | null,
    readonly status: number,
    readonly statusName: string | null,
  ) {}
}

/**
 * Connects `count` times, `concurrency` at once; each connection is taken down before its place is used again.
 * @param progress is told after each connection
 */
export async function connectMany(
  peer: Endpoint,
  request: ManyRequest,
  settings: CmSettings,
  environment: CmEnvironment,
  progress: (state: ManyProgress) => void,
): Promise<CmConnectManyResult> {
  let channel: CmChannel | null = null;
  let run: Run | null = null;
  let error: Failure | null = null;
  try {
    checkConnection(peer, request.connection, settings);
    const timeoutMs = settings.timeoutMs ?? CONNECT_TIMEOUT_MS;
    channel = await openChannel(environment);
    const { machine } = environment;
    const to = await resolveEndpoint(peer, settings.port, machine, timeoutMs);
    const from = settings.bind && (await resolveEndpoint(settings.bind, 0, machine, timeoutMs, to));
    run = new Run(channel, to, from, request, settings, environment, progress);
    error = await run.all();
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    error = thrown;
  } finally {
    if (channel) await closeChannel(channel);
  }
  return {
    schema: SCHEMA_IDS.cmConnectMany,
    error: error?.toJSON() ?? null,
    port_space: PORT_SPACE_WORDS[settings.portSpace],
    count: request.count,
    concurrency: request.concurrency,
    ...(run?.outcome() ?? EMPTY_OUTCOME),
  };
}

const EMPTY_OUTCOME = {
  local: null,
  peer: null,
  device: null,
  established: 0,
  failed: 0,
  duration_ms: null,
  connections_per_second: null,
  steps: [],
  failures: [],
};

class Run {
  readonly #times = new Map<StepName, StepTimes>();
  readonly #failures = new Map<string, { count: number; readonly first: StepFailure }>();
  #begun = 0;
  #established = 0;
  #failed = 0;
  #durationMs = 0;
  #local: SocketAddress | null = null;
  #device: { readonly name: string; readonly transport: number } | null = null;

  constructor(
    private readonly channel: CmChannel,
    private readonly to: SocketAddress,
    private readonly from: SocketAddress | null,
    private readonly request: ManyRequest,
    private readonly settings: CmSettings,
    private readonly environment: CmEnvironment,
    private readonly progress: (state: ManyProgress) => void,
  ) {}

  /** Makes all connections. Resolves with what the whole failed with. */
  async all(): Promise<Failure | null> {
    const { count, concurrency } = this.request;
    const started = performance.now();
    const lanes = Array.from({ length: Math.min(count, concurrency) }, () => this.#lane());
    const results = await Promise.allSettled(lanes);
    this.#durationMs = performance.now() - started;
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    if (this.environment.signal?.aborted) {
      return new Failure('INTERRUPTED', 'interrupted', 'everything was taken down');
    }
    if (this.#failed === 0) return null;
    const [worst] = this.#groups();
    const first = worst?.first.failure;
    if (this.#established === 0 && first && this.#failures.size === 1) return first;
    return new Failure(
      'SOME_CONNECTIONS_FAILED',
      `${this.#failed} of ${count} connections failed; most often: ${first?.message ?? ''}`,
      first?.hint ?? '',
    );
  }

  async #lane(): Promise<void> {
    const { count } = this.request;
    while (this.#begun < count && !this.environment.signal?.aborted) {
      this.#begun++;
      const failed = await this.#connection();
      if (failed === null) this.#established++;
      else if (failed.failure.code === 'INTERRUPTED') return;
      else this.#count(failed);
      this.progress({ established: this.#established, failed: this.#failed, count });
    }
  }

  #count(failed: StepFailure): void {
    this.#failed++;
    const cause = [failed.step, failed.failure.code, failed.event?.event, failed.status].join();
    const group = this.#failures.get(cause);
    if (group) group.count++;
    else this.#failures.set(cause, { count: 1, first: failed });
  }

  #groups() {
    return [...this.#failures.values()].sort((a, b) => b.count - a.count);
  }

  /** One connection from its beginning to its end; null where all went well. */
  async #connection(): Promise<StepFailure | null> {
    let id: CmId | null = null;
    try {
      id = await this.#step('create_id', null, () => this.channel.createId(this.settings.portSpace));
      await this.#through(id);
      return null;
    } catch (thrown) {
      if (thrown instanceof StepFailure) return thrown;
      throw thrown;
    } finally {
      if (id) await this.#destroy(id);
    }
  }

  async #destroy(id: CmId): Promise<void> {
    const started = performance.now();
    // What hangs is ended with the process.
    if (this.request.apart) await id.destroy();
    else await within(DESTROY_DEADLINE_MS, 'destroy', id.destroy()).catch(() => {});
    this.#lap('destroy', started);
  }

  async #through(id: CmId): Promise<void> {
    const { connection } = this.request;
    const { from, to } = this;
    const timeoutMs = this.settings.timeoutMs ?? STEP_TIMEOUT_MS;
    const handshakeMs = this.settings.timeoutMs ?? CONNECT_TIMEOUT_MS;
    await this.#options(id);
    if (from) await this.#step('bind_addr', id, () => id.bindAddr(from));
    await this.#until('resolve_addr', id, ['ADDR_RESOLVED'], timeoutMs + GRACE_MS, () =>
      id.resolveAddr(null, to, timeoutMs),
    );
    await this.#until('resolve_route', id, ['ROUTE_RESOLVED'], timeoutMs + GRACE_MS, () =>
      id.resolveRoute(timeoutMs),
    );
    this.#look(id);
    if (connection.qpNum === null) {
      await this.#step('create_qp', id, () => id.createQp({ sharedReceiveQueue: connection.srq }));
    }
    const event = await this.#until(
      'connect',
      id,
      connection.qpNum === null ? ['ESTABLISHED'] : ['CONNECT_RESPONSE', 'ESTABLISHED'],
      handshakeMs,
      () => id.connect(connectionValues(connection), connection.privateData),
    );
    if (event.name === 'CONNECT_RESPONSE') await this.#step('establish', id, () => id.establish());
    if (connection.holdMs > 0) await this.#hold(id, connection.holdMs);
    if (id.isDatagram) return;
    if (id.state === 'disconnected') await this.#step('disconnect', id, () => id.disconnect());
    else await this.#until('disconnect', id, ['DISCONNECTED'], handshakeMs, () => id.disconnect());
  }

  async #options(id: CmId): Promise<void> {
    const { tos, ackTimeout, reuseAddr, afOnly } = this.settings;
    const ONE = Uint8Array.of(1, 0, 0, 0);
    const options = [
      ...(tos === null ? [] : [[CmOption.ID_TOS, Uint8Array.of(tos)] as const]),
      ...(reuseAddr ? [[CmOption.ID_REUSEADDR, ONE] as const] : []),
      ...(afOnly ? [[CmOption.ID_AFONLY, ONE] as const] : []),
      ...(ackTimeout === null ? [] : [[CmOption.ID_ACK_TIMEOUT, Uint8Array.of(ackTimeout)] as const]),
    ];
    for (const [{ level, name }, value] of options) {
      await this.#step('set_option', id, () => id.setOption(level, name, value));
    }
  }

  /** Keeps a connection until the time is over, or the peer ends it. */
  async #hold(id: CmId, holdMs: number): Promise<void> {
    const { signal } = this.environment;
    try {
      await this.channel.nextEvent(id, { timeoutMs: holdMs, signal, what: 'holding the connection' });
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'TIMED_OUT')
        throw this.#stepFailure('connect', id, error);
    }
  }

  /** What the first connection that gets so far knows of its place. */
  #look(id: CmId): void {
    if (this.#device !== null) return;
    this.#device = id.device();
    this.#local = id.route().local;
  }

  #lap(step: StepName, started: number): void {
    let times = this.#times.get(step);
    if (!times) {
      times = new StepTimes(step);
      this.#times.set(step, times);
    }
    times.add(performance.now() - started);
  }

  /** Makes a call as a step. Throws StepFailure. */
  async #step<T>(step: StepName, id: CmId | null, call: () => Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      const result = await call();
      this.#lap(step, started);
      return result;
    } catch (error) {
      throw this.#stepFailure(step, id, error);
    }
  }

  /** Makes a call and waits for the event that it ends in. Throws StepFailure. */
  async #until(
    step: StepName,
    id: CmId,
    expected: readonly CmEventName[],
    timeoutMs: number,
    call: () => Promise<void>,
  ): Promise<CmEvent> {
    const started = performance.now();
    const { signal } = this.environment;
    let event: CmEvent;
    try {
      // Over iWARP the call itself waits for the peer.
      await (this.request.apart ? call() : within(timeoutMs, step, call()));
      do {
        const left = Math.max(1, Math.ceil(started + timeoutMs - performance.now()));
        event = await this.channel.nextEvent(id, { timeoutMs: left, signal, what: step });
        // Late news of something else do not end the step.
      } while (event.name === 'ADDR_CHANGE' || event.name === 'TIMEWAIT_EXIT');
    } catch (error) {
      throw this.#stepFailure(step, id, error);
    }
    if (event.name !== null && expected.includes(event.name)) {
      this.#lap(step, started);
      return event;
    }
    const occurrence = this.#occurrence(event);
    const failure =
      cmEventFailure(occurrence) ??
      new Failure(
        'CM_EVENT_FAILED',
        `${step}: ${explainCmEvent(occurrence).event} came instead`,
        explainCmEvent(occurrence).next,
      );
    throw new StepFailure(step, failure, event, event.status, statusName(occurrence));
  }

  #stepFailure(step: StepName, id: CmId | null, error: unknown): StepFailure {
    const failure = callFailed(error, {
      step,
      portSpace: this.settings.portSpace,
      local: this.#local ?? this.from,
      peer: id === null ? null : this.to,
      device: this.#device?.name ?? null,
      machine: this.environment.machine,
    });
    const errno = error instanceof NativeCallError ? error.errno : 0;
    return new StepFailure(step, failure, null, -errno, errno === 0 ? null : errnoName(errno));
  }

  #occurrence({ event, status }: CmEvent): CmOccurrence {
    return {
      event,
      status,
      portSpace: this.settings.portSpace,
      transport: this.#device?.transport ?? null,
      device: this.#device?.name ?? null,
      // Each connection has a port of its own.
      local: this.from && (this.from.port === 0 ? this.from.address : endpointText(this.from)),
      peer: endpointText(this.to),
    };
  }

  outcome() {
    const seconds = this.#durationMs / 1000;
    return {
      local: this.#local && addressJson({ ...this.#local, port: this.from?.port ?? 0 }),
      peer: addressJson(this.to),
      device: this.#device?.name ?? null,
      established: this.#established,
      failed: this.#failed,
      duration_ms: Math.round(this.#durationMs * 1000) / 1000,
      connections_per_second: seconds === 0 ? null : Math.round((this.#established / seconds) * 100) / 100,
      steps: STEPS.flatMap((step) => this.#times.get(step)?.toJson() ?? []),
      failures: this.#groups().map(groupJson),
    };
  }
}

const groupJson = ({ count, first }: { count: number; first: StepFailure }): CmFailureGroup => ({
  count,
  step: first.step,
  event: first.event && cmEventJson(first.event.event),
  status: first.status,
  status_name: first.statusName,
  first: first.failure.toJSON(),
});
