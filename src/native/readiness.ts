/** Waiting for a descriptor to become readable: on a thread of the pool, or on a thread of its own on that one. */
import { closeSync, readSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { s16, s32 } from '../layout/scalar.ts';
import { struct } from '../layout/struct.ts';
import { ClosedHandleError, NativeCallError } from './errors.ts';
import { type Calling, type NativeFunction, NativeLibrary, type Outcome } from './library.ts';

/** struct pollfd of poll(2), and its one event that is waited for here. */
export const pollfd = struct('pollfd', { fd: s32, events: s16, revents: s16 });
export const POLLIN = 1;
export const EFD_CLOEXEC = 0o2000000;
export const EFD_NONBLOCK = 0o4000;
const F_GETFL = 3;
const F_SETFL = 4;
const O_NONBLOCK = 0o4000;
/** How long a wait `here` may keep its event loop: timers and messages come so much later at most. */
const SLICE_MS = 5;
const ONE = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0);

let library: NativeLibrary | undefined;
function libc(): NativeLibrary {
  library ??= new NativeLibrary(null);
  return library;
}

/** poll(2): the structures, how many of them, and the time in ms, -1 for ever. */
export const pollFunction = (): NativeFunction<number> =>
  libc().get('int poll(void *fds, unsigned long nfds, int timeout)');

/** Makes reads from a descriptor return at once. fcntl(2); throws NativeCallError. */
export function setNonBlocking(fd: number): void {
  const fcntl = libc().get<number>('int fcntl(int fd, int cmd, ...)');
  const flags = fcntl.call(fd, F_GETFL, 'int', 0);
  if (flags.result < 0) throw new NativeCallError('fcntl', flags.errno);
  const set = fcntl.call(fd, F_SETFL, 'int', flags.result | O_NONBLOCK);
  if (set.result < 0) throw new NativeCallError('fcntl', set.errno);
}

/** A wait for one descriptor that can be cut short: poll(2) on it and on an eventfd(2). */
export class Readiness {
  readonly #waker: number;
  #open = true;
  #waiting: Promise<unknown> = Promise.resolve();

  /**
   * @param fd stays the caller's, who closes it after this object
   * @param calling `here` waits on this thread, in slices between turns of its event loop: to send another off and to
   *   hear from it takes longer than most waits
   * Throws NativeCallError.
   */
  constructor(
    private readonly fd: number,
    private readonly calling: Calling = 'pool',
  ) {
    const { result, errno } = libc()
      .get<number>('int eventfd(unsigned int initval, int flags)')
      .call(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (result < 0) throw new NativeCallError('eventfd', errno);
    this.#waker = result;
  }

  /**
   * Resolves with true once the descriptor is readable, with false after wake. For one caller at a time; a wake
   * that finds nobody waiting ends the next wait.
   */
  async wait(): Promise<boolean> {
    if (!this.#open) throw new ClosedHandleError('the descriptor is not waited for any more');
    const fds = new Uint8Array(2 * pollfd.size);
    fds.set(pollfd.encode({ fd: this.fd, events: POLLIN }));
    fds.set(pollfd.encode({ fd: this.#waker, events: POLLIN }), pollfd.size);
    const poll = pollFunction();
    const once = async (): Promise<Outcome<number>> => {
      if (this.calling === 'pool') return poll.callAsync(fds, 2, -1);
      // Whoever got what came last goes on first.
      await turn();
      return poll.call(fds, 2, SLICE_MS);
    };
    for (;;) {
      const polled = once();
      this.#waiting = polled;
      const { result, errno } = await polled;
      if (result === 0 || (result < 0 && errno === constants.errno.EINTR)) continue;
      if (result < 0) throw new NativeCallError('poll', errno);
      const woken = pollfd.decode(fds.subarray(pollfd.size)).revents !== 0;
      if (woken && this.#open) readSync(this.#waker, new Uint8Array(8));
      return !woken;
    }
  }

  /** Ends the wait that is under way, or the next one. */
  wake(): void {
    if (this.#open) writeSync(this.#waker, ONE);
  }

  /** Ends the wait, and resolves when no thread looks at the descriptor any more. */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.wake();
    this.#open = false;
    await this.#waiting.catch(() => undefined);
    closeSync(this.#waker);
  }
}
