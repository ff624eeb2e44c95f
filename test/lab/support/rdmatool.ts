/** rdmatool as a user runs it: in a process of its own, in a lab or not, with what it printed. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { EfaLab } from '../../../src/lab/efa/lab.ts';
import { checkDocument } from './schemas.ts';

export const REPOSITORY = join(import.meta.dirname, '../../..');
export const RDMATOOL = join(REPOSITORY, 'bin/rdmatool.js');

export interface Outcome {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

export interface RunOptions {
  readonly lab?: EfaLab | null;
  /** Set or, where undefined, taken out of the environment. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Told of the process as soon as it runs. */
  readonly onStart?: (child: ChildProcess) => void;
  readonly stdio?: SpawnOptions['stdio'];
}

/** Variables of the tests' own environment that change what rdmatool prints. */
const NEUTRAL: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    ['NO_COLOR', 'FORCE_COLOR', 'SYSFS_PATH', 'RDMATOOL_DEBUG'].map((name) => [name, undefined]),
  ),
  TERM: 'xterm',
  LC_ALL: 'C.UTF-8',
};

/** Runs a program to its end. */
export function run(command: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const env = { ...process.env, ...NEUTRAL, ...options.lab?.env, ...options.env };
  const [file = '', ...args] = options.lab?.start(command, env) ?? command;
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      env,
      stdio: options.stdio ?? ['ignore', 'pipe', 'pipe'],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (status, signal) =>
      resolve({ status, signal, stdout, stderr, milliseconds: performance.now() - started }),
    );
    options.onStart?.(child);
  });
}

/** rdmatool with these arguments, for people. */
export const rdmatool = (args: readonly string[], options: RunOptions = {}): Promise<Outcome> =>
  run([process.execPath, RDMATOOL, ...args], options);

/** rdmatool with these arguments and --json: the document, which fits its schema, or the test fails. */
export async function rdmatoolJson(args: readonly string[], options: RunOptions = {}) {
  const outcome = await rdmatool([...args, '--json'], options);
  return { ...outcome, document: checkDocument(outcome.stdout) };
}

/** `query-device --json`. */
export async function queryDevice(args: readonly string[], options: RunOptions = {}) {
  const outcome = await rdmatoolJson(['query-device', ...args], options);
  if (outcome.document.schema !== 'rdmatool/query-device/1') throw new Error(outcome.document.schema);
  return { ...outcome, document: outcome.document };
}

/** `list --json`. */
export async function list(args: readonly string[], options: RunOptions = {}) {
  const outcome = await rdmatoolJson(['list', ...args], options);
  if (outcome.document.schema !== 'rdmatool/list/1') throw new Error(outcome.document.schema);
  return { ...outcome, document: outcome.document };
}

/** `gid --json`. */
export async function gid(args: readonly string[], options: RunOptions = {}) {
  const outcome = await rdmatoolJson(['gid', ...args], options);
  if (outcome.document.schema !== 'rdmatool/gid/1') throw new Error(outcome.document.schema);
  return { ...outcome, document: outcome.document };
}

/** `port --json`. */
export async function port(args: readonly string[], options: RunOptions = {}) {
  const outcome = await rdmatoolJson(['port', ...args], options);
  if (outcome.document.schema !== 'rdmatool/port/1') throw new Error(outcome.document.schema);
  return { ...outcome, document: outcome.document };
}

/** `counters --json`, one reading. */
export async function counters(args: readonly string[], options: RunOptions = {}) {
  const outcome = await rdmatoolJson(['counters', ...args], options);
  if (outcome.document.schema !== 'rdmatool/counters/1') throw new Error(outcome.document.schema);
  return { ...outcome, document: outcome.document };
}
