/** Completion queues that queue pairs share which carry nothing: one a device, for as long as anybody uses it. */
import { NativeCallError } from './errors.ts';
import { LIBIBVERBS_SONAME } from './libibverbs.ts';
import { type Calling, NativeLibrary, type Pointer } from './library.ts';

/** The smallest that every device makes: nothing ever completes. */
const ENTRIES = 4;

interface Shared {
  readonly queue: Promise<Pointer>;
  users: number;
}

export class CompletionQueues {
  readonly #library: NativeLibrary;
  readonly #shared = new Map<Pointer, Shared>();

  constructor(calling: Calling) {
    this.#library = new NativeLibrary(LIBIBVERBS_SONAME, calling);
  }

  /**
   * The queue of a device, made where there is none. Give it back once, when the queue pair is gone, and where this
   * fails.
   * @param context an ibv_context. Throws NativeCallError.
   */
  take(context: Pointer): Promise<Pointer> {
    let shared = this.#shared.get(context);
    if (shared === undefined) {
      shared = { queue: this.#create(context), users: 0 };
      this.#shared.set(context, shared);
    }
    shared.users++;
    return shared.queue;
  }

  /** ibv_destroy_cq(3) when nobody uses it any more. Never throws: what the kernel keeps goes with the process. */
  async giveBack(context: Pointer): Promise<void> {
    const shared = this.#shared.get(context);
    if (shared === undefined || --shared.users > 0) return;
    this.#shared.delete(context);
    const queue = await shared.queue.catch(() => null);
    if (queue !== null) await this.#library.get<number>('int ibv_destroy_cq(void *cq)').callAsync(queue);
  }

  async #create(context: Pointer): Promise<Pointer> {
    const { result, errno } = await this.#library
      .get<Pointer | null>(
        'void *ibv_create_cq(void *context, int entries, void *queue_context, void *channel, int vector)',
      )
      .callAsync(context, ENTRIES, null, null, 0);
    if (!result) throw new NativeCallError('ibv_create_cq', errno);
    return result;
  }
}
