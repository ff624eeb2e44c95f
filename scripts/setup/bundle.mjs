// @ts-check
// dist/, when it is missing or something that it is made of has changed.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../processes.mjs';
import { SetupError } from './error.mjs';

const INPUTS = ['src', 'package-lock.json', 'scripts/build.mjs', 'scripts/build'];
const OUTPUT = 'dist/main.cjs';

/** Says which dist/main.cjs is the result of a build that came to its end; one cut short leaves another. */
const STAMP = 'node_modules/.rdmatool-build';

export async function buildBundle() {
  const reason = whyBuild();
  if (reason === null) return;
  console.error(`set-up: building dist (${reason})`);
  rmSync(STAMP, { force: true });
  const { status, output } = await run(process.execPath, ['scripts/build.mjs'], { quiet: true });
  if (status !== 0) throw new SetupError(`the build failed (${status}):\n${output}`);
  writeFileSync(STAMP, String(changedAt(OUTPUT)));
}

/** @returns {string | null} */
function whyBuild() {
  if (!existsSync(OUTPUT)) return 'it is missing';
  if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== String(changedAt(OUTPUT))) {
    return 'it is not known to be complete';
  }
  const changed = INPUTS.find((input) => newestChange(input) > changedAt(OUTPUT));
  return changed === undefined ? null : `${changed} has changed`;
}

/**
 * The latest change at a path or below it. Folders count, since removing a file changes only its folder.
 *
 * @param {string} path
 * @returns {number}
 */
export function newestChange(path) {
  const below = statSync(path).isDirectory()
    ? readdirSync(path).map((name) => newestChange(join(path, name)))
    : [];
  return Math.max(changedAt(path), ...below);
}

/** @param {string} path */
function changedAt(path) {
  return statSync(path).mtimeMs;
}
