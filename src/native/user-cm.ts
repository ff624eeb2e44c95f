/**
 * /dev/infiniband/rdma_cm without a library: open(2), write(2), close(2). Each write runs on a thread of the pool,
 * for some of them wait in the kernel. The descriptor works in the process that opened it only.
 */
import { ClosedHandleError, NativeCallError } from './errors.ts';
import { addressOf, NativeLibrary } from './library.ts';
import { Readiness } from './readiness.ts';

const O_RDWR = 2;
const O_NONBLOCK = 0o4000;
const O_CLOEXEC = 0o2000000;

/** Smaller arrays may lie on the heap of the engine, which moves them. */
const SMALLEST_ROOM = 256;

let library: NativeLibrary | undefined;
function libc(): NativeLibrary {
  library ??= new NativeLibrary(null);
  return library;
}

/** Zeroed memory that the kernel may write to. It does not move, and lives for as long as it is referenced. */
export class Room {
  readonly #memory: Uint8Array;

  constructor(readonly length: number) {
    this.#memory = new Uint8Array(Math.max(length, SMALLEST_ROOM));
  }

  /** Holding these bytes. */
  static of(bytes: Uint8Array): Room {
    const room = new Room(bytes.length);
    room.#memory.set(bytes);
    return room;
  }

  /** A copy of what is there now. */
  bytes(): Uint8Array {
    return this.#memory.slice(0, this.length);
  }

  /** For this file alone. */
  address(): bigint {
    return addressOf(this.#memory);
  }
}

/** A 64-bit field of a message that is to hold the address of a room. */
export interface PlacedRoom {
  /** Bytes from the start of the message. */
  readonly at: number;
  readonly room: Room;
}

/** What a write came back with. */
export interface WriteOutcome {
  /** The bytes as they were written, addresses and all. */
  readonly message: Uint8Array;
  /** Bytes that the kernel took, or -1. */
  readonly result: number;
  readonly errno: number;
}

/** An open descriptor. Close it once; a closed one throws ClosedHandleError. */
export class UserCmNode {
  readonly #fd: number;
  readonly #readiness: Readiness;
  readonly #writes = new Set<Promise<unknown>>();
  #open = true;

  private constructor(fd: number) {
    this.#fd = fd;
    this.#readiness = new Readiness(fd);
  }

  /** open(2), non-blocking. Throws NativeCallError. */
  static async open(path: string): Promise<UserCmNode> {
    const { result, errno } = await libc()
      .get<number>('int open(const char *path, int flags)')
      .callAsync(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (result < 0) throw new NativeCallError('open', errno);
    try {
      return new UserCmNode(result);
    } catch (error) {
      libc().get<number>('int close(int fd)').call(result);
      throw error;
    }
  }

  /** The descriptor's number, for the command that takes an id over from it. */
  get fd(): number {
    if (!this.#open) throw new ClosedHandleError('/dev/infiniband/rdma_cm has been closed');
    return this.#fd;
  }

  /** One write(2). What it says is the caller's to judge; the rooms live at least until it has come back. */
  async write(message: Uint8Array, rooms: readonly PlacedRoom[]): Promise<WriteOutcome> {
    const fd = this.fd;
    const whole = message.slice();
    const view = new DataView(whole.buffer);
    for (const { at, room } of rooms) view.setBigUint64(at, room.address(), true);
    const sent = Room.of(whole);
    const write = libc().get<number | bigint>('long write(int fd, void *bytes, size_t length)');
    const call = write.callAsync(fd, sent.address(), sent.length);
    this.#writes.add(call);
    try {
      const { result, errno } = await call;
      return { message: whole, result: Number(result), errno };
    } finally {
      this.#writes.delete(call);
      // Until here the kernel may have looked there.
      sent.address();
      for (const { room } of rooms) room.address();
    }
  }

  /** Resolves with true when an event is there, with false after wake. One caller at a time. */
  readable(): Promise<boolean> {
    return this.#readiness.wait();
  }

  /** Ends the wait, or the next one. */
  wake(): void {
    this.#readiness.wake();
  }

  /** close(2), when no write is under way any more: the kernel destroys what ids are left. */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#readiness.close();
    await Promise.allSettled([...this.#writes]);
    await libc().get<number>('int close(int fd)').callAsync(this.#fd);
  }
}
