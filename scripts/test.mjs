// @ts-check
// Runs a tier of tests: `node scripts/test.mjs unit|all|long [VITEST ARGUMENTS]`, on a clone that set-up has
// made ready. Leaves vitest's report in reports/TIER.json.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from './processes.mjs';
import { GENERATIONS } from './setup/generations.mjs';
import { readCounts, reportOf } from './test-counts.mjs';

/** @type {Record<string, { checks: string[][], projects: string[] }>} */
const TIERS = {
  unit: { checks: [], projects: ['unit'] },
  all: {
    checks: [
      ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
      ['node_modules/typescript/bin/tsc', '--noEmit'],
    ],
    projects: ['unit', 'lab'],
  },
  long: { checks: [], projects: ['long', ...GENERATIONS.map(({ suite }) => `rdma-core-${suite}`)] },
};

const [name = '', ...extra] = process.argv.slice(2);
const tier = TIERS[name];
if (tier === undefined) {
  console.error(`usage: node scripts/test.mjs ${Object.keys(TIERS).join('|')} [VITEST ARGUMENTS]`);
  process.exit(2);
}
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const started = Date.now();
rmSync(reportOf(name), { force: true });

// A failed check does not keep the tests from running: one run tells all that is wrong.
let checksFailed = false;
for (const check of tier.checks) {
  const { status } = await run(process.execPath, check);
  if (status !== 0) checksFailed = true;
}
const { status } = await run(process.execPath, [
  'node_modules/vitest/vitest.mjs',
  'run',
  ...tier.projects.flatMap((project) => ['--project', project]),
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${reportOf(name)}`,
  ...extra,
]);

// vitest is content when every test was skipped.
const counts = readCounts(name);
const ranNothing = counts === null || counts.passed + counts.failed === 0;
if (ranNothing) console.error('No test was executed.');
if (checksFailed) console.error('The tests aside, a check failed: see the top of the output.');
console.log(`tests of the tier '${name}': ${((Date.now() - started) / 1000).toFixed(1)} s`);
process.exitCode = status || Number(checksFailed || ranNothing);
