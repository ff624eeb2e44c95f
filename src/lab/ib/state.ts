/** Where `lab up ib` leaves what later commands need to find the fabric. */
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivate, runtimeDirectory } from '../runtime.ts';
import type { Fabric } from './fabric.ts';
import type { RunningFabric } from './fabric-servers.ts';

export interface KnownLab {
  readonly running: RunningFabric;
  readonly fabric: Fabric;
}

const labDirectory = (environment: NodeJS.ProcessEnv): string =>
  join(runtimeDirectory(environment), 'lab-ib');
const stateFile = (environment: NodeJS.ProcessEnv): string => join(labDirectory(environment), 'state.json');

/** An empty directory for a fabric that stays. Throws LabError where another user owns the place. */
export function makeLabDirectory(environment: NodeJS.ProcessEnv): string {
  makePrivate(runtimeDirectory(environment));
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
