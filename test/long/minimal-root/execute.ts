import { type SpawnOptions, spawn } from 'node:child_process';

export interface Outcome {
  status: number | null;
  output: string;
}

type Options = Pick<SpawnOptions, 'env' | 'signal'>;

/** Runs a command without blocking the test runner; `output` has both streams. `signal` kills it. */
export function execute(command: string, args: readonly string[], options: Options = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...options,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}

/** As `execute`, for a command that has to succeed. */
export async function demand(command: string, args: readonly string[], options?: Options): Promise<string> {
  const { status, output } = await execute(command, args, options);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${output}`);
  return output;
}

/**
 * Runs a command with a process list and mounts of its own. The host never sees the mounts, and the processes
 * end with the command, even when it is killed.
 */
export function executeApart(command: readonly string[], options?: Options): Promise<Outcome> {
  return execute('unshare', ['--mount', '--pid', '--fork', '--kill-child', ...command], options);
}
