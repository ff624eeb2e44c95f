/** What the tests of the roce lab share: rdmatool in processes of its own, and what such processes leave. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const REPOSITORY = join(import.meta.dirname, '../../..');
const RDMATOOL = join(REPOSITORY, 'bin/rdmatool.js');

export interface Outcome {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: Buffer | string;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** A process that runs. */
export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Resolves when it has written this to stdout, whatever else. */
  said(text: string): Promise<void>;
  readonly outcome: Promise<Outcome>;
}

/** A place of its own for everything but the cache, so that what is left behind can be seen. */
export class Place {
  readonly #base = mkdtempSync(join(tmpdir(), 'rdmatool-test-'));
  readonly runtime = mkdtempSync(join(this.#base, 'run-'));
  readonly temporary = mkdtempSync(join(this.#base, 'tmp-'));
  /** A directory to work in. */
  readonly work = mkdtempSync(join(this.#base, 'work-'));

  /** What is in the runtime and temporary directories. */
  get leftovers(): string[] {
    return [this.runtime, this.temporary].flatMap((directory) =>
      readdirSync(directory, { recursive: true, encoding: 'utf8' }),
    );
  }

  /** Runs rdmatool to its end. */
  rdmatool(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    return this.start([process.execPath, RDMATOOL, ...args], options).outcome;
  }

  /** Runs a command in the lab to its end. */
  inLab(command: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    return this.rdmatool(['lab', 'run', 'roce', '--', ...command], options);
  }

  /** Starts a command in the lab. */
  startInLab(command: readonly string[], options: RunOptions = {}): Running {
    return this.start([process.execPath, RDMATOOL, 'lab', 'run', 'roce', '--', ...command], options);
  }

  start(
    [file = '', ...args]: readonly string[],
    { input = '', env, cwd = REPOSITORY }: RunOptions = {},
  ): Running {
    const child = spawn(file, args, {
      cwd,
      env: { ...process.env, XDG_RUNTIME_DIR: this.runtime, TMPDIR: this.temporary, ...env },
    });
    let stdout = '';
    let stderr = '';
    const waiting = new Map<string, () => void>();
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      for (const [wanted, tell] of waiting) if (stdout.includes(wanted)) tell();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    return {
      child,
      pid: child.pid ?? 0,
      said: (text) =>
        new Promise((resolve, reject) => {
          waiting.set(text, resolve);
          if (stdout.includes(text)) resolve();
          child.on('close', () => reject(new Error(`it ended without saying ${text}: ${stdout}${stderr}`)));
        }),
      outcome: new Promise((resolve, reject) => {
        child.on('error', reject);
        child.on('close', (status, signal) => resolve({ status, signal, stdout, stderr }));
      }),
    };
  }

  remove(): void {
    rmSync(this.#base, { recursive: true, force: true });
  }
}

/** Processes that a process has started. */
export function childrenOf(pid: number | undefined): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid)
    .map(Number);
}

function parentOf(pid: string): number {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return Number.NaN;
  }
}

export const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);
