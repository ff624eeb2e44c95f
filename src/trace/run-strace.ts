/** A program under the system's strace(1), which writes what the program asks of the RDMA devices. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../explain/failure.ts';
import { installCommand } from '../explain/packages.ts';
import { runInTerminal, SignalWatch } from '../processes/child.ts';
import { findExecutable } from '../processes/executable.ts';

const NODES = '/dev/infiniband';
/** strace follows only paths that it is told; a device that comes later gets one of these names. */
const MOST_UMAD_NODES = 32;
/** Longer than any write to the devices but an RMPP message of megabytes, of which the beginning is enough. */
const STRING_LIMIT = 65_536;
const POLL_MS = 20;
/** A shell's exit status for a command that there is not. */
const NOT_FOUND = 127;

/** Calls that matter; those with ? are not on every architecture. */
const CALLS = '?open,openat,?openat2,read,write,ioctl,?poll,ppoll,close';

function tracedPaths(): string[] {
  const present = ((): string[] => {
    try {
      return readdirSync(NODES).filter((name) => /^(umad|issm)\d+$/.test(name));
    } catch {
      return [];
    }
  })();
  const numbered = Array.from({ length: MOST_UMAD_NODES }, (_, number) => [
    `umad${number}`,
    `issm${number}`,
  ]).flat();
  return [...new Set(['rdma_cm', ...present, ...numbered])].map((name) => join(NODES, name));
}

/** What strace says of itself. */
interface Strace {
  readonly file: string;
  /** It can show the program's name beside the pid. */
  readonly hasNames: boolean;
}

/** What a run needs to know of the outside. */
export interface StraceRun {
  readonly command: readonly string[];
  /** os-release's ids, for the name of the package. */
  readonly osIds: () => Promise<readonly string[]>;
  /** The program's stdout: its own, or that of the messages. */
  readonly programOutput: 'stdout' | 'stderr';
  readonly complain: (message: string) => void;
  /** Called with each line of the log as it is written. */
  readonly line: (text: string) => Promise<void>;
  /** Nobody reads the lines any more: the program is told to end. */
  readonly unread: AbortSignal;
}

/**
 * Whom signals are for: strace with a log blocks them, and follows the program's children to their end when the program
 * has gone.
 */
function tracedBy(strace: number, told: ReadonlySet<number>): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const { tracer, parent } = /^\d+$/.test(name) ? relativesOf(name) : NOBODY;
    if (tracer === strace) parents.set(Number(name), parent);
  }
  if (told.size === 0) return [...parents.keys()];
  // One that was told and lives on may start others in its own way; who was left behind has nobody to tell him.
  return [...parents].filter(([pid, parent]) => !told.has(pid) && !parents.has(parent)).map(([pid]) => pid);
}

const NOBODY = { tracer: 0, parent: 0 };

function relativesOf(pid: string): { readonly tracer: number; readonly parent: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)$`, 'm').exec(status)?.[1]);
    return { tracer: field('TracerPid'), parent: field('PPid') };
  } catch {
    return NOBODY;
  }
}

/**
 * Runs the program to its end.
 * @returns its exit status as a shell has it
 * @throws Failure where there is no strace, or it may not trace
 */
export async function runStrace(run: StraceRun): Promise<number> {
  const [program = ''] = run.command;
  const strace = await findStrace(run.osIds);
  if (findExecutable(program) === null) {
    run.complain(`${program}: command not found`);
    return NOT_FOUND;
  }
  const watch = new SignalWatch();
  const stop = (): void => watch.pass('SIGTERM');
  const log = await openLog();
  try {
    const args = [
      ...['-f', '-ttt', '-T', '-xx', '-y', '-s', String(STRING_LIMIT), '-e', `trace=${CALLS}`],
      ...['-e', 'signal=none', '-o', `/proc/${process.pid}/fd/${log.fd}`],
      ...(strace.hasNames ? ['-Y'] : []),
      ...tracedPaths().flatMap((path) => ['-P', path]),
    ];
    let ended = false;
    const status = runInTerminal(
      [strace.file, ...args, '--', ...run.command],
      process.env,
      watch,
      run.complain,
      ['inherit', run.programOutput === 'stdout' ? 'inherit' : 2, 'inherit'],
      tracedBy,
    ).finally(() => {
      ended = true;
    });
    run.unread.addEventListener('abort', stop);
    if (run.unread.aborted) stop();
    await follow(log, run.line, () => ended);
    return await status;
  } finally {
    run.unread.removeEventListener('abort', stop);
    watch.close();
    await log.close();
  }
}

/** A file without a name, which ends with the last process that has it open. */
async function openLog(): Promise<FileHandle> {
  const path = join(tmpdir(), `rdmatool-trace-${randomBytes(8).toString('hex')}`);
  const log = await open(path, 'wx+', 0o600);
  await unlink(path);
  return log;
}

/** Hands over whole lines as they come, until the writer has ended and all is read. */
async function follow(
  log: FileHandle,
  line: (text: string) => Promise<void>,
  isEnded: () => boolean,
): Promise<void> {
  const chunk = Buffer.alloc(1 << 16);
  let position = 0;
  let rest = Buffer.alloc(0);
  for (;;) {
    const wasEnded = isEnded();
    const { bytesRead } = await log.read(chunk, 0, chunk.length, position);
    position += bytesRead;
    if (bytesRead > 0) {
      const text = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      const end = text.lastIndexOf(10) + 1;
      for (const each of text
        .subarray(0, Math.max(0, end - 1))
        .toString('latin1')
        .split('\n')) {
        if (end > 0) await line(each);
      }
      rest = Buffer.from(text.subarray(end));
    } else if (wasEnded) {
      if (rest.length > 0) await line(rest.toString('latin1'));
      return;
    } else {
      await sleep(POLL_MS);
    }
  }
}

async function findStrace(osIds: StraceRun['osIds']): Promise<Strace> {
  const file = findExecutable('strace');
  if (file === null) {
    throw new Failure(
      'NO_STRACE',
      'strace is not installed: trace has it follow the program',
      `${installCommand(await osIds(), 'strace')}; or record elsewhere and read with rdmatool trace --read`,
    );
  }
  // One short run tells what it can do, and whether it may.
  const probe = await outputOf(file, ['-Y', '-e', 'trace=none', '-o', '/dev/null', '/bin/true']);
  if (probe.status === 0) return { file, hasNames: true };
  const plain = await outputOf(file, ['-e', 'trace=none', '-o', '/dev/null', '/bin/true']);
  if (plain.status === 0) return { file, hasNames: false };
  const said = plain.text.trim().split('\n')[0] ?? '';
  throw new Failure(
    'NO_PERMISSION',
    `strace may not trace here: ${said.replace(/^strace: /, '')}`,
    'in a container: docker run --cap-add=SYS_PTRACE; else see kernel.yama.ptrace_scope (sysctl)',
  );
}

const PROBE_DEADLINE_MS = 10_000;

function outputOf(file: string, args: readonly string[]): Promise<{ status: number | null; text: string }> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: PROBE_DEADLINE_MS });
    let text = '';
    child.stderr.on('data', (data: Buffer) => {
      text += data.toString('utf8');
    });
    child.on('error', (error) => resolve({ status: null, text: error.message }));
    child.on('close', (status) => resolve({ status, text }));
  });
}
