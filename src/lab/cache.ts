import { homedir } from 'node:os';
import { join } from 'node:path';

/** The directory for what the labs build or fetch once: $XDG_CACHE_HOME/rdmatool, else ~/.cache/rdmatool. */
export function cacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_CACHE_HOME'];
  // A relative path there is to be ignored, says the XDG base directory specification.
  return join(base?.startsWith('/') ? base : join(homedir(), '.cache'), 'rdmatool');
}
