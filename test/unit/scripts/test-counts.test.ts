import { describe, expect, test } from 'vitest';
import { countTests, summaryLine, total } from '../../../scripts/test-counts.mjs';

const file = (status: string, ...statuses: string[]) => ({
  status,
  assertionResults: statuses.map((each) => ({ status: each })),
});

describe('the tests of a report', () => {
  test('are counted by how they ended; what did not run was skipped', () => {
    const testResults = [
      file('failed', 'passed', 'failed', 'pending', 'todo'),
      file('passed', 'passed', 'skipped'),
    ];
    expect(countTests({ testResults })).toEqual({ passed: 2, failed: 1, skipped: 3 });
  });

  test('a file that fails without a failed test is one failure', () => {
    const testResults = [file('failed'), file('failed', 'passed')];
    expect(countTests({ testResults })).toEqual({ passed: 1, failed: 2, skipped: 0 });
  });
});

describe('the sum over tiers', () => {
  const green = { status: 0, counts: { passed: 5, failed: 0, skipped: 1 } };

  test('adds up', () => {
    const red = { status: 1, counts: { passed: 2, failed: 3, skipped: 0 } };
    expect(total([green, red])).toEqual({ passed: 7, failed: 3, skipped: 1 });
  });

  test('a command that failed without a failed test is one failure', () => {
    expect(total([green, { ...green, status: 1 }])).toEqual({ passed: 10, failed: 1, skipped: 2 });
  });

  test('a tier without a report is one failure, whatever its command said', () => {
    expect(total([green, { status: 69, counts: null }]).failed).toBe(1);
    expect(total([green, { status: 0, counts: null }]).failed).toBe(1);
  });

  test('makes the line that CI reads; skipped tests are mentioned when there are any', () => {
    expect(summaryLine({ passed: 12, failed: 0, skipped: 0 })).toBe('12 passed, 0 failed');
    expect(summaryLine({ passed: 12, failed: 1, skipped: 2 })).toBe('12 passed, 1 failed, 2 skipped');
  });
});
