// @ts-check
// What a vitest JSON report says, in three numbers.
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
