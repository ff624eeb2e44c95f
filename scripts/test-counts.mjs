// @ts-check
// What vitest's JSON reports say: how many tests passed, failed and were skipped.
import { readFileSync } from 'node:fs';

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 * @typedef {{ testResults: { status: string, assertionResults: { status: string }[] }[] }} Report
 */

/**
 * @param {string} tier
 * @returns {string}
 */
export const reportOf = (tier) => `reports/${tier}.json`;

/**
 * @param {Report} report
 * @returns {Counts}
 */
export function countTests(report) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of report.testResults) {
    const statuses = file.assertionResults.map(({ status }) => status);
    for (const status of statuses)
      counts[status === 'passed' || status === 'failed' ? status : 'skipped'] += 1;
    // A file that could not be loaded, or a hook of it that failed, fails without a failed test.
    if (file.status === 'failed' && !statuses.includes('failed')) counts.failed += 1;
  }
  return counts;
}

/**
 * The counts of a tier, or null when its run left no report.
 *
 * @param {string} tier
 * @returns {Counts | null}
 */
export function readCounts(tier) {
  try {
    return countTests(JSON.parse(readFileSync(reportOf(tier), 'utf8')));
  } catch {
    return null;
  }
}

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
