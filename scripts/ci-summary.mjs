// @ts-check
// The end of .ci/run: `node scripts/ci-summary.mjs TIER=STATUS...` names what failed, and adds up the reports of the
// tiers that were run, each with the exit status of its command, in its last line. Fails when anything failed.
import { countTests, failuresOf, readReport, summaryLine, total } from './test-counts.mjs';

const tiers = process.argv.slice(2).map((argument) => {
  const [tier = '', status] = argument.split('=');
  return { tier, status: Number(status), report: readReport(tier) };
});
for (const { tier, status, report } of tiers) {
  const failures = report ? failuresOf(report, process.cwd()) : [];
  for (const failure of failures) console.log(`failed in the tier '${tier}': ${failure}`);
  if (status !== 0 && failures.length === 0) console.log(`the tier '${tier}' failed outside of its tests`);
}
const counts = total(tiers.map(({ status, report }) => ({ status, counts: report && countTests(report) })));
console.log(summaryLine(counts));
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
