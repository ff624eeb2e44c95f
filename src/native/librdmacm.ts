/**
 * librdmacm: the RDMA connection manager. rdma_cm(7). Every call that reaches the kernel runs on a thread of the
 * pool. The caller keeps the order of the calls: in the wrong one librdmacm crashes.
 */
import { constants } from 'node:os';
import { rdmaAddrinfo, rdmaCmEvent, rdmaConnParam, rdmaUdParam } from '../abi/rdmacm.ts';
import { type CmEventName, CmEventType } from '../abi/rdmacm-codes.ts';
import type { Decoded } from '../layout/codec.ts';
import type { Encodable } from '../layout/struct.ts';
import { CmIdHandle } from './cm-id.ts';
import { CompletionQueues } from './completion-queues.ts';
import { ClosedHandleError, NativeCallError } from './errors.ts';
import {
  type Calling,
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

/** Read one by one: decoding the whole structure costs more than all else that an event costs. */
const EVENT = {
  id: BigInt(rdmaCmEvent.offsetOf('id')),
  listen_id: BigInt(rdmaCmEvent.offsetOf('listen_id')),
  event: BigInt(rdmaCmEvent.offsetOf('event')),
  status: BigInt(rdmaCmEvent.offsetOf('status')),
  param: BigInt(rdmaCmEvent.offsetOf('param')),
};
/** Events that carry neither parameters nor data. */
const WITHOUT_PARAMETERS: ReadonlySet<CmEventName> = new Set([
  'ADDR_RESOLVED',
  'ADDR_ERROR',
  'ROUTE_RESOLVED',
  'ROUTE_ERROR',
  'DISCONNECTED',
  'DEVICE_REMOVAL',
  'ADDR_CHANGE',
  'TIMEWAIT_EXIT',
]);
const NO_DATA = new Uint8Array();

const { EAGAIN, EINTR } = constants.errno;

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
  readonly #library: NativeLibrary;
  /** The ids of all channels: an id may move from one to another while events of it are on their way. */
  readonly #ids = new Map<Pointer, CmIdHandle>();
  readonly #queues: CompletionQueues;

  /** @param calling `here` for a thread of its own, which may wait. Throws MissingLibraryError. */
  constructor(calling: Calling = 'pool') {
    this.#library = new NativeLibrary(LIBRDMACM_SONAME, calling);
    this.#queues = new CompletionQueues(calling);
  }

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
    return new CmEventChannel(this.#library, result, this.#ids, this.#queues);
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
  readonly #creating = new Set<Promise<CmIdHandle>>();
  #open = true;

  constructor(
    private readonly library: NativeLibrary,
    channel: Pointer,
    private readonly ids: Map<Pointer, CmIdHandle>,
    private readonly queues: CompletionQueues,
  ) {
    this.#channel = channel;
    const fd = readS32(channel);
    setNonBlocking(fd);
    this.#readiness = new Readiness(fd, library.calling);
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
    const known = this.ids.get(pointer);
    if (known) return known;
    const handle = new CmIdHandle(this.library, this.queues, pointer, this, () => this.ids.delete(pointer));
    this.ids.set(pointer, handle);
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
    const event = readS32(pointer + EVENT.event);
    const status = readS32(pointer + EVENT.status);
    const id = this.#adopt(readPointer(pointer + EVENT.id));
    const listening = readPointer(pointer + EVENT.listen_id);
    const listener = listening === 0n ? null : this.#adopt(listening);
    const nothing = { id, listener, event, status, privateData: NO_DATA, conn: null, ud: null };
    const name = CmEventType.nameOf(event);
    if (name !== null && WITHOUT_PARAMETERS.has(name)) return nothing;
    const param = readBytes(pointer + EVENT.param, rdmaUdParam.size);
    const conn = id.isDatagram ? null : rdmaConnParam.decode(param);
    const ud = id.isDatagram ? rdmaUdParam.decode(param) : null;
    const data = conn ?? ud;
    // For multicast the pointer is the context of the join, not data.
    const hasData = name?.startsWith('MULTICAST') !== true && data !== null && data.private_data !== 0n;
    const privateData = hasData ? readBytes(data.private_data, data.private_data_len) : NO_DATA;
    return { ...nothing, privateData, conn, ud };
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
    for (const id of [...this.ids.values()]) if (id.channel === this) await id.destroy();
    await this.library.get<void>('void rdma_destroy_event_channel(void *channel)').callAsync(this.#channel);
  }
}
