/** The C compiler of the machine, for the C parts of the labs. */
import { spawn } from 'node:child_process';
import { realpathSync, statSync } from 'node:fs';
import { findExecutable } from '../processes/executable.ts';
import { LabError } from './error.ts';

export interface Compiler {
  readonly file: string;
  readonly args: readonly string[];
  /** Stands for the compiler's version without starting it: another version is another file. */
  readonly identity: string;
}

/**
 * $CC, gcc, cc or clang.
 * @param lab its name, for messages
 * @throws LabError
 */
export function findCompiler(lab: string, environment: NodeJS.ProcessEnv): Compiler {
  const wished = environment['CC']?.trim().split(/\s+/);
  const candidates = [...(wished?.[0] ? [wished] : []), ['gcc'], ['cc'], ['clang']];
  for (const [name = '', ...args] of candidates) {
    const file = findExecutable(name, environment);
    if (file === null) continue;
    const real = realpathSync(file);
    const { size, mtimeMs, ino } = statSync(real);
    return { file, args, identity: [real, size, mtimeMs, ino, ...args].join(' ') };
  }
  throw new LabError(
    'no_compiler',
    `lab ${lab} needs a C compiler: none of ${candidates.map(([name]) => name).join(', ')} is installed`,
    'apt install gcc libc6-dev',
    69,
  );
}

export interface Compilation {
  /** The lab's name, for messages. */
  readonly lab: string;
  readonly flags: readonly string[];
  readonly sources: readonly string[];
  readonly output: string;
}

/** @throws LabError with what the compiler said */
export async function compile(
  compiler: Compiler,
  { lab, flags, sources, output }: Compilation,
  environment: NodeJS.ProcessEnv,
  abort: AbortSignal | undefined,
): Promise<void> {
  // The compiler is not to run inside another lab.
  const { LD_PRELOAD: _, ...outside } = environment;
  const child = spawn(compiler.file, [...compiler.args, ...flags, '-o', output, ...sources], {
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
    `lab ${lab} cannot be compiled: ${compiler.file}: ${failure}`,
    /No such file|not found|cannot find/.test(failure) ? 'apt install gcc libc6-dev linux-libc-dev' : null,
    69,
  );
}
