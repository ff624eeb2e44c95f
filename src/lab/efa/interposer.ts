/** The libraries that are preloaded into programs, compiled once: interpose.c and restart.c. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { arch } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../package-root.ts';
import { cacheDirectory, makeCacheDirectory } from '../cache.ts';
import { compile, findCompiler } from '../compiler.ts';

/** A null pointer is a value that programs do pass, whatever the headers promise the compiler. */
export const COMPILER_FLAGS = [
  '-std=gnu11',
  '-O2',
  '-shared',
  '-fPIC',
  '-fvisibility=hidden',
  '-fno-delete-null-pointer-checks',
];

export const interposerSource = (): string => sourceOf('interpose');

const sourceOf = (name: PreloadName): string => join(packageRoot(), `src/lab/efa/${name}.c`);

type PreloadName = 'interpose' | 'restart';

/** The library that answers in place of the kernel. */
export const interposer = (
  environment: NodeJS.ProcessEnv = process.env,
  abort?: AbortSignal,
): Promise<string> => compiled('interpose', 'lab-efa', environment, abort);

/** The library that starts programs on another C library. */
export const restarter = (
  environment: NodeJS.ProcessEnv = process.env,
  abort?: AbortSignal,
): Promise<string> => compiled('restart', 'lab-efa-restart', environment, abort);

/**
 * The path of a compiled library, from the cache or made now. Several processes may do this at once: each compiles
 * under a name of its own and renames the result.
 */
async function compiled(
  name: PreloadName,
  stem: string,
  environment: NodeJS.ProcessEnv,
  abort: AbortSignal | undefined,
): Promise<string> {
  const source = sourceOf(name);
  const compiler = findCompiler('efa', environment);
  const key = createHash('sha256')
    .update(readFileSync(source))
    .update(COMPILER_FLAGS.join(' '))
    .update(compiler.identity)
    .update(arch())
    .digest('hex')
    .slice(0, 32);
  const directory = cacheDirectory(environment);
  const library = join(directory, `${stem}-${key}.so`);
  if (existsSync(library)) return library;
  makeCacheDirectory(directory);
  const fresh = `${library}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    const job = { lab: 'efa', flags: COMPILER_FLAGS, sources: [source], output: fresh };
    await compile(compiler, job, environment, abort);
    renameSync(fresh, library);
  } finally {
    rmSync(fresh, { force: true });
  }
  return library;
}
