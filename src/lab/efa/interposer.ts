/** The interposed library: interpose.c, compiled once. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { arch } from 'node:os';
import { delimiter, join } from 'node:path';
import { cacheDirectory } from '../cache.ts';
import { LabError } from '../error.ts';
import { packageRoot } from '../package.ts';

/** A null pointer is a value that programs do pass, whatever the headers promise the compiler. */
export const COMPILER_FLAGS = [
  '-std=gnu11',
  '-O2',
  '-shared',
  '-fPIC',
  '-fvisibility=hidden',
  '-fno-delete-null-pointer-checks',
];

export const interposerSource = (): string => join(packageRoot(), 'src/lab/efa/interpose.c');

interface Compiler {
  readonly file: string;
  readonly args: readonly string[];
  /** Stands for the compiler's version without starting it: another version is another file. */
  readonly identity: string;
}

function findCompiler(environment: NodeJS.ProcessEnv): Compiler {
  const wished = environment['CC']?.trim().split(/\s+/);
  const candidates = [...(wished?.[0] ? [wished] : []), ['gcc'], ['cc'], ['clang']];
  for (const [name = '', ...args] of candidates) {
    const file = findExecutable(name, environment['PATH'] ?? '');
    if (file === null) continue;
    const real = realpathSync(file);
    const { size, mtimeMs, ino } = statSync(real);
    return { file, args, identity: [real, size, mtimeMs, ino, ...args].join(' ') };
  }
  throw new LabError(
    'no_compiler',
    `lab efa needs a C compiler: none of ${candidates.map(([name]) => name).join(', ')} is installed`,
    'apt install gcc libc6-dev',
    69,
  );
}

function findExecutable(name: string, path: string): string | null {
  const places = name.includes('/')
    ? [name]
    : path.split(delimiter).map((directory) => join(directory || '.', name));
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

/**
 * The path of the compiled library, from the cache or made now. Several processes may do this at once: each compiles
 * under a name of its own and renames the result.
 */
export async function interposer(
  environment: NodeJS.ProcessEnv = process.env,
  abort?: AbortSignal,
): Promise<string> {
  const compiler = findCompiler(environment);
  const key = createHash('sha256')
    .update(readFileSync(interposerSource()))
    .update(COMPILER_FLAGS.join(' '))
    .update(compiler.identity)
    .update(arch())
    .digest('hex')
    .slice(0, 32);
  const directory = cacheDirectory(environment);
  const library = join(directory, `lab-efa-${key}.so`);
  if (existsSync(library)) return library;
  mkdirSync(directory, { recursive: true });
  const fresh = `${library}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    await compile(compiler, fresh, environment, abort);
    renameSync(fresh, library);
  } finally {
    rmSync(fresh, { force: true });
  }
  return library;
}

async function compile(
  compiler: Compiler,
  output: string,
  environment: NodeJS.ProcessEnv,
  abort: AbortSignal | undefined,
): Promise<void> {
  const args = [...compiler.args, ...COMPILER_FLAGS, '-o', output, interposerSource()];
  // The compiler is not to run inside another lab.
  const { LD_PRELOAD: _, ...outside } = environment;
  const child = spawn(compiler.file, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: outside,
    ...(abort === undefined ? {} : { signal: abort }),
  });
  let messages = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    messages += text;
  });
  const failure = await new Promise<string | null>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code === 0 ? null : messages.trim() || `exit status ${code}`));
  });
  if (failure === null) return;
  throw new LabError(
    'compiler_failed',
    `lab efa cannot be compiled: ${compiler.file}: ${failure}`,
    /No such file|not found/.test(failure) ? 'apt install gcc libc6-dev linux-libc-dev' : null,
    69,
  );
}
