import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../roce/tools.ts';

/** Compiles what makes a step slow or fail, and gives its path, which the lab has too. See slow-kernel.c. */
export function buildSlowKernel(): string {
  const folder = join(REPOSITORY, 'node_modules/.cache/rdmatool-tests');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'slow-kernel.so');
  const source = join(import.meta.dirname, 'slow-kernel.c');
  execFileSync(process.env['CC'] ?? 'gcc', [
    ...['-std=gnu11', '-Wall', '-Werror', '-shared', '-fPIC', '-o', path, source, '-ldl'],
  ]);
  return path;
}
