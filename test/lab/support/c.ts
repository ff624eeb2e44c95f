/** C programs and libraries for tests, compiled when they are needed. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { testFolder } from './labs.ts';

const COMPILER = process.env['CC'] ?? 'gcc';

/**
 * Compiles C text in the folder of the test file.
 * @param output name of the result
 * @returns the result's path
 */
export function compile(output: string, source: string, flags: readonly string[]): string {
  const path = join(testFolder(), output);
  const { status, stderr } = spawnSync(
    COMPILER,
    ['-std=gnu11', '-Wall', '-o', path, '-x', 'c', '-', '-x', 'none', ...flags],
    { input: source, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`${COMPILER} ${output}: ${stderr}`);
  return path;
}
