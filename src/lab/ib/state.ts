/** Where `lab up ib` leaves what later commands need to find the fabric. */
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LabError } from '../error.ts';
import type { Fabric } from './fabric.ts';
import type { RunningFabric } from './fabric-servers.ts';

export interface KnownLab {
  readonly running: RunningFabric;
  readonly fabric: Fabric;
}

/** $XDG_RUNTIME_DIR/rdmatool, else a folder of this user's under the temporary directory. */
function stateDirectory(environment: NodeJS.ProcessEnv): string {
  const runtime = environment['XDG_RUNTIME_DIR'];
  return runtime?.startsWith('/')
    ? join(runtime, 'rdmatool')
    : join(tmpdir(), `rdmatool-${process.getuid?.() ?? 0}`);
}

const labDirectory = (environment: NodeJS.ProcessEnv): string => join(stateDirectory(environment), 'lab-ib');
const stateFile = (environment: NodeJS.ProcessEnv): string => join(labDirectory(environment), 'state.json');

/** An empty directory for a fabric that stays. Throws LabError where another user owns the place. */
export function makeLabDirectory(environment: NodeJS.ProcessEnv): string {
  const base = stateDirectory(environment);
  mkdirSync(base, { recursive: true, mode: 0o700 });
  const status = lstatSync(base);
  if (!status.isDirectory() || status.uid !== process.getuid?.()) {
    throw new LabError('lab_failed', `${base} belongs to someone else`, 'set XDG_RUNTIME_DIR', 1);
  }
  const directory = labDirectory(environment);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { mode: 0o700 });
  return directory;
}

export function rememberLab(environment: NodeJS.ProcessEnv, lab: KnownLab): void {
  const file = stateFile(environment);
  writeFileSync(`${file}.new`, JSON.stringify(lab));
  renameSync(`${file}.new`, file);
}

/** What rememberLab kept, whether it still runs or not; null where nothing was kept. */
export function recallLab(environment: NodeJS.ProcessEnv): KnownLab | null {
  const file = stateFile(environment);
  try {
    // The folder holds process numbers to be ended: only this user's own word counts.
    if (lstatSync(file).uid !== process.getuid?.()) return null;
    // Written by rememberLab alone, and by rename.
    return JSON.parse(readFileSync(file, 'utf8')) as KnownLab;
  } catch {
    return null;
  }
}

export function forgetLab(environment: NodeJS.ProcessEnv): void {
  rmSync(labDirectory(environment), { recursive: true, force: true });
}
