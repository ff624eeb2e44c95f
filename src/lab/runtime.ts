/** Where a lab that stays up has its socket. */
import { lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { LabError } from './error.ts';

/**
 * The folder for what lives as long as a lab: $XDG_RUNTIME_DIR/rdmatool, else /tmp/rdmatool-UID. Not in TMPDIR, which
 * another shell of the same user may set otherwise. It may not exist.
 */
export function runtimeDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_RUNTIME_DIR'];
  return base?.startsWith('/') && isOurs(base)
    ? join(base, 'rdmatool')
    : `/tmp/rdmatool-${process.getuid?.() ?? 0}`;
}

/**
 * Makes a folder that is this user's alone.
 * @throws LabError where another user has put something in its place
 */
export function makePrivate(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  requirePrivate(path);
}

/** @throws LabError where the folder exists and another user may change what is in it */
export function requirePrivate(path: string): void {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined || (isOurs(path) && (status.mode & 0o077) === 0)) return;
  throw new LabError(
    'unsafe',
    `${path} is not a directory of this user alone`,
    `remove ${path}, or set XDG_RUNTIME_DIR`,
    77,
  );
}

/** Whether only this user can put something into a directory. */
function isOurs(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status?.isDirectory() === true && status.uid === process.getuid?.() && (status.mode & 0o022) === 0;
}
