/**
 * Ids and events of the connection manager, with the state of each id kept here: a call in the wrong order is
 * refused, never handed to C, which would crash. One loop takes events for all who wait for them.
 */
import { type CmEventName, CmEventType, type PortSpaceName } from '../abi/rdmacm-codes.ts';
import type { SocketAddress } from '../abi/sockaddr.ts';
import type { ibUverbsQpAttr } from '../abi/verbs-qp.ts';
import { Failure } from '../explain/failure.ts';
import type { Decoded } from '../layout/codec.ts';
import type {
  Backend,
  BackendChannel,
  BackendDevice,
  BackendEvent,
  BackendId,
  ConnectionValues,
  EceValues,
  QueuePairRequest,
  RouteValues,
} from './backend.ts';
import type { DataPath, DataPathRequest } from './data-path.ts';

/** Where an id stands. */
export type CmState =
  | 'created'
  | 'bound'
  | 'resolving address'
  | 'address resolved'
  | 'resolving route'
  | 'route resolved'
  | 'connecting'
  | 'answered'
  | 'connected'
  | 'disconnecting'
  | 'disconnected'
  | 'listening'
  | 'requested'
  | 'accepting'
  | 'rejected'
  | 'failed'
  | 'device removed'
  | 'destroyed';

const LIVE = [
  'created',
  'bound',
  'resolving address',
  'address resolved',
  'resolving route',
  'route resolved',
  'connecting',
  'answered',
  'connected',
  'disconnecting',
  'disconnected',
  'listening',
  'requested',
  'accepting',
  'rejected',
  'failed',
  'device removed',
] as const;

/** In which states each call may be made. */
const ALLOWED = {
  bind_addr: ['created'],
  resolve_addr: ['created', 'bound'],
  resolve_route: ['address resolved'],
  create_qp: ['address resolved', 'route resolved', 'requested'],
  connect: ['route resolved'],
  establish: ['answered'],
  accept: ['requested'],
  reject: ['requested'],
  listen: ['bound'],
  disconnect: ['connected', 'accepting', 'disconnected'],
  init_qp_attr: [
    'address resolved',
    'route resolved',
    'connecting',
    'answered',
    'connected',
    'requested',
    'accepting',
  ],
  notify: ['accepting', 'connected', 'answered'],
  join_multicast: ['bound', 'address resolved', 'route resolved'],
  // Leaving is possible for as long as there is an id: the library looks for the group itself.
  leave_multicast: ['bound', 'address resolved', 'route resolved', 'failed', 'device removed'],
  set_option: [
    'created',
    'bound',
    'resolving address',
    'address resolved',
    'resolving route',
    'route resolved',
    'listening',
    'requested',
    'connected',
  ],
  migrate_id: LIVE,
  destroy_qp: LIVE,
  set_local_ece: LIVE,
  get_remote_ece: LIVE,
  resolve_addrinfo: ['created', 'bound'],
  write_cm_event: LIVE,
  // Of the kernel's own interface, which refuses by itself what cannot be.
  query: LIVE,
  get_option: LIVE,
  resolve_ib_service: LIVE,
} as const satisfies Record<string, readonly CmState[]>;

export type CmOperation = keyof typeof ALLOWED;

/** What an event makes of the state of its id; null leaves it. */
const AFTER_EVENT: Readonly<Record<CmEventName, CmState | null>> = {
  ADDR_RESOLVED: 'address resolved',
  // It can be tried again.
  ADDR_ERROR: 'bound',
  ROUTE_RESOLVED: 'route resolved',
  ROUTE_ERROR: 'address resolved',
  CONNECT_REQUEST: 'requested',
  CONNECT_RESPONSE: 'answered',
  CONNECT_ERROR: 'failed',
  UNREACHABLE: 'failed',
  REJECTED: 'failed',
  ESTABLISHED: 'connected',
  DISCONNECTED: 'disconnected',
  DEVICE_REMOVAL: 'device removed',
  MULTICAST_JOIN: null,
  MULTICAST_ERROR: null,
  ADDR_CHANGE: null,
  TIMEWAIT_EXIT: null,
  ADDRINFO_RESOLVED: null,
  ADDRINFO_ERROR: null,
  USER: null,
  INTERNAL: null,
};

export interface CmEvent extends Omit<BackendEvent, 'id' | 'listener'> {
  readonly id: CmId;
  readonly listener: CmId | null;
  readonly name: CmEventName | null;
}

/** How long to wait, and what for. */
export interface Wait {
  /** null waits until something comes. */
  readonly timeoutMs: number | null;
  readonly signal: AbortSignal | null;
  /** What is waited for, as a message has it. */
  readonly what: string;
}

interface Waiter {
  readonly id: CmId | null;
  readonly signal: AbortSignal | null;
  readonly what: string;
  settle(event: CmEvent): void;
  fail(error: unknown): void;
}

/** The failure of a wait that Ctrl-C ended. */
export const interrupted = (what: string): Failure =>
  new Failure('INTERRUPTED', `interrupted: ${what}`, 'everything was taken down');

/** An event channel. Close it: that destroys its ids, on every path. */
export class CmChannel {
  readonly #ids = new Map<BackendId, CmId>();
  /** Of each id, and of who takes the events of any. */
  readonly #waiters = new Map<CmId | null, Set<Waiter>>();
  /** Signals that are listened to, and how that ends. */
  readonly #heeded = new Map<AbortSignal, () => void>();
  readonly #unclaimed: CmEvent[] = [];
  /** Where ids have gone whose events may still be on their way through this channel. */
  readonly #moved = new WeakMap<BackendId, CmChannel>();
  #pump: Promise<void> | null = null;
  #isTaking = false;
  #closing: Promise<void> | null = null;
  #open = true;

  private constructor(private readonly backend: BackendChannel) {}

  static async open(backend: Backend): Promise<CmChannel> {
    return new CmChannel(await backend.openChannel());
  }

  async createId(portSpace: PortSpaceName): Promise<CmId> {
    if (!this.#open) throw wrongOrder('create_id', 'the event channel is closed');
    return this.#adopt(await this.backend.createId(portSpace), portSpace, 'created');
  }

  #adopt(backend: BackendId, portSpace: PortSpaceName, state: CmState): CmId {
    const known = this.#ids.get(backend);
    if (known) return known;
    const id = new CmId(backend, portSpace, state, this);
    this.#ids.set(backend, id);
    return id;
  }

  /** For the id: it is destroyed. */
  forget(backend: BackendId, id: CmId): void {
    this.#ids.delete(backend);
    this.#takeUnclaimed((event) => event.id === id);
  }

  #takeUnclaimed(belongs: (event: CmEvent) => boolean): CmEvent[] {
    const taken = this.#unclaimed.filter(belongs);
    const kept = this.#unclaimed.filter((event) => !belongs(event));
    this.#unclaimed.splice(0, this.#unclaimed.length, ...kept);
    return taken;
  }

  /** For the id: takes it over from another channel while `call` tells the kernel. */
  async receive(backend: BackendId, id: CmId, from: CmChannel, call: () => Promise<void>): Promise<void> {
    if (!this.#open) throw wrongOrder('migrate_id', 'the event channel is closed');
    // Its events may come here before the call has returned.
    this.#ids.set(backend, id);
    try {
      await call();
    } catch (error) {
      this.#ids.delete(backend);
      throw error;
    }
    from.#ids.delete(backend);
    from.#moved.set(backend, this);
    for (const event of from.#takeUnclaimed((event) => isFor(event, id))) this.#offer(event);
  }

  /** For the id: the channel below. */
  get own(): BackendChannel {
    return this.backend;
  }

  /**
   * The next event of one id (for a listener: its requests too), or of any. Throws Failure: TIMED_OUT,
   * INTERRUPTED.
   */
  nextEvent(id: CmId | null, { timeoutMs, signal, what }: Wait): Promise<CmEvent> {
    if (signal?.aborted) return Promise.reject(interrupted(what));
    if (!this.#open) return Promise.reject(wrongOrder('get_cm_event', 'the event channel is closed'));
    const index = this.#unclaimed.findIndex((event) => isFor(event, id));
    const [ready] = index < 0 ? [] : this.#unclaimed.splice(index, 1);
    if (ready) return Promise.resolve(ready);
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#forgetWaiter(waiter);
        // A pump that waits for an event that nobody wants any more.
        if (this.#waiters.size === 0 && this.#isTaking) this.backend.wake();
      };
      const waiter: Waiter = {
        id,
        signal,
        what,
        settle(event) {
          done();
          resolve(event);
        },
        fail(error) {
          done();
          reject(error);
        },
      };
      const timer =
        timeoutMs === null
          ? undefined
          : setTimeout(
              () =>
                waiter.fail(
                  new Failure(
                    'TIMED_OUT',
                    `${what}: no event within ${timeoutMs} ms`,
                    'raise --timeout; look at the link and at the peer',
                  ),
                ),
              timeoutMs,
            );
      if (signal !== null) this.#heed(signal);
      const others = this.#waiters.get(id);
      if (others) others.add(waiter);
      else this.#waiters.set(id, new Set([waiter]));
      this.#pump ??= this.#takeEvents();
    });
  }

  #forgetWaiter(waiter: Waiter): void {
    const ofId = this.#waiters.get(waiter.id);
    ofId?.delete(waiter);
    if (ofId?.size === 0) this.#waiters.delete(waiter.id);
  }

  #allWaiters(): Waiter[] {
    return [...this.#waiters.values()].flatMap((ofId) => [...ofId]);
  }

  /** Ends the waits of a signal when it aborts: with one listener, however many wait. */
  #heed(signal: AbortSignal): void {
    if (this.#heeded.has(signal)) return;
    const abort = (): void => {
      for (const waiter of this.#allWaiters()) {
        if (waiter.signal === signal) waiter.fail(interrupted(waiter.what));
      }
    };
    signal.addEventListener('abort', abort);
    this.#heeded.set(signal, () => signal.removeEventListener('abort', abort));
  }

  /** Hands out events for as long as somebody waits for one. */
  async #takeEvents(): Promise<void> {
    try {
      while (this.#waiters.size > 0 && this.#open) {
        this.#isTaking = true;
        const event = await this.backend.nextEvent();
        this.#isTaking = false;
        if (event) this.#deliver(event);
      }
    } catch (error) {
      for (const waiter of this.#allWaiters()) waiter.fail(error);
    } finally {
      this.#isTaking = false;
      this.#pump = null;
    }
  }

  #deliver(raw: BackendEvent): void {
    const elsewhere = this.#moved.get(raw.listener ?? raw.id);
    if (elsewhere && !this.#ids.has(raw.listener ?? raw.id)) {
      elsewhere.#deliver(raw);
      return;
    }
    const listener = raw.listener && (this.#ids.get(raw.listener) ?? null);
    const known = this.#ids.get(raw.id);
    // What comes for an id that is being destroyed has no reader; a request brings a new id.
    if (!known && raw.listener === null) return;
    const id = known ?? this.#adopt(raw.id, listener?.portSpace ?? 'TCP', 'requested');
    const name = CmEventType.nameOf(raw.event);
    const event: CmEvent = { ...raw, id, listener, name };
    const state = name && AFTER_EVENT[name];
    if (state) id.advance(state);
    this.#offer(event);
  }

  #offer(event: CmEvent): void {
    const waiters =
      this.#waiters.get(event.id) ??
      (event.listener && this.#waiters.get(event.listener)) ??
      this.#waiters.get(null);
    const [waiter] = waiters ?? [];
    if (waiter) waiter.settle(event);
    else this.#unclaimed.push(event);
  }

  /** Destroys the ids and the channel. Resolves when nothing of it is left in the kernel. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#open = false;
    this.backend.wake();
    const pump = this.#pump;
    for (const waiter of this.#allWaiters())
      waiter.fail(wrongOrder('get_cm_event', 'the channel was closed'));
    for (const end of this.#heeded.values()) end();
    await pump;
    for (const id of [...this.#ids.values()]) await id.destroy();
    await this.backend.close();
  }
}

const isFor = (event: CmEvent, id: CmId | null): boolean =>
  id === null || event.id === id || event.listener === id;

const wrongOrder = (operation: string, state: string): Failure =>
  new Failure(
    'WRONG_ORDER',
    `${operation}: not possible now: ${state}`,
    'an id goes create, bind, resolve address, resolve route, queue pair, connect; or create, bind, listen, accept',
  );

/** One rdma_cm_id. Calls fail with NativeCallError, or Failure WRONG_ORDER before they reach C. */
export class CmId {
  #state: CmState;
  #channel: CmChannel;
  #hasQueuePair = false;
  #destroyed: Promise<void> | null = null;

  constructor(
    private readonly backend: BackendId,
    readonly portSpace: PortSpaceName,
    state: CmState,
    channel: CmChannel,
  ) {
    this.#state = state;
    this.#channel = channel;
  }

  /** The channel that its events come through. */
  get channel(): CmChannel {
    return this.#channel;
  }

  get state(): CmState {
    return this.#state;
  }

  /** A word for this id among those of its channel. */
  get key(): string {
    return this.backend.key;
  }

  get isDatagram(): boolean {
    return this.portSpace === 'UDP' || this.portSpace === 'IPOIB';
  }

  /** For the channel: an event has come. */
  advance(state: CmState): void {
    if (this.#state !== 'destroyed' && this.#state !== 'device removed') this.#state = state;
  }

  #check(operation: CmOperation): void {
    const allowed: readonly CmState[] = ALLOWED[operation];
    if (!allowed.includes(this.#state)) throw wrongOrder(operation, `the id is ${this.#state}`);
  }

  /** Makes a call that puts the id into `during`; a call that fails puts it back. */
  async #move(operation: CmOperation, during: CmState | null, call: () => Promise<void>): Promise<void> {
    this.#check(operation);
    const before = this.#state;
    if (during) this.#state = during;
    try {
      await call();
    } catch (error) {
      // An event may have come in between; it knows better.
      if (during && this.#state === during) this.#state = before;
      throw error;
    }
  }

  route(): RouteValues {
    this.#live();
    return this.backend.route();
  }

  device(): BackendDevice | null {
    this.#live();
    return this.backend.device();
  }

  #live(): void {
    if (this.#state === 'destroyed') throw wrongOrder('query', 'the id is destroyed');
  }

  bindAddr(address: SocketAddress): Promise<void> {
    return this.#move('bind_addr', 'bound', () => this.backend.bindAddr(address));
  }

  /** Ends in ADDR_RESOLVED or ADDR_ERROR. */
  resolveAddr(source: SocketAddress | null, destination: SocketAddress, timeoutMs: number): Promise<void> {
    return this.#move('resolve_addr', 'resolving address', () =>
      this.backend.resolveAddr(source, destination, timeoutMs),
    );
  }

  /** Ends in ROUTE_RESOLVED or ROUTE_ERROR. */
  resolveRoute(timeoutMs: number): Promise<void> {
    return this.#move('resolve_route', 'resolving route', () => this.backend.resolveRoute(timeoutMs));
  }

  /** Resolves with the number of the queue pair. */
  async createQp(request: Omit<QueuePairRequest, 'datagram'>): Promise<number> {
    this.#check('create_qp');
    if (this.#hasQueuePair) throw wrongOrder('create_qp', 'the id has a queue pair');
    const number = await this.backend.createQp({ ...request, datagram: this.isDatagram });
    this.#hasQueuePair = true;
    return number;
  }

  /** A queue pair that data can go over. */
  async createDataPath(request: DataPathRequest): Promise<DataPath> {
    this.#check('create_qp');
    if (this.#hasQueuePair) throw wrongOrder('create_qp', 'the id has a queue pair');
    const path = await this.backend.createDataPath({ ...request, datagram: this.isDatagram });
    this.#hasQueuePair = true;
    return path;
  }

  /** Ends in ESTABLISHED, CONNECT_RESPONSE (without a queue pair), REJECTED, UNREACHABLE or CONNECT_ERROR. */
  connect(values: ConnectionValues, privateData: Uint8Array): Promise<void> {
    return this.#move('connect', 'connecting', () => this.backend.connect(values, privateData));
  }

  /** The third message of a client without a queue pair. */
  async establish(): Promise<void> {
    if (this.#hasQueuePair) throw wrongOrder('establish', 'with a queue pair it happens by itself');
    return this.#move('establish', 'connected', () => this.backend.establish());
  }

  accept(values: ConnectionValues, privateData: Uint8Array): Promise<void> {
    return this.#move('accept', 'accepting', () => this.backend.accept(values, privateData));
  }

  /** @param reason 28, or 35 where the library has it */
  reject(reason: number, privateData: Uint8Array): Promise<void> {
    return this.#move('reject', 'rejected', () => this.backend.reject(reason, privateData));
  }

  listen(backlog: number): Promise<void> {
    return this.#move('listen', 'listening', () => this.backend.listen(backlog));
  }

  /** Ends in DISCONNECTED, once the peer has disconnected too. */
  disconnect(): Promise<void> {
    const during = this.#state === 'disconnected' ? null : 'disconnecting';
    return this.#move('disconnect', during, () => this.backend.disconnect());
  }

  setOption(level: number, name: number, value: Uint8Array): Promise<void> {
    return this.#move('set_option', null, () => this.backend.setOption(level, name, value));
  }

  async initQpAttr(state: number): Promise<Decoded<typeof ibUverbsQpAttr>> {
    this.#check('init_qp_attr');
    return this.backend.initQpAttr(state);
  }

  notify(event: number): Promise<void> {
    return this.#move('notify', null, () => this.backend.notify(event));
  }

  /** Ends in MULTICAST_JOIN or MULTICAST_ERROR. */
  joinMulticast(group: SocketAddress, sendOnly: boolean): Promise<void> {
    return this.#move('join_multicast', null, () => this.backend.joinMulticast(group, sendOnly));
  }

  leaveMulticast(group: SocketAddress): Promise<void> {
    return this.#move('leave_multicast', null, () => this.backend.leaveMulticast(group));
  }

  /** From now on, the events of the id come through another channel; those that nobody took go along. */
  async migrate(channel: CmChannel): Promise<void> {
    this.#check('migrate_id');
    if (channel === this.#channel) return;
    await channel.receive(this.backend, this, this.#channel, () => this.backend.migrate(channel.own));
    this.#channel = channel;
  }

  async destroyQp(): Promise<void> {
    this.#check('destroy_qp');
    if (!this.#hasQueuePair) throw wrongOrder('destroy_qp', 'the id has no queue pair');
    await this.backend.destroyQp();
    this.#hasQueuePair = false;
  }

  /** Options of a vendor's own, which go along with connect or accept; not with a queue pair. */
  async setLocalEce(ece: EceValues): Promise<void> {
    if (this.#hasQueuePair) throw wrongOrder('set_local_ece', 'the id has a queue pair');
    return this.#move('set_local_ece', null, () => this.backend.setLocalEce(ece));
  }

  /** What came with the request or the answer of the peer. */
  async remoteEce(): Promise<EceValues> {
    this.#check('get_remote_ece');
    if (this.#hasQueuePair) throw wrongOrder('get_remote_ece', 'the id has a queue pair');
    return this.backend.remoteEce();
  }

  /** Ends in ADDRINFO_RESOLVED or ADDRINFO_ERROR. */
  resolveAddrinfo(node: string | null, service: string | null): Promise<void> {
    return this.#move('resolve_addrinfo', null, () => this.backend.resolveAddrinfo(node, service));
  }

  /** Puts an event of one's own into the channel. */
  writeCmEvent(event: number, status: number, argument: bigint): Promise<void> {
    return this.#move('write_cm_event', null, () => this.backend.writeCmEvent(event, status, argument));
  }

  /**
   * Makes a call that only some backend has, in the states where the named one may be made.
   * @param during the state until its event comes; a call that fails takes it back
   */
  perform(
    operation: CmOperation,
    during: CmState | null,
    call: (id: BackendId) => Promise<void>,
  ): Promise<void> {
    return this.#move(operation, during, () => call(this.backend));
  }

  /** Frees the id and what it has. May be called any number of times. */
  destroy(): Promise<void> {
    if (this.#destroyed === null) {
      this.#state = 'destroyed';
      this.#destroyed = this.backend.destroy();
      this.#channel.forget(this.backend, this);
    }
    return this.#destroyed;
  }
}
