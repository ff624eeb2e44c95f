// @ts-check
// Runs the benches one after another: all of them, or those whose names are given (`npm run bench -- mad`).
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const SUFFIX = '.bench.mjs';
const wanted = process.argv.slice(2);
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length));
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`no such bench: ${unknown.join(', ')}; there are: ${names.join(', ')}`);
  process.exit(2);
}
for (const name of names.filter((each) => wanted.length === 0 || wanted.includes(each))) {
  console.log(`\n${name}`);
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, name + SUFFIX)], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}
