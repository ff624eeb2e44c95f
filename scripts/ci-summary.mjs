// @ts-check
// The closing line of .ci/run: `node scripts/ci-summary.mjs TIER=STATUS...` adds up the reports of the tiers that
// were run, each with the exit status of its command. Fails when anything failed.
import { readCounts, summaryLine, total } from './test-counts.mjs';

const counts = total(
  process.argv.slice(2).map((argument) => {
    const [tier = '', status] = argument.split('=');
    return { status: Number(status), counts: readCounts(tier) };
  }),
);
console.log(summaryLine(counts));
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
