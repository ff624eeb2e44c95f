/**
 * The C library, as the program's own libraries see it: looked up in the running program, so that what is
 * interposed for libibverbs is interposed here too. Node's fs does not promise that.
 */
import { bytes, s64, u16, u32, u64 } from '../layout/scalar.ts';
import { struct } from '../layout/struct.ts';
import { NativeCallError } from './errors.ts';
import { NativeLibrary } from './library.ts';

/** `struct statx` up to the device numbers; the same on every architecture. statx(2). */
export const statx = struct('statx', {
  stx_mask: u32,
  stx_blksize: u32,
  stx_attributes: u64,
  stx_nlink: u32,
  stx_uid: u32,
  stx_gid: u32,
  stx_mode: u16,
  spare0: bytes(2),
  stx_ino: u64,
  stx_size: u64,
  stx_blocks: u64,
  stx_attributes_mask: u64,
  stx_atime: s64,
  stx_atime_nsec: bytes(8),
  stx_btime: s64,
  stx_btime_nsec: bytes(8),
  stx_ctime: s64,
  stx_ctime_nsec: bytes(8),
  stx_mtime: s64,
  stx_mtime_nsec: bytes(8),
  stx_rdev_major: u32,
  stx_rdev_minor: u32,
});
const STATX_SIZE = 256;
const STATX_BASIC_STATS = 0x7ff;
const AT_FDCWD = -100;
const AT_EACCESS = 0x200;

let library: NativeLibrary | undefined;
function libc(): NativeLibrary {
  library ??= new NativeLibrary(null);
  return library;
}

export interface FileStatus {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly rdevMajor: number;
  readonly rdevMinor: number;
}

/** statx(2). Throws NativeCallError. */
export function fileStatus(path: string): FileStatus {
  const buffer = new Uint8Array(STATX_SIZE);
  const { result, errno } = libc()
    .get<number>('int statx(int dirfd, const char *path, int flags, unsigned int mask, void *buffer)')
    .call(AT_FDCWD, path, 0, STATX_BASIC_STATS, buffer);
  if (result !== 0) throw new NativeCallError('statx', errno);
  const status = statx.decode(buffer);
  return {
    mode: status.stx_mode,
    uid: status.stx_uid,
    gid: status.stx_gid,
    rdevMajor: status.stx_rdev_major,
    rdevMinor: status.stx_rdev_minor,
  };
}

export const R_OK = 4;
export const W_OK = 2;

/** faccessat(2) with the effective user: 0, or the errno. */
export function accessErrno(path: string, mode: number): number {
  const { result, errno } = libc()
    .get<number>('int faccessat(int dirfd, const char *path, int mode, int flags)')
    .call(AT_FDCWD, path, mode, AT_EACCESS);
  return result === 0 ? 0 : errno;
}

const O_RDWR = 2;
const O_CLOEXEC = 0o2000000;

/** open(2) for reading and writing on a thread of the pool, and close(2): 0, or the errno. */
export async function openErrno(path: string): Promise<number> {
  const { result, errno } = await libc()
    .get<number>('int open(const char *path, int flags)')
    .callAsync(path, O_RDWR | O_CLOEXEC);
  if (result < 0) return errno;
  libc().get<number>('int close(int fd)').call(result);
  return 0;
}

/** _exit(2): no handlers, no waiting for threads. */
export function exitNow(status: number): never {
  libc().get<void>('void _exit(int status)').call(status);
  throw new Error('_exit came back');
}
