/**
 * librdmacm: the RDMA connection manager. rdma_cm(7). Every call that reaches the kernel runs on a thread of the
 * pool. The caller keeps the order of the calls: in the wrong one librdmacm crashes.
 */
import { constants } from 'node:os';
import {
  ibvSaPathRec,
  rdmaAddrinfo,
  rdmaCmEvent,
  rdmaCmId,
  rdmaConnParam,
  rdmaUdParam,
} from '../abi/rdmacm.ts';
import { CmEventType } from '../abi/rdmacm-codes.ts';
import { QpType } from '../abi/verbs-codes.ts';
import { ibvQpAttr, ibvQpInitAttr, ibvSrqInitAttr } from '../abi/verbs-qp.ts';
import type { Decoded } from '../layout/codec.ts';
import type { Encodable } from '../layout/struct.ts';
import { ClosedHandleError, NativeCallError } from './errors.ts';
import { IBV_DEVICE } from './libibverbs.ts';
import {
  type Argument,
  addressOf,
  type LibraryOrigin,
  NativeLibrary,
  type Pointer,
  readBytes,
  readPointer,
  readS32,
  readText,
} from './library.ts';
import { Readiness, setNonBlocking } from './readiness.ts';

export const LIBRDMACM_SONAME = 'librdmacm.so.1';
const LIBIBVERBS_SONAME = 'libibverbs.so.1';

/** Releases of rdma-core that brought a function; the others have been there always. */
const SINCE: Readonly<Record<string, number>> = {
  rdma_establish: 23,
  rdma_init_qp_attr: 23,
  rdma_reject_ece: 31,
};

const { EAGAIN, EINTR } = constants.errno;

/** struct ibv_context begins with the pointer to its ibv_device, struct ibv_qp has its number here. */
const IBV_QP_NUM = 52;

/** Parameters of connect and accept, without the private data. */
export type ConnectionParameters = Encodable<
  Omit<Decoded<typeof rdmaConnParam>, 'private_data' | 'private_data_len'>
>;

/** An event, copied; librdmacm has been told that it is done with. */
export interface NativeCmEvent {
  readonly id: CmIdHandle;
  /** The listening id, for a connection request. */
  readonly listener: CmIdHandle | null;
  readonly event: number;
  readonly status: number;
  /** As the library tells it: over InfiniBand and RoCE padded with zeros to the message's room. */
  readonly privateData: Uint8Array;
  readonly conn: Decoded<typeof rdmaConnParam> | null;
  readonly ud: Decoded<typeof rdmaUdParam> | null;
}

export interface NativeAddrinfo {
  readonly values: Decoded<typeof rdmaAddrinfo>;
  readonly source: Uint8Array | null;
  readonly destination: Uint8Array | null;
  readonly sourceName: string | null;
  readonly destinationName: string | null;
  readonly routeLength: number;
}

/** rdma_getaddrinfo refused: a negative EAI_ code of getaddrinfo(3), or an errno. */
export class AddrinfoError extends Error {
  override readonly name = 'AddrinfoError';
  constructor(
    readonly result: number,
    readonly errno: number,
    readonly reason: string,
  ) {
    super(reason);
  }
}

export class Librdmacm {
  readonly #library = new NativeLibrary(LIBRDMACM_SONAME);

  origin(): LibraryOrigin {
    return this.#library.origin();
  }

  /**
   * rdma_create_event_channel(3). Throws NativeCallError: ENODEV without any RDMA device, ENOENT or EACCES where
   * the node cannot be opened, after up to 10 s.
   */
  async createEventChannel(): Promise<CmEventChannel> {
    const { result, errno } = await this.#library
      .get<Pointer | null>('void *rdma_create_event_channel(void)')
      .callAsync();
    if (!result) throw new NativeCallError('rdma_create_event_channel', errno);
    return new CmEventChannel(this.#library, result);
  }

  /** rdma_getaddrinfo(3). Throws AddrinfoError. */
  async getaddrinfo(
    node: string | null,
    service: string | null,
    hints: Encodable<Decoded<typeof rdmaAddrinfo>>,
  ): Promise<NativeAddrinfo[]> {
    const out: Pointer[] = [0n];
    const { result, errno } = await this.#library
      .get<number>(
        'int rdma_getaddrinfo(const char *node, const char *service, void *hints, _Out_ void **res)',
      )
      .callAsync(node, service, rdmaAddrinfo.encode(hints), out);
    if (result !== 0) throw new AddrinfoError(result, errno, this.#addrinfoReason(result));
    const first = out[0] ?? 0n;
    const found: NativeAddrinfo[] = [];
    for (let at = first; at !== 0n && at !== null; ) {
      const values = rdmaAddrinfo.decode(readBytes(at, rdmaAddrinfo.size));
      const address = (pointer: Pointer, length: number): Uint8Array | null =>
        pointer === 0n ? null : readBytes(pointer, length);
      found.push({
        values,
        source: address(values.ai_src_addr, values.ai_src_len),
        destination: address(values.ai_dst_addr, values.ai_dst_len),
        sourceName: readText(values.ai_src_canonname),
        destinationName: readText(values.ai_dst_canonname),
        routeLength: Number(values.ai_route_len),
      });
      at = values.ai_next;
    }
    if (first) this.#library.get<void>('void rdma_freeaddrinfo(void *res)').call(first);
    return found;
  }

  /** The text of an EAI_ code. */
  #addrinfoReason(code: number): string {
    return new NativeLibrary(null).get<string>('const char *gai_strerror(int code)').call(code).result;
  }
}

/** An event channel with its ids. Close the ids first; a closed channel throws ClosedHandleError. */
export class CmEventChannel {
  readonly #channel: Pointer;
  readonly #readiness: Readiness;
  readonly #ids = new Map<Pointer, CmIdHandle>();
  readonly #creating = new Set<Promise<CmIdHandle>>();
  #open = true;

  constructor(
    private readonly library: NativeLibrary,
    channel: Pointer,
  ) {
    this.#channel = channel;
    const fd = readS32(channel);
    setNonBlocking(fd);
    this.#readiness = new Readiness(fd);
  }

  get pointer(): Pointer {
    if (!this.#open) throw new ClosedHandleError('the event channel has been closed');
    return this.#channel;
  }

  /** rdma_create_id(3). Throws NativeCallError. */
  async createId(portSpace: number): Promise<CmIdHandle> {
    const created = this.#create(portSpace);
    this.#creating.add(created);
    try {
      return await created;
    } finally {
      this.#creating.delete(created);
    }
  }

  async #create(portSpace: number): Promise<CmIdHandle> {
    const out: Pointer[] = [0n];
    const { result, errno } = await this.library
      .get<number>('int rdma_create_id(void *channel, _Out_ void **id, void *context, int ps)')
      .callAsync(this.pointer, out, null, portSpace);
    if (result !== 0) throw new NativeCallError('rdma_create_id', errno);
    return this.#adopt(out[0] ?? 0n);
  }

  #adopt(pointer: Pointer): CmIdHandle {
    const known = this.#ids.get(pointer);
    if (known) return known;
    const handle = new CmIdHandle(this.library, pointer, () => this.#ids.delete(pointer));
    this.#ids.set(pointer, handle);
    return handle;
  }

  /**
   * The next event: rdma_get_cm_event(3), copied, and acknowledged at once. Resolves with null after wake. Where
   * the id has a queue pair, librdmacm itself moves it on while it takes the event.
   */
  async nextEvent(): Promise<NativeCmEvent | null> {
    const get = this.library.get<number>('int rdma_get_cm_event(void *channel, _Out_ void **event)');
    const ack = this.library.get<number>('int rdma_ack_cm_event(void *event)');
    for (;;) {
      const out: Pointer[] = [0n];
      const { result, errno } = await get.callAsync(this.pointer, out);
      if (result === 0) {
        const pointer = out[0] ?? 0n;
        const event = this.#copy(pointer);
        // An event that is not acknowledged makes rdma_destroy_id wait for ever.
        ack.call(pointer);
        return event;
      }
      if (errno !== EAGAIN && errno !== EINTR) throw new NativeCallError('rdma_get_cm_event', errno);
      if (!(await this.#readiness.wait())) return null;
    }
  }

  #copy(pointer: Pointer): NativeCmEvent {
    const raw = rdmaCmEvent.decode(readBytes(pointer, rdmaCmEvent.size));
    const id = this.#adopt(raw.id);
    const listener = raw.listen_id === 0n ? null : this.#adopt(raw.listen_id);
    const isDatagram = id.isDatagram();
    const conn = isDatagram ? null : rdmaConnParam.decode(raw.param);
    const ud = isDatagram ? rdmaUdParam.decode(raw.param) : null;
    // For multicast the pointer is the context of the join, not data.
    const hasData = !(CmEventType.nameOf(raw.event) ?? '').startsWith('MULTICAST');
    const data = conn ?? ud;
    const privateData =
      hasData && data && data.private_data !== 0n
        ? readBytes(data.private_data, data.private_data_len)
        : new Uint8Array();
    return { id, listener, event: raw.event, status: raw.status, privateData, conn, ud };
  }

  /** Ends the wait in nextEvent, or the next one. */
  wake(): void {
    this.#readiness.wake();
  }

  /** rdma_destroy_event_channel(3), after every id has been destroyed. */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#readiness.close();
    // An id that is on its way belongs to this channel too.
    await Promise.allSettled([...this.#creating]);
    for (const id of [...this.#ids.values()]) await id.destroy();
    await this.library.get<void>('void rdma_destroy_event_channel(void *channel)').callAsync(this.#channel);
  }
}

/** An rdma_cm_id. Destroy it once; a destroyed one throws ClosedHandleError. */
export class CmIdHandle {
  readonly #id: Pointer;
  readonly #pending = new Set<Promise<unknown>>();
  #open = true;
  #hasSharedReceiveQueue = false;

  constructor(
    private readonly library: NativeLibrary,
    id: Pointer,
    private readonly forget: () => void,
  ) {
    this.#id = id;
  }

  get #pointer(): Pointer {
    if (!this.#open) throw new ClosedHandleError('the rdma_cm_id has been destroyed');
    return this.#id;
  }

  /** Calls a function of librdmacm that returns 0, or -1 with errno. Throws NativeCallError. */
  async #call(prototype: string, ...args: Argument[]): Promise<void> {
    const symbol = /(\w+)\s*\(/.exec(prototype)?.[1] ?? prototype;
    const call = this.library.get<number>(prototype, SINCE[symbol]).callAsync(this.#pointer, ...args);
    this.#pending.add(call);
    try {
      const { result, errno } = await call;
      if (result !== 0) throw new NativeCallError(symbol, errno);
    } finally {
      this.#pending.delete(call);
    }
  }

  /** The id's members, as they are now. */
  read(): Decoded<typeof rdmaCmId> {
    return rdmaCmId.decode(readBytes(this.#pointer, rdmaCmId.size));
  }

  /** Whether the id's messages are datagrams: it decides what an event's parameters are. */
  isDatagram(): boolean {
    return this.read().qp_type === QpType.valueOf('UD');
  }

  /** The device that the id is bound to, null before. */
  device(): { readonly name: string; readonly transport: number } | null {
    const { verbs } = this.read();
    if (verbs === 0n) return null;
    const device = readPointer(verbs);
    const name = new NativeLibrary(LIBIBVERBS_SONAME)
      .get<string>('const char *ibv_get_device_name(void *device)')
      .call(device).result;
    return { name, transport: readS32(device + BigInt(IBV_DEVICE.transport_type)) };
  }

  /** The path records that the route has. */
  paths(): Decoded<typeof ibvSaPathRec>[] {
    const { path_rec, num_paths } = this.read().route;
    if (path_rec === 0n) return [];
    return Array.from({ length: num_paths }, (_, index) =>
      ibvSaPathRec.decode(readBytes(path_rec + BigInt(index * ibvSaPathRec.size), ibvSaPathRec.size)),
    );
  }

  /** The number of the queue pair, null without one. */
  queuePairNumber(): number | null {
    const { qp } = this.read();
    return qp === 0n ? null : readS32(qp + BigInt(IBV_QP_NUM)) >>> 0;
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

  /** rdma_create_qp(3), in the library's own protection domain and with completion queues of its own. */
  async createQp(attr: Encodable<Decoded<typeof ibvQpInitAttr>>): Promise<Decoded<typeof ibvQpInitAttr>> {
    const bytes = ibvQpInitAttr.encode(attr);
    await this.#call('int rdma_create_qp(void *id, void *pd, void *attr)', null, bytes);
    return ibvQpInitAttr.decode(bytes);
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

  /** @param event an ibv_event_type */
  notify(event: number): Promise<void> {
    return this.#call('int rdma_notify(void *id, int event)', event);
  }

  /** Frees what the id has, in the order that C wants, and the id. May wait for a call that is under way. */
  async destroy(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await Promise.allSettled([...this.#pending]);
    // As C has it: a call that made one may have come back just now.
    if (rdmaCmId.decode(readBytes(this.#id, rdmaCmId.size)).qp !== 0n) {
      await this.library.get<void>('void rdma_destroy_qp(void *id)').callAsync(this.#id);
    }
    if (this.#hasSharedReceiveQueue) {
      await this.library.get<void>('void rdma_destroy_srq(void *id)').callAsync(this.#id);
    }
    await this.library.get<number>('int rdma_destroy_id(void *id)').callAsync(this.#id);
    this.forget();
  }
}
