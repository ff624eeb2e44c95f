import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statfsSync,
  unlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TMPFS_MAGIC = 0x01021994;

/**
 * Where temporary trees are made: a file system in memory where there is one, for a tree has thousands of small
 * files; TMPDIR, if it is set, without asking. The path has no character that separates paths in LD_PRELOAD, and is
 * short enough for libibverbs, which cuts paths at 256 bytes.
 */
export function temporaryBase(environment: NodeJS.ProcessEnv = process.env): string {
  const wished = environment['TMPDIR'] ? tmpdir() : isUsableMemory('/dev/shm') ? '/dev/shm' : tmpdir();
  return /^[\w./+@%=,-]{1,80}$/.test(wished) ? wished : '/tmp';
}

function isUsableMemory(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return statfsSync(directory).type === TMPFS_MAGIC;
  } catch {
    return false;
  }
}

const alive = new Set<string>();
let watching = false;

/** A directory of its own, removed at the latest when the process ends by itself. */
export class TemporaryTree {
  readonly path: string;

  /** @param purpose part of the directory's name */
  constructor(purpose: string) {
    if (!watching) {
      watching = true;
      process.on('exit', () => {
        for (const path of alive) removeTree(path);
      });
    }
    this.path = realpathSync(mkdtempSync(join(temporaryBase(), `rdmatool-${purpose}-`)));
    alive.add(this.path);
    // For programs that go on as another user.
    chmodSync(this.path, 0o755);
  }

  /** Removes it; once is enough. */
  remove(): void {
    if (alive.has(this.path)) removeTree(this.path);
    alive.delete(this.path);
  }
}

function removeTree(path: string): void {
  try {
    removeEntries(path);
  } catch {
    // A child that is just ending may still write into the tree.
    rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  }
}

/** What rmSync does, in a third of its time: it asks for the status of each of thousands of files. */
function removeEntries(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inside = `${path}/${entry.name}`;
    if (entry.isDirectory()) removeEntries(inside);
    else unlinkSync(inside);
  }
  rmdirSync(path);
}
