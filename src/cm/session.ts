/**
 * One run of a one-shot command: steps with their durations on one id, and everything taken down at its end,
 * however it ends.
 */
import { isIP } from 'node:net';
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { gidText } from '../abi/ib-types.ts';
import { ibvSaPathRec } from '../abi/rdmacm.ts';
import {
  type CmEventName,
  CmEventType,
  CmOption,
  cmEventJson,
  type PortSpaceName,
} from '../abi/rdmacm-codes.ts';
import type { SocketAddress } from '../abi/sockaddr.ts';
import {
  type CmOccurrence,
  cmEventFailure,
  connectionText,
  explainCmEvent,
  statusName,
} from '../explain/cm-events.ts';
import { errnoName } from '../explain/errno.ts';
import { Failure, type FailureJson } from '../explain/failure.ts';
import type { CmAddress, CmRoute, CmStep } from '../model/cm.ts';
import { emptyOutcome } from '../model/cm-empty.ts';
import type { KernelCommand } from '../model/kernel-commands.ts';
import { MissingLibraryError, NativeCallError } from '../native/errors.ts';
import type { Machine } from '../system/machine.ts';
import { thisMachine } from '../system/this-machine.ts';
import { CALL_DEADLINE_MS, DeadlineError, within } from '../waiting/deadline.ts';
import { type Endpoint, endpointText, resolveEndpoint } from './address.ts';
import { checkAvailable, noLibrary } from './availability.ts';
import type { Backend, BackendDevice } from './backend.ts';
import { CmChannel, type CmEvent, type CmId, interrupted } from './channel.ts';
import { callFailed, type Place } from './failures.ts';
import { orInterrupted } from './interruption.ts';
import type { Traffic } from './traffic.ts';

/** Time for the address and for the route, as rping, ucmatose and cmtime give them. */
export const STEP_TIMEOUT_MS = 2000;
/** Time for the handshake: a lost request is repeated after 4 to 6 s on RoCE. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** The kernel's own timeouts end in an event: it shall win against ours. */
const GRACE_MS = 2000;
/** For taking everything down; what hangs inside C longer is left to the end of the process. */
const CLOSE_DEADLINE_MS = 10_000;
/** The same where a call was given up that may never come back: destroying its id waits for it. */
const HANGING_CLOSE_DEADLINE_MS = 1000;
/** librdmacm waits up to 5 s for each of two nodes. */
const OPEN_DEADLINE_MS = 15_000;

/** What all sequences are told. */
export interface CmSettings {
  readonly portSpace: PortSpaceName;
  /** Local address, null for the one that the route gives. */
  readonly bind: Endpoint | null;
  /** Service port where an address names none. */
  readonly port: number;
  /** Of each step; null for the defaults. */
  readonly timeoutMs: number | null;
  readonly tos: number | null;
  readonly ackTimeout: number | null;
  readonly reuseAddr: boolean;
  readonly afOnly: boolean;
}

/** What a sequence works on; tests put their own in. */
export interface CmEnvironment {
  readonly machine: Machine;
  readonly signal: AbortSignal | null;
  readonly openBackend: () => Backend | Promise<Backend>;
  /** The commands to the kernel since it was last asked; null where nobody wants to see them. */
  readonly takeKernelCommands: (() => KernelCommand[]) | null;
}

/** Who speaks to the kernel: librdmacm, or rdmatool itself. */
export interface BackendChoice {
  readonly backend: 'librdmacm' | 'kernel';
  /** Keeps what goes to the kernel and comes back; only the kernel's own interface shows it. */
  readonly showBytes: boolean;
}

/** @param calling `here` on a thread of its own, which may wait for calls of librdmacm */
export function thisEnvironment(
  signal: AbortSignal | null,
  { backend, showBytes }: BackendChoice = { backend: 'librdmacm', showBytes: false },
  calling: 'pool' | 'here' = 'pool',
): CmEnvironment {
  const machine = thisMachine();
  if (backend === 'librdmacm') {
    return {
      machine,
      signal,
      async openBackend() {
        const { Librdmacm } = await import('../native/librdmacm.ts');
        const { librdmacmBackend } = await import('./librdmacm-backend.ts');
        return librdmacmBackend(new Librdmacm(calling));
      },
      takeKernelCommands: null,
    };
  }
  const seen: KernelCommand[] = [];
  return {
    machine,
    signal,
    async openBackend() {
      const { kernelBackend } = await import('./kernel/backend.ts');
      const { kernelCommandJson } = await import('./kernel/command-json.ts');
      return kernelBackend(machine, (exchange) => {
        if (showBytes) seen.push(kernelCommandJson(exchange));
      });
    },
    takeKernelCommands: showBytes ? () => seen.splice(0) : null,
  };
}

/** What is known of an id at the end of a run. */
export interface Outcome {
  readonly error: FailureJson | null;
  readonly port_space: 'tcp' | 'udp' | 'ib' | 'ipoib';
  readonly local: CmAddress | null;
  readonly peer: CmAddress | null;
  readonly device: string | null;
  readonly ib_port: number | null;
  readonly steps: CmStep[];
  readonly kernel_commands: KernelCommand[] | null;
}

/** Port spaces as documents have them. */
export const PORT_SPACE_WORDS = { TCP: 'tcp', UDP: 'udp', IB: 'ib', IPOIB: 'ipoib' } as const;

/** Runs `work` on a fresh id, takes everything down, and tells what happened. */
export async function conduct(
  settings: CmSettings,
  environment: CmEnvironment,
  work: (session: Session) => Promise<void>,
): Promise<Outcome> {
  let session: Session | null = null;
  let error: Failure | null = null;
  try {
    const channel = await openChannel(environment);
    session = new Session(channel, settings, environment);
    await work(session);
  } catch (thrown) {
    if (!(thrown instanceof Failure)) {
      await session?.close();
      throw thrown;
    }
    error = thrown;
  }
  await session?.close();
  const kernel_commands = environment.takeKernelCommands?.() ?? null;
  return session === null
    ? { ...emptyOutcome(PORT_SPACE_WORDS[settings.portSpace], error?.toJSON() ?? null), kernel_commands }
    : { ...session.outcome(), error: error?.toJSON() ?? null, kernel_commands };
}

/** An event channel, or a Failure that says why there is none. */
export async function openChannel({ machine, openBackend, signal }: CmEnvironment): Promise<CmChannel> {
  checkAvailable(machine);
  let backend: Backend;
  try {
    backend = await openBackend();
  } catch (error) {
    if (error instanceof MissingLibraryError) throw noLibrary(machine, error);
    throw error;
  }
  try {
    const what = 'opening the event channel';
    return await orInterrupted(signal, what, within(OPEN_DEADLINE_MS, what, CmChannel.open(backend)));
  } catch (error) {
    throw callFailed(error, {
      step: 'create_event_channel',
      portSpace: 'TCP',
      local: null,
      peer: null,
      device: null,
      machine,
    });
  }
}

/** Closes a channel, and gives up on what hangs inside C. */
export async function closeChannel(channel: CmChannel, deadlineMs = CLOSE_DEADLINE_MS): Promise<void> {
  try {
    await within(deadlineMs, 'taking everything down', channel.close());
  } catch (error) {
    // The result stands; the end of the process frees what is left.
    if (!(error instanceof DeadlineError)) throw error;
  }
}

const milliseconds = (since: number): number => Math.round((performance.now() - since) * 1000) / 1000;

/** The id of one run, its steps, and what is known about it. */
export class Session {
  readonly #steps: CmStep[] = [];
  #id: CmId | null = null;
  #local: SocketAddress | null = null;
  #peer: SocketAddress | null = null;
  #device: BackendDevice | null = null;
  #ibPort: number | null = null;
  #closed = false;
  /** Calls that were given up, at Ctrl-C or at their deadline, and have not come back. */
  readonly #givenUp = new Set<Promise<unknown>>();

  constructor(
    private readonly channel: CmChannel,
    readonly settings: CmSettings,
    private readonly environment: CmEnvironment,
  ) {}

  /** The id, after createId. */
  get id(): CmId {
    if (this.#id === null) throw new TypeError('the session has no id yet');
    return this.#id;
  }

  get transport(): number | null {
    return this.#device?.transport ?? null;
  }

  /** Port of the device, 0 before there is one. */
  get ibPort(): number {
    return this.#ibPort ?? 0;
  }

  get signal(): AbortSignal | null {
    return this.environment.signal;
  }

  /** `10.9.0.1:40000 -> 10.9.1.1:7174 (rxe0): what`. */
  at(what: string): string {
    return `${connectionText(this.occurrence({ event: 0, status: 0 }))}: ${what}`;
  }

  /** Makes a call that is no step of its own. Throws Failure. */
  call<T>(name: string, call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw callFailed(error, this.#place(name));
    }
  }

  /**
   * Does `work` while it is watched whether the connection ends or its device goes away: then `traffic` is told.
   */
  async watched(traffic: Traffic, work: () => Promise<void>): Promise<void> {
    const done = new AbortController();
    const watching = this.#watch(traffic, done.signal);
    try {
      await work();
    } finally {
      done.abort();
      await watching;
    }
  }

  async #watch(traffic: Traffic, signal: AbortSignal): Promise<void> {
    for (;;) {
      let event: CmEvent;
      try {
        event = await this.channel.nextEvent(this.id, { timeoutMs: null, signal, what: 'watching' });
      } catch (error) {
        // The work is done, or the channel fails: the work will see for itself.
        if (!(error instanceof Failure) && !(error instanceof NativeCallError)) throw error;
        return;
      }
      const failure = cmEventFailure(this.occurrence(event));
      if (failure) traffic.end(failure);
      else if (event.name === 'DISCONNECTED') traffic.end(this.#disconnected());
    }
  }

  #disconnected(): Failure {
    return new Failure(
      'DISCONNECTED',
      this.at('the peer ended the connection before the exchange was over'),
      'read its log: it was ended, or something failed there. rping -s serves pings up to its own size only (-S, 64 unless given), and rping speaks with rping only',
    );
  }

  /** Makes a call as a step. Throws Failure. */
  async step<T>(name: string, call: () => Promise<T>): Promise<T> {
    const started = performance.now();
    this.#checkInterrupted(name);
    try {
      const result = await this.bounded(name, call);
      this.#record(name, started, null, 0);
      return result;
    } catch (error) {
      throw this.#failed(name, started, error);
    }
  }

  /**
   * Makes a call and waits for the event that it ends in, as one step. Throws Failure where another event comes,
   * or none within the time.
   * @param seen is told of the event, whatever it is
   */
  async stepUntil(
    name: string,
    expected: readonly CmEventName[],
    timeoutMs: number,
    call: () => Promise<void>,
    seen: (event: CmEvent) => void = () => {},
  ): Promise<CmEvent> {
    const started = performance.now();
    this.#checkInterrupted(name);
    let event: CmEvent;
    try {
      // Over iWARP the call itself waits for the peer: Ctrl-C and the deadline count from the start.
      await this.bounded(name, call, timeoutMs);
      event = await this.#awaited(name, expected, timeoutMs);
    } catch (error) {
      throw this.#failed(name, started, error);
    }
    this.#record(name, started, event, event.status);
    seen(event);
    this.throwIfFailure(event);
    if (event.name === null || !expected.includes(event.name)) throw this.#unexpected(name, event);
    return event;
  }

  /**
   * The result of a call, unless Ctrl-C or its deadline comes first: then it is given up, for nothing stops a call
   * inside C. Throws Failure INTERRUPTED, DeadlineError, and what the call throws.
   */
  async bounded<T>(
    name: string,
    call: () => Promise<T>,
    timeoutMs = (this.settings.timeoutMs ?? CALL_DEADLINE_MS) + GRACE_MS,
  ): Promise<T> {
    const work = call();
    this.#givenUp.add(work);
    const settled = (): void => {
      this.#givenUp.delete(work);
    };
    work.then(settled, settled);
    return orInterrupted(this.environment.signal, name, within(timeoutMs, name, work));
  }

  /** Throws the Failure that an event is, if it is one. */
  throwIfFailure(event: CmEvent): void {
    const failure = cmEventFailure(this.occurrence(event));
    if (failure) throw failure;
  }

  async #awaited(name: string, expected: readonly CmEventName[], timeoutMs: number): Promise<CmEvent> {
    const { signal } = this.environment;
    const until = performance.now() + timeoutMs;
    for (;;) {
      const event = await this.channel.nextEvent(this.id, {
        timeoutMs: Math.max(1, Math.ceil(until - performance.now())),
        signal,
        what: `${name}${this.#peer === null ? '' : ` to ${endpointText(this.#peer)}`}`,
      });
      // Late news of something else do not end the step.
      const isNews = event.name === 'ADDR_CHANGE' || event.name === 'TIMEWAIT_EXIT';
      if (!isNews || expected.includes(event.name)) return event;
    }
  }

  #unexpected(name: string, event: CmEvent): Failure {
    const explained = explainCmEvent(this.occurrence(event));
    return new Failure(
      'CM_EVENT_FAILED',
      `${name}: ${explained.event} came instead: ${explained.meaning}`,
      explained.next,
    );
  }

  #checkInterrupted(name: string): void {
    if (this.environment.signal?.aborted) throw interrupted(name);
  }

  #failed(name: string, started: number, error: unknown): Failure {
    const status = statusOfError(error);
    if (status !== null) this.#record(name, started, null, status);
    const isLate = error instanceof DeadlineError || (error instanceof Failure && error.code === 'TIMED_OUT');
    if (isLate && name === 'connect') {
      const { meaning, cause, next } = explainCmEvent(
        this.occurrence({ event: CmEventType.valueOf('UNREACHABLE'), status: -constants.errno.ETIMEDOUT }),
      );
      const ends = {
        local: this.#local && endpointText(this.#local),
        peer: this.#peer && endpointText(this.#peer),
      };
      const where = connectionText({ ...ends, device: this.#device?.name ?? null });
      return new Failure('TIMED_OUT', `${where}: ${error.message}: ${meaning}`, `likely: ${cause}. ${next}`);
    }
    return callFailed(error, this.#place(name));
  }

  #place(step: string): Place {
    return {
      step,
      portSpace: this.settings.portSpace,
      local: this.#local,
      peer: this.#peer,
      device: this.#device?.name ?? null,
      machine: this.environment.machine,
    };
  }

  #record(step: string, started: number, event: CmEvent | null, status: number): void {
    const name = event ? statusName(this.occurrence(event)) : status === 0 ? null : errnoName(-status);
    this.#steps.push({
      step,
      duration_ms: milliseconds(started),
      event: event && cmEventJson(event.event),
      status,
      status_name: name,
    });
    this.#look();
  }

  /** Takes over what the id knows by now. */
  #look(): void {
    if (this.#id === null || this.#id.state === 'destroyed') return;
    const { local, peer, port } = this.#id.route();
    this.#device = this.#id.device() ?? this.#device;
    if (local !== null) this.#local = local;
    // Before the resolution it is the unspecified address.
    if (peer !== null && peer.port !== 0) this.#peer = peer;
    if (port !== 0) this.#ibPort = port;
  }

  occurrence(event: Pick<CmEvent, 'event' | 'status'>): CmOccurrence {
    return {
      event: event.event,
      status: event.status,
      portSpace: this.settings.portSpace,
      transport: this.transport,
      device: this.#device?.name ?? null,
      local: this.#local && endpointText(this.#local),
      peer: this.#peer && endpointText(this.#peer),
    };
  }

  /** create_id, and the options of the settings. */
  async createId(): Promise<void> {
    const { portSpace, tos, ackTimeout, reuseAddr, afOnly } = this.settings;
    this.#id = await this.step('create_id', () => this.channel.createId(portSpace));
    const set = (step: string, option: { level: number; name: number }, value: Uint8Array): Promise<void> =>
      this.step(step, () => this.id.setOption(option.level, option.name, value));
    const ONE = Uint8Array.of(1, 0, 0, 0);
    if (tos !== null) await set('set_option TOS', CmOption.ID_TOS, Uint8Array.of(tos));
    if (reuseAddr) await set('set_option REUSEADDR', CmOption.ID_REUSEADDR, ONE);
    if (afOnly) await set('set_option AFONLY', CmOption.ID_AFONLY, ONE);
    if (ackTimeout !== null) {
      await set('set_option ACK_TIMEOUT', CmOption.ID_ACK_TIMEOUT, Uint8Array.of(ackTimeout));
    }
  }

  /** bind_addr to an endpoint. */
  async bind(endpoint: Endpoint, defaultPort: number): Promise<void> {
    const address = await this.#resolved(endpoint, defaultPort, null);
    this.#local = address;
    await this.step('bind_addr', () => this.id.bindAddr(address));
  }

  /** resolve_addr and resolve_route, after bind_addr where the settings have an address for it. */
  async resolve(endpoint: Endpoint): Promise<void> {
    const timeoutMs = this.settings.timeoutMs ?? STEP_TIMEOUT_MS;
    await this.resolveAddress(await this.#resolved(endpoint, this.settings.port, null));
    await this.stepUntil('resolve_route', ['ROUTE_RESOLVED'], timeoutMs + GRACE_MS, () =>
      this.id.resolveRoute(timeoutMs),
    );
  }

  /** resolve_addr, after bind_addr where the settings have an address for it. */
  async resolveAddress(peer: SocketAddress): Promise<void> {
    const { bind } = this.settings;
    const timeoutMs = this.settings.timeoutMs ?? STEP_TIMEOUT_MS;
    this.#peer = peer;
    if (bind !== null) {
      const source = await this.#resolved(bind, 0, peer);
      this.#local = source;
      await this.step('bind_addr', () => this.id.bindAddr(source));
    }
    await this.stepUntil('resolve_addr', ['ADDR_RESOLVED'], timeoutMs + GRACE_MS, () =>
      this.id.resolveAddr(null, peer, timeoutMs),
    );
  }

  /** The address of an endpoint. Where it has a name, its look-up is a step. */
  #resolved(endpoint: Endpoint, port: number, like: SocketAddress | null): Promise<SocketAddress> {
    const { machine } = this.environment;
    const timeoutMs = this.settings.timeoutMs ?? CONNECT_TIMEOUT_MS;
    const resolve = () => resolveEndpoint(endpoint, port, machine, timeoutMs, like);
    return isIP(endpoint.host) === 0 ? this.step('getaddrinfo', resolve) : resolve();
  }

  /** The next event of the id while nothing is under way; null when the time is over. Throws Failure INTERRUPTED. */
  async eventWithin(timeoutMs: number, what: string): Promise<CmEvent | null> {
    try {
      return await this.channel.nextEvent(this.id, { timeoutMs, signal: this.environment.signal, what });
    } catch (error) {
      if (error instanceof Failure && error.code === 'TIMED_OUT') return null;
      throw error;
    }
  }

  /** GIDs, P_Key and path records of the id. */
  route(): CmRoute {
    const { sgid, dgid, pkey, paths } = this.id.route();
    return {
      sgid: gidText(sgid),
      dgid: gidText(dgid),
      // The address has none over RoCE; the path always has.
      pkey: `0x${(paths[0]?.pkey ?? pkey).toString(16).padStart(4, '0')}`,
      link_layer: this.#linkLayer(),
      paths: paths.map((path) => ibvSaPathRec.toJson(path)),
    };
  }

  #linkLayer(): string | null {
    if (this.#device === null || this.#ibPort === null) return null;
    const port = `class/infiniband/${this.#device.name}/ports/${this.#ibPort}`;
    return this.environment.machine.sysfs.read(`${port}/link_layer`);
  }

  outcome(): Omit<Outcome, 'error' | 'kernel_commands'> {
    return {
      port_space: PORT_SPACE_WORDS[this.settings.portSpace],
      local: this.#local && addressJson(this.#local),
      peer: this.#peer && addressJson(this.#peer),
      device: this.#device?.name ?? null,
      ib_port: this.#ibPort,
      steps: this.#steps,
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await closeChannel(this.channel, this.#givenUp.size > 0 ? HANGING_CLOSE_DEADLINE_MS : CLOSE_DEADLINE_MS);
  }
}

/** What a step shows of an error: its errno, or the one that says the same; null for a fault of our own. */
function statusOfError(error: unknown): number | null {
  if (error instanceof NativeCallError) return -error.errno;
  if (error instanceof DeadlineError) return -constants.errno.ETIMEDOUT;
  if (!(error instanceof Failure)) return null;
  switch (error.code) {
    case 'TIMED_OUT':
      return -constants.errno.ETIMEDOUT;
    case 'INTERRUPTED':
      return -constants.errno.EINTR;
    case 'UNKNOWN_HOST':
      return -constants.errno.ENOENT;
    default:
      return error.errno === null ? 0 : -error.errno.value;
  }
}

export const addressJson = ({ address, port, scopeId }: SocketAddress): CmAddress => ({
  addr: scopeId === 0 ? address : `${address}%${scopeId}`,
  port,
});
