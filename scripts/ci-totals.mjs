// @ts-check
// The sum over tiers of tests.

/** @typedef {import('./report.mjs').Counts} Counts */

/**
 * @param {{ status: number, counts: Counts | null }[]} tiers  the exit status of each command, and its report
 * @returns {Counts}
 */
export function total(tiers) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const { status, counts } of tiers) {
    sum.passed += counts?.passed ?? 0;
    sum.skipped += counts?.skipped ?? 0;
    const failed = counts?.failed ?? 0;
    // A tier can fail without a failed test: set-up, lint and types, or a run that ended before its report.
    sum.failed += failed === 0 && (status !== 0 || counts === null) ? 1 : failed;
  }
  return sum;
}

/** @param {Counts} counts */
export function summaryLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
