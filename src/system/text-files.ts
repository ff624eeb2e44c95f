import { readdirSync, readFileSync } from 'node:fs';

/** Files outside sysfs: procfs, /etc, /lib/modules. Paths are absolute. */
export interface TextFiles {
  /** The text, or null where there is no such file or it may not be read. */
  read(path: string): string | null;
  /** Names in a directory; null where there is none. */
  list(path: string): string[] | null;
}

/** The files of the running machine. */
export function openTextFiles(): TextFiles {
  const attempt = <T>(work: () => T): T | null => {
    try {
      return work();
    } catch {
      // What cannot be read is not known: which is an answer.
      return null;
    }
  };
  return {
    read: (path) => attempt(() => readFileSync(path, 'utf8')),
    list: (path) => attempt(() => readdirSync(path).sort()),
  };
}
