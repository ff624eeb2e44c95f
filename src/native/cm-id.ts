/** An id of librdmacm: what can be asked of it, in any order that the caller keeps. rdma_cm(7). */
import { ibvSaPathRec, rdmaCmId, rdmaCmJoinMcAttrEx, rdmaConnParam, readPath } from '../abi/rdmacm.ts';
import { JoinMulticastAttr, JoinMulticastFlag } from '../abi/rdmacm-codes.ts';
import { QpType, TransportType } from '../abi/verbs-codes.ts';
import { ibvEce, ibvQpAttr, ibvQpInitAttr, ibvSrqInitAttr } from '../abi/verbs-qp.ts';
import type { Decoded } from '../layout/codec.ts';
import type { Encodable } from '../layout/struct.ts';
import type { CompletionQueues } from './completion-queues.ts';
import { ClosedHandleError, NativeCallError } from './errors.ts';
import { IBV_DEVICE, LIBIBVERBS_SONAME } from './libibverbs.ts';
import {
  type Argument,
  addressOf,
  NativeLibrary,
  type Pointer,
  readBytes,
  readPointer,
  readS32,
} from './library.ts';
import { IBV_QP, VerbsDataPath } from './verbs-data-path.ts';

/** Releases of rdma-core that brought a function; the others have been there always. */
const SINCE: Readonly<Record<string, number>> = {
  rdma_establish: 23,
  rdma_join_multicast_ex: 16,
  rdma_init_qp_attr: 23,
  rdma_reject_ece: 31,
  rdma_set_local_ece: 31,
  rdma_get_remote_ece: 31,
  rdma_resolve_addrinfo: 60,
  rdma_write_cm_event: 60,
};

/** Read one by one: decoding the whole structure costs more than the call that it is for. */
const ID = {
  verbs: BigInt(rdmaCmId.offsetOf('verbs')),
  qp: BigInt(rdmaCmId.offsetOf('qp')),
  qp_type: BigInt(rdmaCmId.offsetOf('qp_type')),
};

const transportOf = (device: Pointer): number => readS32(device + BigInt(IBV_DEVICE.transport_type));

const symbols = new Map<string, string>();
function symbolOf(prototype: string): string {
  let symbol = symbols.get(prototype);
  if (symbol === undefined) {
    symbol = /(\w+)\s*\(/.exec(prototype)?.[1] ?? prototype;
    symbols.set(prototype, symbol);
  }
  return symbol;
}

const IWARP = TransportType.valueOf('IWARP');

/** Parameters of connect and accept, without the private data. */
export type ConnectionParameters = Encodable<
  Omit<Decoded<typeof rdmaConnParam>, 'private_data' | 'private_data_len'>
>;

/** Options of a vendor's own. */
export type Ece = Decoded<typeof ibvEce>;

/** The event channel of an id. */
export interface CmIdChannel {
  readonly pointer: Pointer;
}

/** An rdma_cm_id. Destroy it once; a destroyed one throws ClosedHandleError. */
export class CmIdHandle {
  readonly #id: Pointer;
  readonly #pending = new Set<Promise<unknown>>();
  #open = true;
  #hasSharedReceiveQueue = false;
  #dataPath: VerbsDataPath | null = null;
  /** The ibv_context whose shared completion queue the queue pair uses. */
  #sharedQueueOf: Pointer | null = null;
  /** Groups that have been joined and not left. */
  readonly #groups: Uint8Array[] = [];

  #channel: CmIdChannel;
  /** Whether the id's messages are datagrams: it decides what an event's parameters are. */
  readonly isDatagram: boolean;

  constructor(
    private readonly library: NativeLibrary,
    private readonly queues: CompletionQueues,
    id: Pointer,
    channel: CmIdChannel,
    private readonly forget: () => void,
  ) {
    this.#id = id;
    this.#channel = channel;
    this.isDatagram = readS32(id + ID.qp_type) === QpType.valueOf('UD');
  }

  /** The channel that its events come through. */
  get channel(): CmIdChannel {
    return this.#channel;
  }

  /** As C has it: a call that made one may have come back just now. */
  get #hasQueuePair(): boolean {
    return readPointer(this.#id + ID.qp) !== 0n;
  }

  get #pointer(): Pointer {
    if (!this.#open) throw new ClosedHandleError('the rdma_cm_id has been destroyed');
    return this.#id;
  }

  /** Calls a function of librdmacm that returns 0, or -1 with errno. Throws NativeCallError. */
  async #call(prototype: string, ...args: Argument[]): Promise<void> {
    const symbol = symbolOf(prototype);
    const fn = this.library.get<number>(prototype, SINCE[symbol]);
    // Over iWARP connect waits for the peer.
    const mayWait = symbol === 'rdma_connect' && this.#transport() === IWARP;
    const call = mayWait ? fn.callOnPool(this.#pointer, ...args) : fn.callAsync(this.#pointer, ...args);
    const { result, errno } = await this.#awaited(call);
    if (result !== 0) throw new NativeCallError(symbol, errno);
  }

  /** What destroying the id waits for. */
  async #awaited<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    try {
      return await work;
    } finally {
      this.#pending.delete(work);
    }
  }

  /** The id's members, as they are now. */
  read(): Decoded<typeof rdmaCmId> {
    return rdmaCmId.decode(readBytes(this.#pointer, rdmaCmId.size));
  }

  /** The device that the id is bound to, null before. */
  device(): { readonly name: string; readonly transport: number } | null {
    const device = this.#device();
    if (device === null) return null;
    const name = new NativeLibrary(LIBIBVERBS_SONAME)
      .get<string>('const char *ibv_get_device_name(void *device)')
      .call(device).result;
    return { name, transport: transportOf(device) };
  }

  #device(): Pointer | null {
    const verbs = readPointer(this.#pointer + ID.verbs);
    return verbs === 0n ? null : readPointer(verbs);
  }

  #transport(): number | null {
    const device = this.#device();
    return device === null ? null : transportOf(device);
  }

  /** The path records that the route has. */
  paths(): Decoded<typeof ibvSaPathRec>[] {
    const { path_rec, num_paths } = this.read().route;
    if (path_rec === 0n) return [];
    return Array.from({ length: num_paths }, (_, index) =>
      readPath(readBytes(path_rec + BigInt(index * ibvSaPathRec.size), ibvSaPathRec.size)),
    );
  }

  /** The number of the queue pair, null without one. */
  queuePairNumber(): number | null {
    const qp = readPointer(this.#pointer + ID.qp);
    return qp === 0n ? null : readS32(qp + BigInt(IBV_QP.qp_num)) >>> 0;
  }

  /** @param address a sockaddr */
  bindAddr(address: Uint8Array): Promise<void> {
    return this.#call('int rdma_bind_addr(void *id, void *addr)', address);
  }

  /** Starts the resolution of an address; it ends in an event. */
  resolveAddr(source: Uint8Array | null, destination: Uint8Array, timeoutMs: number): Promise<void> {
    return this.#call(
      'int rdma_resolve_addr(void *id, void *src, void *dst, int timeout_ms)',
      source,
      destination,
      timeoutMs,
    );
  }

  resolveRoute(timeoutMs: number): Promise<void> {
    return this.#call('int rdma_resolve_route(void *id, int timeout_ms)', timeoutMs);
  }

  /**
   * rdma_create_qp(3), in the library's own protection domain and with the completion queue that all queue pairs of
   * the device share here: those of its own would be two more for each, which costs more than the queue pair.
   */
  async createQp(attr: Omit<Encodable<Decoded<typeof ibvQpInitAttr>>, 'send_cq' | 'recv_cq'>): Promise<void> {
    await this.#awaited(this.#createQp(attr));
  }

  async #createQp(attr: Encodable<Decoded<typeof ibvQpInitAttr>>): Promise<void> {
    const context = readPointer(this.#pointer + ID.verbs);
    try {
      // The library says itself that the id is not bound to a device.
      const queue = context === 0n ? 0n : await this.queues.take(context);
      const bytes = ibvQpInitAttr.encode({ ...attr, send_cq: queue, recv_cq: queue });
      await this.#call('int rdma_create_qp(void *id, void *pd, void *attr)', null, bytes);
    } catch (error) {
      if (context !== 0n) await this.queues.giveBack(context);
      throw error;
    }
    this.#sharedQueueOf = context;
  }

  async #destroyQp(): Promise<void> {
    if (this.#hasQueuePair) {
      await this.library.get<void>('void rdma_destroy_qp(void *id)').callAsync(this.#id);
    }
    const context = this.#sharedQueueOf;
    this.#sharedQueueOf = null;
    if (context !== null) await this.queues.giveBack(context);
  }

  /**
   * rdma_create_qp(3) in a protection domain and with a completion queue of its own: a queue pair that data can go
   * over. The id must be bound to a device. Destroying the id closes it.
   */
  async createDataPath(
    attr: Omit<Encodable<Decoded<typeof ibvQpInitAttr>>, 'send_cq' | 'recv_cq'>,
    completions: number,
  ): Promise<VerbsDataPath> {
    const opening = VerbsDataPath.open(readPointer(this.#pointer + ID.verbs), completions, {
      create: async (domain, queue) => {
        const bytes = ibvQpInitAttr.encode({ ...attr, send_cq: queue, recv_cq: queue });
        await this.#call('int rdma_create_qp(void *id, void *pd, void *attr)', domain, bytes);
        return readPointer(this.#pointer + ID.qp);
      },
      destroy: async () => {
        await this.library.get<void>('void rdma_destroy_qp(void *id)').callAsync(this.#id);
      },
    }).then((path) => {
      this.#dataPath = path;
      return path;
    });
    return this.#awaited(opening);
  }

  /** rdma_create_srq(3): a shared receive queue, which the next queue pair of the id uses. */
  async createSrq(attr: Encodable<Decoded<typeof ibvSrqInitAttr>>): Promise<void> {
    await this.#call(
      'int rdma_create_srq(void *id, void *pd, void *attr)',
      null,
      ibvSrqInitAttr.encode(attr),
    );
    this.#hasSharedReceiveQueue = true;
  }

  /** Starts to connect. Over iWARP the call itself waits for the peer. */
  connect(parameters: ConnectionParameters, privateData: Uint8Array): Promise<void> {
    return this.#withParameters('int rdma_connect(void *id, void *param)', parameters, privateData);
  }

  accept(parameters: ConnectionParameters, privateData: Uint8Array): Promise<void> {
    return this.#withParameters('int rdma_accept(void *id, void *param)', parameters, privateData);
  }

  async #withParameters(
    prototype: string,
    parameters: ConnectionParameters,
    privateData: Uint8Array,
  ): Promise<void> {
    const param = rdmaConnParam.encode({
      ...parameters,
      private_data: privateData.length === 0 ? 0n : addressOf(privateData),
      private_data_len: privateData.length,
    });
    await this.#call(prototype, param);
    // The data was read during the call; until here it must not be collected.
    addressOf(privateData.length === 0 ? param : privateData);
  }

  reject(privateData: Uint8Array): Promise<void> {
    return this.#call(
      'int rdma_reject(void *id, void *private_data, uint8_t length)',
      privateData,
      privateData.length,
    );
  }

  /** rdma_reject_ece(3): reason 35 instead of 28. MissingSymbolError before rdma-core 31. */
  rejectEce(privateData: Uint8Array): Promise<void> {
    return this.#call(
      'int rdma_reject_ece(void *id, void *private_data, uint8_t length)',
      privateData,
      privateData.length,
    );
  }

  listen(backlog: number): Promise<void> {
    return this.#call('int rdma_listen(void *id, int backlog)', backlog);
  }

  disconnect(): Promise<void> {
    return this.#call('int rdma_disconnect(void *id)');
  }

  /** The third message of a client without a queue pair. MissingSymbolError before rdma-core 23. */
  establish(): Promise<void> {
    return this.#call('int rdma_establish(void *id)');
  }

  setOption(level: number, name: number, value: Uint8Array): Promise<void> {
    return this.#call(
      'int rdma_set_option(void *id, int level, int optname, void *value, size_t length)',
      level,
      name,
      value,
      value.length,
    );
  }

  /** rdma_init_qp_attr(3). MissingSymbolError before rdma-core 23. */
  async initQpAttr(state: number): Promise<{ attr: Decoded<typeof ibvQpAttr>; mask: number }> {
    const bytes = ibvQpAttr.encode({ qp_state: state });
    const mask = [0];
    await this.#call('int rdma_init_qp_attr(void *id, void *attr, _Out_ int *mask)', bytes, mask);
    return { attr: ibvQpAttr.decode(bytes), mask: (mask[0] ?? 0) >>> 0 };
  }

  /**
   * Starts to join a group; it ends in MULTICAST_JOIN or MULTICAST_ERROR. The id must be bound to a device. Its
   * queue pair, where it has one by then, is attached when the event is taken, unless it only sends.
   * rdma_join_multicast(3), or _ex to send only: MissingSymbolError before rdma-core 16.
   */
  async joinMulticast(group: Uint8Array, sendOnly: boolean): Promise<void> {
    if (sendOnly) {
      const attr = rdmaCmJoinMcAttrEx.encode({
        comp_mask: Number(JoinMulticastAttr.maskOf('ADDRESS') | JoinMulticastAttr.maskOf('JOIN_FLAGS')),
        join_flags: JoinMulticastFlag.valueOf('SENDONLY_FULLMEMBER'),
        addr: addressOf(group),
      });
      await this.#call('int rdma_join_multicast_ex(void *id, void *attr, void *context)', attr, null);
      // Read during the call; until here it must not be collected.
      addressOf(group);
    } else {
      await this.#call('int rdma_join_multicast(void *id, void *addr, void *context)', group, null);
    }
    this.#groups.push(group);
  }

  /** rdma_leave_multicast(3), of a group that was joined with the same bytes. Waits for events under way. */
  async leaveMulticast(group: Uint8Array): Promise<void> {
    await this.#call('int rdma_leave_multicast(void *id, void *addr)', group);
    const index = this.#groups.findIndex((joined) => Buffer.compare(joined, group) === 0);
    if (index >= 0) this.#groups.splice(index, 1);
  }

  /** @param event an ibv_event_type */
  notify(event: number): Promise<void> {
    return this.#call('int rdma_notify(void *id, int event)', event);
  }

  /** rdma_migrate_id(3): from now on, the events of the id come through another channel. */
  async migrate(channel: CmIdChannel): Promise<void> {
    await this.#call('int rdma_migrate_id(void *id, void *channel)', channel.pointer);
    this.#channel = channel;
  }

  /** rdma_set_local_ece(3): goes along with connect or accept. MissingSymbolError before rdma-core 31. */
  setLocalEce(ece: Ece): Promise<void> {
    return this.#call('int rdma_set_local_ece(void *id, void *ece)', ibvEce.encode(ece));
  }

  /** rdma_get_remote_ece(3): what came with the request or the answer. MissingSymbolError before rdma-core 31. */
  async remoteEce(): Promise<Ece> {
    const bytes = new Uint8Array(ibvEce.size);
    await this.#call('int rdma_get_remote_ece(void *id, void *ece)', bytes);
    return ibvEce.decode(bytes);
  }

  /** rdma_resolve_addrinfo(3), which ends in an event. MissingSymbolError before rdma-core 60. */
  resolveAddrinfo(node: string | null, service: string | null): Promise<void> {
    return this.#call(
      'int rdma_resolve_addrinfo(void *id, const char *node, const char *service, const void *hints)',
      node,
      service,
      null,
    );
  }

  /** rdma_write_cm_event(3): an event of one's own. MissingSymbolError before rdma-core 60. */
  writeCmEvent(event: number, status: number, argument: bigint): Promise<void> {
    return this.#call(
      'int rdma_write_cm_event(void *id, int event, int status, uint64_t arg)',
      event,
      status,
      argument,
    );
  }

  /** rdma_destroy_qp(3). */
  async destroyQp(): Promise<void> {
    if (!this.#open) throw new ClosedHandleError('the rdma_cm_id has been destroyed');
    await this.#dataPath?.close();
    this.#dataPath = null;
    await this.#destroyQp();
  }

  /** Frees what the id has, in the order that C wants, and the id. May wait for a call that is under way. */
  async destroy(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await Promise.allSettled([...this.#pending]);
    // First: the kernel keeps a queue pair that is attached to a group.
    for (const group of this.#groups) {
      await this.library
        .get<number>('int rdma_leave_multicast(void *id, void *addr)')
        .callAsync(this.#id, group);
    }
    await this.#dataPath?.close();
    await this.#destroyQp();
    if (this.#hasSharedReceiveQueue) {
      await this.library.get<void>('void rdma_destroy_srq(void *id)').callAsync(this.#id);
    }
    await this.library.get<number>('int rdma_destroy_id(void *id)').callAsync(this.#id);
    this.forget();
  }
}
