import { accessSync, constants, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { LabError } from './error.ts';

/** The directory for what the labs build or fetch once: $XDG_CACHE_HOME/rdmatool, else ~/.cache/rdmatool. */
export function cacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_CACHE_HOME'];
  // A relative path there is to be ignored, says the XDG base directory specification.
  return join(base?.startsWith('/') ? base : join(homedir(), '.cache'), 'rdmatool');
}

/** Makes a directory of the cache, with those above it. Throws LabError where this user may not write there. */
export function makeCacheDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new LabError(
      'no_cache',
      `what the lab builds once cannot be kept in ${directory}: ${code ?? String(error)}`,
      'set XDG_CACHE_HOME, or HOME, to a directory that this user may write to',
      77,
    );
  }
}
