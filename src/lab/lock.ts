/** Locks between processes that the kernel lets go when their holder dies, however it dies. */
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** A lock that this process holds. */
export class Lock {
  readonly #path: string;
  #descriptor: number | null;

  constructor(path: string, descriptor: number) {
    this.#path = path;
    this.#descriptor = descriptor;
  }

  get isReleased(): boolean {
    return this.#descriptor === null;
  }

  /** Removes the file, too. Once is enough. */
  release(): void {
    if (this.#descriptor === null) return;
    rmSync(this.#path, { force: true });
    closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}

const FLOCK_BUSY = 1;

/**
 * The lock that a file stands for, or null where another process holds it. Its directory is made.
 * @param wait until it is free
 */
export async function lockFile(
  path: string,
  { wait = false, abort }: { wait?: boolean; abort?: AbortSignal | undefined } = {},
): Promise<Lock | null> {
  for (;;) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const descriptor = openOrNull(path);
    // The last holder has just removed the directory.
    if (descriptor === null) continue;
    try {
      if (!(await flock(descriptor, wait, abort))) {
        closeSync(descriptor);
        return null;
      }
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    if (isFile(path, descriptor)) {
      return new Lock(path, descriptor);
    }
    // Its last holder removed the file after it was opened here: another process may lock a new one.
    closeSync(descriptor);
  }
}

function openOrNull(path: string): number | null {
  try {
    return openSync(path, 'a', 0o600);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** A lock belongs to the open file, which flock(1) shares with this process. */
function flock(descriptor: number, wait: boolean, abort: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn('flock', ['--exclusive', ...(wait ? [] : ['--nonblock']), '3'], {
      stdio: ['ignore', 'ignore', 'ignore', descriptor],
      ...(abort === undefined ? {} : { signal: abort }),
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      if (code === 0) resolve(true);
      else if (code === FLOCK_BUSY) resolve(false);
      else reject(new Error(`flock ended with ${code}`));
    });
  });
}

function isFile(path: string, descriptor: number): boolean {
  try {
    return statSync(path).ino === fstatSync(descriptor).ino;
  } catch {
    return false;
  }
}
