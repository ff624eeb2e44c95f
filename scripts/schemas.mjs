// @ts-check
// Compares the keys of the schemas with those that were published, and records new ones:
//   npm run schemas [-- --record]
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { allBreaches, publishedKeys } from './build/published-keys.mjs';

const RECORD = 'test/fixtures/published-schemas.json';

/** @param {readonly string[]} args */
function schema(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/rdmatool.js', 'schema', ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

const names = /** @type {string[]} */ (schema('--json').commands);
const current = publishedKeys(Object.fromEntries(names.map((name) => [name, schema(name)])));
const recorded = JSON.parse(readFileSync(RECORD, 'utf8'));
const found = allBreaches(recorded, current);
if (found.length > 0) {
  console.error(`${found.join('\n')}\nscripts rely on these: keep them, or raise the version of the schema`);
  process.exitCode = 1;
} else if (process.argv.includes('--record')) {
  writeFileSync(RECORD, `${JSON.stringify(current, null, 1)}\n`);
} else {
  console.error('nothing that was published is gone');
}
