/** Memory that a device may read and write: ibv_reg_mr(3). It neither moves nor is freed before it is deregistered. */
import { ibvMr } from '../abi/verbs-work.ts';
import { ClosedHandleError, NativeCallError } from './errors.ts';
import { bytesAt, NativeLibrary, type Pointer, readBytes } from './library.ts';

const PAGE = 4096;

export class RegisteredMemory {
  readonly lkey: number;
  readonly rkey: number;
  #open = true;

  private constructor(
    private readonly library: NativeLibrary,
    readonly address: Pointer,
    readonly length: number,
    private readonly region: Pointer,
  ) {
    const { lkey, rkey } = ibvMr.decode(readBytes(region, ibvMr.size));
    this.lkey = lkey;
    this.rkey = rkey;
  }

  /**
   * Allocates memory of whole pages, zeroed, and registers it on a thread of the pool. Throws NativeCallError;
   * ENOMEM is mostly the limit of locked memory.
   * @param access bits of AccessFlag
   */
  static async create(
    library: NativeLibrary,
    domain: Pointer,
    length: number,
    access: number,
  ): Promise<RegisteredMemory> {
    const libc = new NativeLibrary(null);
    const out: Pointer[] = [0n];
    const allocated = libc
      .get<number>('int posix_memalign(_Out_ void **memory, size_t alignment, size_t size)')
      .call(out, PAGE, length);
    const address = out[0] ?? 0n;
    if (allocated.result !== 0 || !address) throw new NativeCallError('posix_memalign', allocated.result);
    bytesAt(address, length).fill(0);
    const free = (): void => {
      libc.get<void>('void free(void *memory)').call(address);
    };
    try {
      const { result, errno } = await library
        .get<Pointer | null>('void *ibv_reg_mr(void *pd, void *addr, size_t length, int access)')
        .callAsync(domain, address, length, access);
      if (!result) throw new NativeCallError('ibv_reg_mr', errno);
      return new RegisteredMemory(library, address, length, result);
    } catch (error) {
      free();
      throw error;
    }
  }

  /** The memory itself, not a copy: ask for it again after every wait, a closed one throws ClosedHandleError. */
  get bytes(): Uint8Array {
    if (!this.#open) throw new ClosedHandleError('the memory has been deregistered');
    return bytesAt(this.address, this.length);
  }

  /** Deregisters and frees it, after every queue pair that may use it has been destroyed. */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    const { result } = await this.library
      .get<number>('int ibv_dereg_mr(void *region)')
      .callAsync(this.region);
    // What is still registered may still be written to: then it must not be used for anything else.
    if (result === 0) new NativeLibrary(null).get<void>('void free(void *memory)').call(this.address);
  }
}
