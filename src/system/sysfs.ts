import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { orNull } from './attempt.ts';

/** Reading sysfs; every path is relative to its root. */
export interface Sysfs {
  readonly root: string;
  /** The text without its last newline, or null where it cannot be read. */
  read(path: string): string | null;
  /** The same on another thread, for what a driver asks its card for; and where it cannot be read, the errno. */
  readLater(path: string): Promise<SysfsAnswer>;
  /** Names in a directory, in natural order; null where there is none. */
  list(path: string): string[] | null;
  /** The last part of what a symbolic link points to, or null. */
  linkName(path: string): string | null;
}

export type SysfsAnswer = { readonly text: string } | { readonly errno: number };

/** Where sysfs is on every ordinary system. */
export const SYSFS = '/sys';

/**
 * The root that libibverbs uses: SYSFS_PATH, even if it is empty, unless the program runs with another user's
 * rights. (libibverbs, sysfs.c)
 */
export function sysfsRoot(environment: NodeJS.ProcessEnv = process.env): string {
  const moved = process.getuid?.() === process.geteuid?.() ? environment['SYSFS_PATH'] : undefined;
  return (moved ?? SYSFS).replace(/\/+$/, '');
}

/** sysfs through the file system. */
export function openSysfs(root: string = sysfsRoot()): Sysfs {
  return {
    root,
    read: (path) => orNull(() => readFileSync(`${root}/${path}`, 'utf8').replace(/\n$/, '')),
    async readLater(path) {
      try {
        return { text: (await readFile(`${root}/${path}`, 'utf8')).replace(/\n$/, '') };
      } catch (error) {
        const { errno }: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error));
        return { errno: Math.abs(errno ?? 0) };
      }
    },
    list: (path) => orNull(() => readdirSync(`${root}/${path}`).sort(naturalOrder)),
    linkName: (path) => orNull(() => basename(readlinkSync(`${root}/${path}`))),
  };
}

/** Orders names as people count: rdmap9s0 before rdmap16s0. */
export function naturalOrder(a: string, b: string): number {
  const left = a.match(/\d+|\D+/g) ?? [];
  const right = b.match(/\d+|\D+/g) ?? [];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const x = left[i] ?? '';
    const y = right[i] ?? '';
    if (x === y) continue;
    const bothNumbers = /^\d/.test(x) && /^\d/.test(y);
    if (bothNumbers && Number(x) !== Number(y)) return Number(x) - Number(y);
    return x < y ? -1 : 1;
  }
  return left.length - right.length;
}
