// @ts-check
// What vitest's JSON reports say: how many tests passed, failed and were skipped.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 * @typedef {{ status: string, fullName?: string, failureMessages?: string[] | null }} TestOutcome
 * @typedef {{ name?: string, status: string, message?: string, assertionResults: TestOutcome[] }} FileOutcome
 * @typedef {{ testResults: FileOutcome[] }} Report
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
 * What failed, for who sees only the end of a log: the file, the test, and the first words of each failure.
 *
 * @param {Report} report
 * @param {string} root  the folder that the files' names are told from
 * @returns {string[]}
 */
export function failuresOf(report, root) {
  return report.testResults.flatMap((file) => {
    const name = relative(root, file.name ?? root);
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    if (failed.length === 0 && file.status === 'failed') return [failure(name, [file.message ?? ''])];
    return failed.map((test) => failure(`${name} > ${test.fullName ?? ''}`, test.failureMessages ?? []));
  });
}

const LINES_OF_A_FAILURE = 12;

/**
 * @param {string} title
 * @param {string[]} messages
 */
function failure(title, messages) {
  const lines = messages.flatMap((message) =>
    stripVTControlCharacters(message).split('\n').slice(0, LINES_OF_A_FAILURE),
  );
  return [title, ...lines.map((line) => `    ${line}`)].join('\n');
}

/**
 * The report of a tier, or null when its run left none.
 *
 * @param {string} tier
 * @returns {Report | null}
 */
export function readReport(tier) {
  try {
    return JSON.parse(readFileSync(reportOf(tier), 'utf8'));
  } catch {
    return null;
  }
}

/**
 * The counts of a tier, or null when its run left no report.
 *
 * @param {string} tier
 * @returns {Counts | null}
 */
export function readCounts(tier) {
  const report = readReport(tier);
  return report && countTests(report);
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
