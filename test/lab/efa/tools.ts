/** What the tests of the efa lab share: programs to run in a lab, and ways to read what they print. */
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EfaLab } from '../../../src/lab/efa/lab.ts';
import { temporaryBase } from '../../../src/lab/temporary-tree.ts';

export const REPOSITORY = join(import.meta.dirname, '../../..');
export const RDMATOOL = join(REPOSITORY, 'bin/rdmatool.js');

/** A directory for what a test file builds. */
export class Workshop {
  readonly directory = mkdtempSync(join(tmpdir(), 'rdmatool-test-'));

  /** Compiles C, from a file or given as text; returns the result's path. */
  compile(
    name: string,
    source: { readonly file: string } | { readonly text: string },
    flags: readonly string[],
  ): string {
    const output = join(this.directory, name);
    const isFile = 'file' in source;
    const { status, stderr } = spawnSync(
      'gcc',
      [
        '-O2',
        '-Wall',
        '-Wextra',
        '-x',
        'c',
        '-o',
        output,
        isFile ? source.file : '-',
        '-x',
        'none',
        ...flags,
      ],
      { encoding: 'utf8', input: isFile ? '' : source.text },
    );
    if (status !== 0) throw new Error(`gcc ${name}: ${stderr}`);
    return output;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Runs a program in a lab. */
export function runIn(
  lab: EfaLab,
  command: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): SpawnSyncReturns<string> {
  const [file = '', ...args] = command;
  return spawnSync(file, args, { encoding: 'utf8', env: { ...process.env, ...environment, ...lab.env } });
}

/** Lines of `key value`; a key that comes again has several values. */
export function answers(output: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of output.split('\n')) {
    const space = line.indexOf(' ');
    if (space > 0)
      found.set(line.slice(0, space), [...(found.get(line.slice(0, space)) ?? []), line.slice(space + 1)]);
  }
  return found;
}

/** One device, or one of its ports, as `ibv_devinfo -v` prints it: name to text. */
export type DevinfoLines = ReadonlyMap<string, string>;

export interface DevinfoDevice {
  readonly lines: DevinfoLines;
  readonly ports: readonly DevinfoLines[];
}

/** Reads the output of `ibv_devinfo -v`. */
export function parseDevinfo(output: string): Map<string, DevinfoDevice> {
  const devices = new Map<string, DevinfoDevice>();
  let lines = new Map<string, string>();
  let ports: Map<string, string>[] = [];
  for (const line of output.split('\n')) {
    const [, key, text] = /^\s*([\w[ \]]+):\s*(.*)$/.exec(line) ?? [];
    if (key === undefined || text === undefined) continue;
    if (key === 'hca_id') {
      lines = new Map();
      ports = [];
      devices.set(text, { lines, ports });
    } else if (key === 'port') {
      lines = new Map();
      ports.push(lines);
    } else lines.set(key.replaceAll(' ', ''), text);
  }
  return devices;
}

/** A place for the trees of this test's labs alone, so that they can be counted. */
export class TreePlace {
  readonly directory = mkdtempSync(join(temporaryBase(), 'rdmatool-test-'));
  readonly #before = process.env['TMPDIR'];

  /** Sends the labs of this process, and of its children, there. */
  use(): void {
    // One test goes on as another user.
    chmodSync(this.directory, 0o755);
    process.env['TMPDIR'] = this.directory;
  }

  /** The trees that exist now. */
  trees(): string[] {
    return readdirSync(this.directory);
  }

  remove(): void {
    if (this.#before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = this.#before;
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `rdmatool lab run efa` as a user starts it, in a process of its own. */
export function startLabRun(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  said(text: string): Promise<void>;
  ended: Promise<Ended>;
} {
  const child = spawn(process.execPath, [RDMATOOL, 'lab', 'run', 'efa', ...args], {
    env: { ...process.env, ...environment },
    // A group of its own: what a test does to it must not reach the tests.
    detached: true,
  });
  let stdout = '';
  let stderr = '';
  const waiting: { readonly text: string; readonly resolve: () => void }[] = [];
  const check = () => {
    for (const { text, resolve } of waiting) if ((stdout + stderr).includes(text)) resolve();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    check();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    check();
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (status, signal) => resolve({ status, signal, stdout, stderr }));
  });
  return {
    pid: child.pid ?? 0,
    kill: (signal) => {
      child.kill(signal);
    },
    said: (text) =>
      new Promise((resolve, reject) => {
        waiting.push({ text, resolve });
        check();
        void ended.then(() =>
          reject(new Error(`it ended without ${JSON.stringify(text)}: ${stdout}${stderr}`)),
        );
      }),
    ended,
  };
}
