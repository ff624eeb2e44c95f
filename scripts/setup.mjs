// @ts-check
// Makes a clone ready: `node scripts/setup.mjs build|labs|long`. Prints what it does and why; with nothing to
// do it is silent and quick, so that every npm script can begin with it. Node's built-in modules only: it runs
// before `npm ci`.
import { fileURLToPath } from 'node:url';
import { buildBundle } from './setup/bundle.mjs';
import { installDebianPackages, TIERS } from './setup/debian-packages.mjs';
import { SetupError } from './setup/error.mjs';
import { fetchGenerations } from './setup/generations.mjs';
import { requireSupportedMachine } from './setup/machine.mjs';
import { installNodeModules } from './setup/node-modules.mjs';

const [tier = ''] = process.argv.slice(2);
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
try {
  if (!TIERS.includes(tier)) throw new SetupError(`usage: node scripts/setup.mjs ${TIERS.join('|')}`, 2);
  requireSupportedMachine();
  // First, because it may need the user: nobody should wait for npm only to be told to run a command.
  await installDebianPackages(tier);
  await installNodeModules();
  await buildBundle();
  if (tier === 'long') await fetchGenerations();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`set-up: ${error.message}`);
  process.exitCode = error.status;
}
