/**
 * A queue pair with what it needs to carry data: protection domain, completion queue with its channel, memory,
 * address handles. How the queue pair itself is made is the caller's affair (rdma_create_qp, ibv_create_qp).
 */
import { performance } from 'node:perf_hooks';
import { ibvAhAttr } from '../abi/rdmacm.ts';
import type { ibvPortAttr } from '../abi/verbs.ts';
import { AccessFlag } from '../abi/verbs-codes.ts';
import { GRH_BYTES, ibvRecvWr, ibvSendWr, ibvSge, ibvWc, SendFlag } from '../abi/verbs-work.ts';
import type { Decoded } from '../layout/codec.ts';
import type { Encodable } from '../layout/struct.ts';
import { DescriptorPoll } from './descriptor-poll.ts';
import { ClosedHandleError, NativeCallError } from './errors.ts';
import { LIBIBVERBS_SONAME, VerbsContext } from './libibverbs.ts';
import {
  addressOf,
  functionAt,
  NativeLibrary,
  type Pointer,
  prototype,
  readPointer,
  readS32,
} from './library.ts';
import { setNonBlocking } from './readiness.ts';
import { RegisteredMemory } from './registered-memory.ts';

/** Function pointers of `struct ibv_context`, from its start; a C program checks them in the tests. */
export const IBV_CONTEXT_OPS = { poll_cq: 96, req_notify_cq: 104, post_send: 208, post_recv: 216 } as const;
/** Both structures begin with their ibv_context. */
export const IBV_QP = { context: 0, qp_num: 52 } as const;
export const IBV_COMP_CHANNEL = { fd: 8 } as const;

/** Completions taken at once. */
const BATCH = 16;
/** How long to look for a completion before anything else may happen: shorter than a frame of anything. */
const SPIN_MS = 0.05;
/** And how long with the event loop turning, before the thread of the pool waits. */
const TURNING_MS = 0.5;

type OpName = keyof typeof IBV_CONTEXT_OPS;
let opPrototypes: Record<OpName, ReturnType<typeof prototype>> | undefined;
function opPrototype(name: OpName): ReturnType<typeof prototype> {
  opPrototypes ??= {
    poll_cq: prototype('int poll_cq(void *cq, int count, void *completions)'),
    req_notify_cq: prototype('int req_notify_cq(void *cq, int solicited_only)'),
    post_send: prototype('int post_send(void *qp, void *request, _Out_ void **bad)'),
    post_recv: prototype('int post_recv(void *qp, void *request, _Out_ void **bad)'),
  };
  return opPrototypes[name];
}

const waits = new DescriptorPoll();

export type WorkCompletion = Decoded<typeof ibvWc>;

/** A piece of registered memory. */
export interface MemoryPart {
  readonly memory: RegisteredMemory;
  readonly offset: number;
  readonly length: number;
}

export interface SendWork {
  /** Comes back in the completion. */
  readonly id: number;
  readonly opcode: number;
  readonly part: MemoryPart;
  /** Goes with a SEND_WITH_IMM. */
  readonly immediate?: number;
  /** Of an RDMA READ or WRITE. */
  readonly remote?: { readonly address: bigint; readonly rkey: number };
  /** Of a datagram. */
  readonly datagram?: {
    readonly handle: AddressHandle;
    readonly queuePair: number;
    readonly qkey: number;
  };
}

/** How the queue pair comes and goes; `destroy` is called once, after a `create` that succeeded. */
export interface QueuePairMaker {
  create(domain: Pointer, completionQueue: Pointer): Promise<Pointer>;
  destroy(): Promise<void>;
}

/** ibv_ah: where datagrams go. It lives as long as its data path. */
export class AddressHandle {
  constructor(readonly pointer: Pointer) {}
}

/** Close it once; every later call throws ClosedHandleError. Failed calls throw NativeCallError. */
export class VerbsDataPath {
  readonly #library = new NativeLibrary(LIBIBVERBS_SONAME);
  readonly #memory: RegisteredMemory[] = [];
  readonly #handles: AddressHandle[] = [];
  readonly #pending = new Set<Promise<unknown>>();
  readonly #waiting = new Set<() => void>();
  #domain: Pointer | null = null;
  #channel: Pointer | null = null;
  #queue: Pointer | null = null;
  #queuePair: Pointer | null = null;
  #closing: Promise<void> | null = null;

  private constructor(
    private readonly context: Pointer,
    private readonly maker: QueuePairMaker,
  ) {}

  /**
   * Makes everything but memory and address handles; what has been made is freed where a later step fails.
   * @param context an ibv_context, which must stay open until close
   * @param completions room of the completion queue
   */
  static async open(context: Pointer, completions: number, maker: QueuePairMaker): Promise<VerbsDataPath> {
    const path = new VerbsDataPath(context, maker);
    try {
      await path.#make(completions);
    } catch (error) {
      await path.close();
      throw error;
    }
    return path;
  }

  async #make(completions: number): Promise<void> {
    const made = async (text: string, ...args: (Pointer | number | null)[]): Promise<Pointer> => {
      const { result, errno } = await this.#library.get<Pointer | null>(text).callAsync(...args);
      if (!result) throw new NativeCallError(/(\w+)\(/.exec(text)?.[1] ?? text, errno);
      return result;
    };
    const { context } = this;
    this.#domain = await made('void *ibv_alloc_pd(void *context)', context);
    this.#channel = await made('void *ibv_create_comp_channel(void *context)', context);
    setNonBlocking(readS32(this.#channel + BigInt(IBV_COMP_CHANNEL.fd)));
    this.#queue = await made(
      'void *ibv_create_cq(void *context, int entries, void *queue_context, void *channel, int vector)',
      context,
      completions,
      null,
      this.#channel,
      0,
    );
    this.#queuePair = await this.maker.create(this.#domain, this.#queue);
  }

  #checkOpen(): void {
    if (this.#closing !== null) throw new ClosedHandleError('the queue pair has been destroyed');
  }

  /** Keeps close back until the call has ended. */
  async #kept<T>(call: Promise<T>): Promise<T> {
    this.#pending.add(call);
    try {
      return await call;
    } finally {
      this.#pending.delete(call);
    }
  }

  get number(): number {
    this.#checkOpen();
    return this.#queuePair === null ? 0 : readS32(this.#queuePair + BigInt(IBV_QP.qp_num)) >>> 0;
  }

  /** ibv_query_port(3). */
  portAttributes(port: number): Promise<Decoded<typeof ibvPortAttr>> {
    this.#checkOpen();
    const context = new VerbsContext(this.#library, this.context, 'the device');
    return this.#kept(context.queryPort(port)).then(({ attr }) => attr);
  }

  /** Memory of at least one byte. The flags are those of AccessFlag. */
  async registerMemory(length: number, access: readonly AccessName[]): Promise<RegisteredMemory> {
    this.#checkOpen();
    const mask = access.reduce((sum, name) => sum | Number(AccessFlag.maskOf(name)), 0);
    return this.#kept(
      RegisteredMemory.create(this.#library, this.#domain ?? 0n, length, mask).then((memory) => {
        // Known before the call counts as ended: close frees it.
        this.#memory.push(memory);
        return memory;
      }),
    );
  }

  /** Gives up memory before the end; nothing that is under way may use it. */
  async releaseMemory(memory: RegisteredMemory): Promise<void> {
    const index = this.#memory.indexOf(memory);
    if (index < 0) return;
    this.#memory.splice(index, 1);
    await this.#kept(memory.close());
  }

  /** ibv_create_ah(3). On a thread of the pool: over RoCE it may ask for the neighbour. */
  createAddressHandle(attr: Encodable<Decoded<typeof ibvAhAttr>>): Promise<AddressHandle> {
    return this.#addressHandle('void *ibv_create_ah(void *pd, void *attr)', ibvAhAttr.encode(attr));
  }

  /**
   * ibv_create_ah_from_wc(3): to whoever sent the datagram.
   * @param header the first 40 bytes of its buffer
   */
  answerHandle(completion: WorkCompletion, header: Uint8Array, port: number): Promise<AddressHandle> {
    return this.#addressHandle(
      'void *ibv_create_ah_from_wc(void *pd, void *completion, void *grh, uint8_t port)',
      ibvWc.encode(completion),
      header.slice(0, GRH_BYTES),
      port,
    );
  }

  #addressHandle(text: string, ...args: (Uint8Array | number)[]): Promise<AddressHandle> {
    this.#checkOpen();
    const call = this.#library.get<Pointer | null>(text).callAsync(this.#domain, ...args);
    return this.#kept(
      call.then(({ result, errno }) => {
        if (!result) throw new NativeCallError(/\*(\w+)\(/.exec(text)?.[1] ?? text, errno);
        const handle = new AddressHandle(result);
        this.#handles.push(handle);
        return handle;
      }),
    );
  }

  /** ibv_post_recv(3). */
  postReceive(id: number, part: MemoryPart): void {
    const list = sgeOf(part);
    const request = ibvRecvWr.encode({ wr_id: BigInt(id), sg_list: addressOf(list), num_sge: 1 });
    this.#post('post_recv', request, list);
  }

  /** ibv_post_send(3); every request is signaled: it gives a completion. */
  postSend({ id, opcode, part, immediate, remote, datagram }: SendWork): void {
    const list = sgeOf(part);
    const request = ibvSendWr.encode({
      wr_id: BigInt(id),
      sg_list: addressOf(list),
      num_sge: 1,
      opcode,
      send_flags: SIGNALED,
      imm_data: immediate ?? 0,
      ...(remote && { wr: { rdma: { remote_addr: remote.address, rkey: remote.rkey } } }),
      ...(datagram && {
        wr: {
          ud: {
            ah: datagram.handle.pointer,
            remote_qpn: datagram.queuePair,
            remote_qkey: datagram.qkey,
          },
        },
      }),
    });
    this.#post('post_send', request, list);
  }

  #post(name: 'post_send' | 'post_recv', request: Uint8Array, list: Uint8Array): void {
    this.#checkOpen();
    const bad: Pointer[] = [0n];
    const { result } = this.#op(name).call(this.#queuePair, request, bad);
    // The list is read during the call; until here it must not be collected.
    addressOf(list);
    if (result !== 0) throw new NativeCallError(`ibv_${name}`, Math.abs(result));
  }

  #op(name: OpName) {
    const address = readPointer(this.context + BigInt(IBV_CONTEXT_OPS[name]));
    return functionAt<number>(address, opPrototype(name));
  }

  /** ibv_poll_cq(3): what has ended by now. */
  poll(): WorkCompletion[] {
    this.#checkOpen();
    const bytes = new Uint8Array(BATCH * ibvWc.size);
    const { result } = this.#op('poll_cq').call(this.#queue, BATCH, bytes);
    if (result < 0) throw new NativeCallError('ibv_poll_cq', Math.abs(result));
    return Array.from({ length: result }, (_, index) =>
      ibvWc.decode(bytes.subarray(index * ibvWc.size, (index + 1) * ibvWc.size)),
    );
  }

  /**
   * The next completions: at once where there are some, after a short look for them, or when the completion
   * channel tells of one. None when the time is over, the signal aborts, or the data path is closed.
   */
  async completions(timeoutMs: number, signal: AbortSignal): Promise<WorkCompletion[]> {
    const started = performance.now();
    const until = started + timeoutMs;
    const isOver = (): boolean => signal.aborted || this.#closing !== null || performance.now() >= until;
    do {
      const found = this.poll();
      if (found.length > 0) return found;
    } while (performance.now() - started < SPIN_MS);
    while (!isOver() && performance.now() - started < TURNING_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#closing !== null) return [];
      const found = this.poll();
      if (found.length > 0) return found;
    }
    while (!isOver()) {
      const { result } = this.#op('req_notify_cq').call(this.#queue, 0);
      if (result !== 0) throw new NativeCallError('ibv_req_notify_cq', Math.abs(result));
      // One that came before the queue was armed gives no event.
      const found = this.poll();
      if (found.length > 0) return found;
      await this.#kept(this.#channelReadable(until - performance.now(), signal));
      if (this.#closing !== null) return [];
      const late = this.poll();
      if (late.length > 0) return late;
    }
    return [];
  }

  /** Waits for the completion channel, and takes what is in it. */
  async #channelReadable(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const channel = this.#channel ?? 0n;
    const wait = waits.wait(readS32(channel + BigInt(IBV_COMP_CHANNEL.fd)));
    const timer = setTimeout(wait.cancel, Math.min(Math.max(timeoutMs, 0), 2 ** 31 - 1));
    signal.addEventListener('abort', wait.cancel);
    this.#waiting.add(wait.cancel);
    try {
      if (!(await wait.readable)) return;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', wait.cancel);
      this.#waiting.delete(wait.cancel);
    }
    const get = this.#library.get<number>(
      'int ibv_get_cq_event(void *channel, _Out_ void **queue, _Out_ void **queue_context)',
    );
    const ack = this.#library.get<void>('void ibv_ack_cq_events(void *queue, unsigned int count)');
    const queue: Pointer[] = [0n];
    // The descriptor does not block: it ends with EAGAIN. What is not acknowledged makes ibv_destroy_cq wait.
    while (get.call(channel, queue, [0n]).result === 0) ack.call(queue[0] ?? 0n, 1);
  }

  /** Destroys the queue pair first, then what it has used, the protection domain last. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const cancel of this.#waiting) cancel();
    await Promise.allSettled([...this.#pending]);
    const destroy = (text: string, pointer: Pointer | null): Promise<unknown> =>
      pointer === null ? Promise.resolve() : this.#library.get<number>(text).callAsync(pointer);
    // The queue pair goes before the handles: what is being sent uses them.
    if (this.#queuePair !== null) await this.maker.destroy();
    for (const { pointer } of this.#handles) await destroy('int ibv_destroy_ah(void *handle)', pointer);
    await destroy('int ibv_destroy_cq(void *queue)', this.#queue);
    await destroy('int ibv_destroy_comp_channel(void *channel)', this.#channel);
    for (const memory of this.#memory) await memory.close();
    await destroy('int ibv_dealloc_pd(void *domain)', this.#domain);
  }
}

/** Names of AccessFlag. */
export type AccessName = Parameters<typeof AccessFlag.maskOf>[0];

const SIGNALED = Number(SendFlag.maskOf('SIGNALED'));

/** Throws ClosedHandleError for memory that has been given up. */
function sgeOf({ memory, offset, length }: MemoryPart): Uint8Array {
  if (offset < 0 || length < 0 || offset + length > memory.bytes.length) {
    throw new RangeError(`${length} bytes at ${offset} are not within ${memory.length} bytes of memory`);
  }
  return ibvSge.encode({ addr: memory.address + BigInt(offset), length, lkey: memory.lkey });
}
