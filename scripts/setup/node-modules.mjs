// @ts-check
// node_modules, as package-lock.json has it.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { run } from '../processes.mjs';
import { SetupError } from './error.mjs';

/** Holds the fingerprint of the installation that set-up finished last. */
const STAMP = 'node_modules/.rdmatool-packages';

/** npm's own account of what is in node_modules; it changes whenever npm adds or removes anything there. */
const INVENTORY = 'node_modules/.package-lock.json';

export async function installNodeModules() {
  const reason = whyInstall();
  if (reason === null) return;
  console.error(`set-up: installing npm packages (${reason})`);
  // Without its stamp, an installation that is cut short is started anew the next time.
  rmSync(STAMP, { force: true });
  // The tests need the development dependencies, whatever NODE_ENV or npm's configuration leaves out.
  const [command, ...args] = [...npmCommand(process.env), 'ci', '--include=dev', '--no-audit', '--no-fund'];
  const { status, output } = await run(command, args, { quiet: true });
  if (status !== 0) throw new SetupError(`npm ci failed (${status}):\n${output}`);
  writeFileSync(STAMP, fingerprint());
}

/** @returns {string | null} */
function whyInstall() {
  if (!existsSync('node_modules')) return 'there is no node_modules';
  if (!existsSync(STAMP)) return 'node_modules is not known to be complete';
  if (readFileSync(STAMP, 'utf8') !== fingerprint()) return 'node_modules does not match package-lock.json';
  return null;
}

function fingerprint() {
  const hash = createHash('sha256');
  for (const file of ['package-lock.json', INVENTORY]) {
    hash.update(existsSync(file) ? readFileSync(file) : 'missing');
  }
  // Some packages hold machine code.
  return hash.update(process.arch).digest('hex');
}

/**
 * The npm that runs this script, so that it is the same one throughout; else the one in PATH.
 *
 * @param {NodeJS.ProcessEnv} environment
 * @returns {[string, ...string[]]}
 */
export function npmCommand(environment) {
  const script = environment['npm_execpath'];
  return script !== undefined && basename(script) === 'npm-cli.js' ? [process.execPath, script] : ['npm'];
}
