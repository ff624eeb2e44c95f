/**
 * Descriptors and files through the C library, as other programs of this process would see them: what is interposed
 * for libibumad is interposed here too. open(2), read(2), write(2), ioctl(2), poll(2), readdir(3).
 */
import { constants } from 'node:os';
import { ClosedHandleError, NativeCallError } from './errors.ts';
import { lastErrno, NativeLibrary, type Pointer, readText } from './library.ts';
import { POLLIN, pollFunction, pollfd } from './readiness.ts';

const O_RDONLY = 0;
const O_RDWR = 2;
const O_NONBLOCK = 0o4000;
const O_CLOEXEC = 0o2000000;
const { EAGAIN, EINTR } = constants.errno;
/** sysfs hands out a page at most. */
const MOST_TEXT = 4096;
/** Where the name lies in a `struct dirent` of 64-bit Linux. */
const D_NAME = 19n;

let library: NativeLibrary | undefined;
function libc(): NativeLibrary {
  library ??= new NativeLibrary(null);
  return library;
}

const close = (fd: number): void => {
  libc().get<number>('int close(int fd)').call(fd);
};

/** A device that is open for reading and writing, neither of which waits. Close it once. */
export class Descriptor {
  readonly #read = libc().get<number | bigint>('long read(int fd, void *buffer, size_t size)');
  readonly #write = libc().get<number | bigint>('long write(int fd, void *buffer, size_t size)');
  readonly #poll = pollFunction();
  readonly #wanted: Uint8Array;
  #isOpen = true;

  private constructor(
    private readonly fd: number,
    private readonly path: string,
  ) {
    this.#wanted = pollfd.encode({ fd, events: POLLIN });
  }

  /** Opens the device on a thread of the pool. Throws NativeCallError. */
  static async open(path: string): Promise<Descriptor> {
    const { result, errno } = await libc()
      .get<number>('int open(const char *path, int flags)')
      .callAsync(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (result < 0) throw new NativeCallError('open', errno);
    return new Descriptor(result, path);
  }

  #check(): void {
    if (!this.#isOpen) throw new ClosedHandleError(`${this.path} has been closed`);
  }

  /** Bytes that were read, null where there is nothing. Throws NativeCallError. */
  read(buffer: Uint8Array): number | null {
    this.#check();
    const result = this.#read.raw(this.fd, buffer, buffer.length);
    if (result >= 0) return Number(result);
    const errno = lastErrno();
    // 0: a simulator's way to say it.
    if (errno === EAGAIN || errno === 0) return null;
    throw new NativeCallError('read', errno);
  }

  /** Throws NativeCallError. */
  write(bytes: Uint8Array): void {
    this.#check();
    if (this.#write.raw(this.fd, bytes, bytes.length) < 0) throw new NativeCallError('write', lastErrno());
  }

  /** As write, on a thread of the pool: for what may wait inside the driver. */
  async writeAsync(bytes: Uint8Array): Promise<void> {
    this.#check();
    const { result, errno } = await this.#write.callAsync(this.fd, bytes, bytes.length);
    if (result < 0) throw new NativeCallError('write', errno);
  }

  /** @param argument that the request reads or fills, null for none. Throws NativeCallError. */
  ioctl(request: number, argument: Uint8Array | null): void {
    this.#check();
    const { result, errno } = libc()
      .get<number>('int ioctl(int fd, unsigned long request, void *argument)')
      .call(this.fd, request, argument);
    if (result < 0) throw new NativeCallError('ioctl', errno);
  }

  /** Whether there is something to read, or an error to be read, within the time. Throws NativeCallError. */
  async poll(milliseconds: number): Promise<boolean> {
    this.#check();
    const { result, errno } = await this.#poll.callAsync(this.#wanted, 1, milliseconds);
    if (result < 0 && errno !== EINTR) throw new NativeCallError('poll', errno);
    return result > 0;
  }

  /** As poll, on this thread: for very little time. */
  pollHere(milliseconds: number): boolean {
    this.#check();
    const result = this.#poll.raw(this.#wanted, 1, milliseconds);
    if (result < 0 && lastErrno() !== EINTR) throw new NativeCallError('poll', lastErrno());
    return result > 0;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    close(this.fd);
  }
}

/** The start of a file without its last newline, null where it cannot be read. */
export function readFileText(path: string): string | null {
  const { result: fd } = libc()
    .get<number>('int open(const char *path, int flags)')
    .call(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return null;
  const buffer = Buffer.alloc(MOST_TEXT);
  const { result } = libc()
    .get<number | bigint>('long read(int fd, void *buffer, size_t size)')
    .call(fd, buffer, buffer.length);
  close(fd);
  return result < 0 ? null : buffer.toString('utf8', 0, Number(result)).replace(/\n$/, '');
}

/** The names in a directory, in no order, without `.` and `..`; null where there is none. */
export function directoryNames(path: string): string[] | null {
  const { result: directory } = libc()
    .get<Pointer | number | null>('uintptr_t opendir(const char *path)')
    .call(path);
  if (!directory) return null;
  const readdir = libc().get<Pointer | number>('uintptr_t readdir(uintptr_t directory)');
  const names: string[] = [];
  for (;;) {
    const entry = BigInt(readdir.call(directory).result);
    if (entry === 0n) break;
    const name = readText(entry + D_NAME) ?? '';
    if (name !== '.' && name !== '..') names.push(name);
  }
  libc().get<number>('int closedir(uintptr_t directory)').call(directory);
  return names;
}
