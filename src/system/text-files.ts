import { readdirSync, readFileSync } from 'node:fs';
import { orNull } from './attempt.ts';

/** Files outside sysfs: procfs, /etc, /lib/modules. Paths are absolute. */
export interface TextFiles {
  /** The text, or null where there is no such file or it may not be read. */
  read(path: string): string | null;
  /** Names in a directory; null where there is none. */
  list(path: string): string[] | null;
}

/** The files of the running machine. */
export function openTextFiles(): TextFiles {
  return {
    read: (path) => orNull(() => readFileSync(path, 'utf8')),
    list: (path) => orNull(() => readdirSync(path).sort()),
  };
}
