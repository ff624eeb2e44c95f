import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The file that a command's name stands for, or null; a name with a slash is a path. */
export function findExecutable(name: string, environment: NodeJS.ProcessEnv = process.env): string | null {
  const places = name.includes('/')
    ? [name]
    : (environment['PATH'] ?? '').split(delimiter).map((directory) => join(directory || '.', name));
  return places.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
