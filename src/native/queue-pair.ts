/** A queue pair made by libibverbs alone, with a protection domain and queues of its own or with those of another. */
import type { ibvQpAttr } from '../abi/verbs-qp.ts';
import { ibvQpInitAttr, ibvSrqInitAttr, ibvQpAttr as qpAttr } from '../abi/verbs-qp.ts';
import type { Decoded } from '../layout/codec.ts';
import type { Encodable } from '../layout/struct.ts';
import { ClosedHandleError, NativeCallError } from './errors.ts';
import { LIBIBVERBS_SONAME, type VerbsContext } from './libibverbs.ts';
import { type Argument, NativeLibrary, type Pointer, readS32 } from './library.ts';
import { IBV_QP } from './verbs-data-path.ts';

export interface QueuePairOptions {
  /** enum ibv_qp_type. */
  readonly type: number;
  readonly sendRequests: number;
  readonly receiveRequests: number;
  /** Requests of a shared receive queue, null for none. */
  readonly sharedReceiveRequests: number | null;
}

/** Close it once; a closed one throws ClosedHandleError. Failed calls throw NativeCallError. */
export class QueuePair {
  readonly #library = new NativeLibrary(LIBIBVERBS_SONAME);
  readonly #calls = new Set<Promise<unknown>>();
  /** What takes down what has been made, last first. */
  readonly #undo: (() => Promise<unknown>)[] = [];
  #queuePair: Pointer = 0n;
  #closing: Promise<void> | null = null;

  private constructor(readonly options: QueuePairOptions) {}

  /**
   * Makes it in the state RESET, with a protection domain and a completion queue of its own. What has been made is
   * freed where a later step fails.
   */
  static async create(context: VerbsContext, options: QueuePairOptions): Promise<QueuePair> {
    const made = new QueuePair(options);
    try {
      await made.#make(context);
    } catch (error) {
      await made.close();
      throw error;
    }
    return made;
  }

  /** Makes it in the state RESET, with an ibv_pd and an ibv_cq that outlive it. */
  static async createWith(
    domain: Pointer,
    completionQueue: Pointer,
    options: QueuePairOptions,
  ): Promise<QueuePair> {
    const made = new QueuePair(options);
    try {
      await made.#makeWith(domain, completionQueue);
    } catch (error) {
      await made.close();
      throw error;
    }
    return made;
  }

  async #make(context: VerbsContext): Promise<void> {
    const { sendRequests, receiveRequests } = this.options;
    const domain = await this.#object(
      'void *ibv_alloc_pd(void *context)',
      'int ibv_dealloc_pd(void *pd)',
      context.pointer,
    );
    const queue = await this.#object(
      'void *ibv_create_cq(void *context, int entries, void *queue_context, void *channel, int vector)',
      'int ibv_destroy_cq(void *cq)',
      context.pointer,
      sendRequests + receiveRequests,
      null,
      null,
      0,
    );
    await this.#makeWith(domain, queue);
  }

  async #makeWith(domain: Pointer, queue: Pointer): Promise<void> {
    const { type, sendRequests, receiveRequests, sharedReceiveRequests } = this.options;
    const shared =
      sharedReceiveRequests === null
        ? 0n
        : await this.#object(
            'void *ibv_create_srq(void *pd, void *attr)',
            'int ibv_destroy_srq(void *srq)',
            domain,
            ibvSrqInitAttr.encode({ attr: { max_wr: sharedReceiveRequests, max_sge: 1 } }),
          );
    this.#queuePair = await this.#object(
      'void *ibv_create_qp(void *pd, void *attr)',
      'int ibv_destroy_qp(void *qp)',
      domain,
      ibvQpInitAttr.encode({
        send_cq: queue,
        recv_cq: queue,
        srq: shared,
        qp_type: type,
        cap: {
          max_send_wr: sendRequests,
          max_recv_wr: receiveRequests,
          max_send_sge: 1,
          max_recv_sge: 1,
        },
      }),
    );
  }

  async #object(create: string, destroy: string, ...args: Argument[]): Promise<Pointer> {
    const { result, errno } = await this.#library.get<Pointer | null>(create).callAsync(...args);
    if (!result) throw new NativeCallError(/(\w+)\(/.exec(create)?.[1] ?? create, errno);
    this.#undo.push(() => this.#library.get<number>(destroy).callAsync(result));
    return result;
  }

  /** The ibv_qp, for the other files of src/native. */
  get pointer(): Pointer {
    this.#checkOpen();
    return this.#queuePair;
  }

  get number(): number {
    return readS32(this.pointer + BigInt(IBV_QP.qp_num)) >>> 0;
  }

  #checkOpen(): void {
    if (this.#closing !== null) throw new ClosedHandleError('the queue pair has been destroyed');
  }

  /** A call that returns 0 or an errno. */
  async #call(prototype: string, ...args: Argument[]): Promise<void> {
    this.#checkOpen();
    const call = this.#library.get<number>(prototype).callAsync(this.#queuePair, ...args);
    this.#calls.add(call);
    try {
      const { result, errno } = await call;
      if (result === 0) return;
      const symbol = /(\w+)\(/.exec(prototype)?.[1] ?? prototype;
      throw new NativeCallError(symbol, result > 0 ? result : errno);
    } finally {
      this.#calls.delete(call);
    }
  }

  /**
   * ibv_modify_qp(3).
   * @param mask bits of QpAttrMask
   */
  modify(attr: Encodable<Decoded<typeof ibvQpAttr>>, mask: number): Promise<void> {
    return this.#call('int ibv_modify_qp(void *qp, void *attr, int mask)', qpAttr.encode(attr), mask);
  }

  /** ibv_attach_mcast(3): it receives what is sent to the group. */
  attach(gid: Uint8Array, lid: number): Promise<void> {
    return this.#call('int ibv_attach_mcast(void *qp, void *gid, uint16_t lid)', gid, lid);
  }

  detach(gid: Uint8Array, lid: number): Promise<void> {
    return this.#call('int ibv_detach_mcast(void *qp, void *gid, uint16_t lid)', gid, lid);
  }

  /** Frees everything, after the calls under way. May be called any number of times. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.allSettled([...this.#calls]);
    for (const undo of this.#undo.reverse()) await undo();
  }
}
