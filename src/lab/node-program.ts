import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { findExecutable } from '../processes/executable.ts';

/**
 * The file of the Node that runs this. It is process.execPath, but where Node was started through a dynamic loader by
 * hand: that is then the loader, which cannot start a script.
 */
export function nodeProgram({
  execPath,
  argv0,
  env,
}: Pick<NodeJS.Process, 'execPath' | 'argv0' | 'env'> = process): string {
  if (!/^ld(-linux\S*|-musl\S*|-[\d.]+)?\.so/.test(basename(execPath))) return execPath;
  const found = findExecutable(argv0, env);
  return found === null ? execPath : realpathSync(found);
}
