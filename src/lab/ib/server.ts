/** Server processes of a lab that outlive, or must not outlive, the process that starts them. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process, told from a later one with the same number by the moment of its start. */
export interface ServerProcess {
  readonly pid: number;
  /** Clock ticks after boot: field 22 of proc_pid_stat(5). */
  readonly startTime: string;
}

export interface ServerOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly directory: string;
  /** Path that stdin is opened from for reading and writing: a fifo never ends then. */
  readonly input: string | null;
  /** Path that stdout and stderr are appended to. */
  readonly log: string;
  /** setpriv(1), to end the server with this process; null lets it live on. */
  readonly tiedBy: string | null;
}

/** Starts a server in a session of its own, so that Ctrl-C in the terminal does not reach it. */
export async function startServer(
  command: readonly string[],
  options: ServerOptions,
): Promise<ServerProcess> {
  const [file = '', ...args] =
    options.tiedBy === null ? command : [options.tiedBy, '--pdeathsig', 'SIGKILL', ...command];
  const output = openSync(options.log, 'a');
  const input = options.input === null ? null : openSync(options.input, 'r+');
  try {
    const child = spawn(file, args, {
      cwd: options.directory,
      env: options.environment,
      detached: true,
      stdio: [input ?? 'ignore', output, output],
    });
    const pid = await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.on('spawn', () => resolve(child.pid ?? 0));
    });
    child.unref();
    return { pid, startTime: startTimeOf(pid) ?? '' };
  } finally {
    closeSync(output);
    if (input !== null) closeSync(input);
  }
}

/** The start of a process that runs; null where there is none, or only its remains. */
function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

export const isRunning = ({ pid, startTime }: ServerProcess): boolean => startTimeOf(pid) === startTime;

const POLITE_MS = 2000;
const POLL_MS = 10;

/** Ends a server: asked first, then not. */
export async function stopServer(server: ServerProcess): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!isRunning(server)) return;
    try {
      process.kill(server.pid, signal);
    } catch {
      return;
    }
    for (let waited = 0; waited < POLITE_MS && isRunning(server); waited += POLL_MS) await sleep(POLL_MS);
  }
}
