/** C programs and libraries for tests, compiled when they are needed. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { COMPILER_FLAGS, INCLUDE_PATH, OTHER_RDMA_CORE, RELEASE } from './generation.ts';
import { testFolder } from './labs.ts';

const COMPILER = process.env['CC'] ?? 'gcc';

/** Another rdma-core's headers, without those of its C library. */
function headers(): string[] {
  if (OTHER_RDMA_CORE === undefined) return [];
  const folder = join(testFolder(), 'include');
  if (!existsSync(folder)) {
    mkdirSync(folder);
    for (const name of ['infiniband', 'rdma']) symlinkSync(join(INCLUDE_PATH, name), join(folder, name));
  }
  return ['-I', folder];
}

/**
 * Compiles C text in the folder of the test file, for the rdma-core that the tests are for: RDMA_CORE is its release.
 * @param output name of the result
 * @returns the result's path
 */
export function compile(output: string, source: string, flags: readonly string[]): string {
  const path = join(testFolder(), output);
  const { status, stderr } = spawnSync(
    COMPILER,
    [
      ...['-std=gnu11', '-Wall', `-DRDMA_CORE=${RELEASE}`, ...headers(), '-o', path],
      ...['-x', 'c', '-', '-x', 'none', ...flags, ...COMPILER_FLAGS],
    ],
    { input: source, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`${COMPILER} ${output}: ${stderr}`);
  return path;
}
