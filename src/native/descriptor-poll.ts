/**
 * Waiting for many descriptors on one thread of the pool. The pool has four threads: a wait of its own for each
 * connection would leave none for anything else.
 */
import { closeSync, readSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { NativeCallError } from './errors.ts';
import { NativeLibrary } from './library.ts';
import { EFD_CLOEXEC, EFD_NONBLOCK, POLLIN, pollFunction, pollfd } from './readiness.ts';

const ONE = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0);

interface Waiter {
  readonly fd: number;
  settle(readable: boolean): void;
  fail(error: unknown): void;
}

/** A wait for one descriptor. */
export interface DescriptorWait {
  /** true once it is readable, false after cancel. Rejects with NativeCallError. */
  readonly readable: Promise<boolean>;
  cancel(): void;
}

export class DescriptorPoll {
  readonly #waiters = new Set<Waiter>();
  #waker: number | null = null;
  #running = false;

  /** Waits for a descriptor, which must stay open until the wait is over. Throws NativeCallError. */
  wait(fd: number): DescriptorWait {
    let cancel = (): void => {};
    const readable = new Promise<boolean>((resolve, reject) => {
      const waiter: Waiter = { fd, settle: resolve, fail: reject };
      cancel = () => {
        if (!this.#waiters.delete(waiter)) return;
        resolve(false);
        this.#wake();
      };
      this.#waiters.add(waiter);
    });
    if (this.#running) this.#wake();
    else void this.#run();
    return { readable, cancel };
  }

  #wake(): void {
    if (this.#waker !== null) writeSync(this.#waker, ONE);
  }

  async #run(): Promise<void> {
    this.#running = true;
    const libc = new NativeLibrary(null);
    const poll = pollFunction();
    try {
      const made = libc
        .get<number>('int eventfd(unsigned int initval, int flags)')
        .call(0, EFD_CLOEXEC | EFD_NONBLOCK);
      if (made.result < 0) throw new NativeCallError('eventfd', made.errno);
      this.#waker = made.result;
      while (this.#waiters.size > 0) {
        const waiters = [...this.#waiters];
        const fds = new Uint8Array((waiters.length + 1) * pollfd.size);
        [this.#waker, ...waiters.map(({ fd }) => fd)].forEach((fd, index) => {
          fds.set(pollfd.encode({ fd, events: POLLIN }), index * pollfd.size);
        });
        const { result, errno } = await poll.callAsync(fds, waiters.length + 1, -1);
        if (result < 0 && errno === constants.errno.EINTR) continue;
        if (result < 0) throw new NativeCallError('poll', errno);
        const isReady = (index: number): boolean =>
          pollfd.decode(fds.subarray(index * pollfd.size)).revents !== 0;
        if (isReady(0)) readSync(this.#waker, new Uint8Array(8));
        waiters.forEach((waiter, index) => {
          if (isReady(index + 1) && this.#waiters.delete(waiter)) waiter.settle(true);
        });
      }
    } catch (error) {
      for (const waiter of this.#waiters) waiter.fail(error);
      this.#waiters.clear();
    } finally {
      if (this.#waker !== null) closeSync(this.#waker);
      this.#waker = null;
      this.#running = false;
    }
  }
}
