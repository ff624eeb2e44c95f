import { describe, expect, test } from 'vitest';
import { countTests, failuresOf, summaryLine, total } from '../../../scripts/test-counts.mjs';

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

describe('the failures of a report', () => {
  test('are told with their file, their name and the first lines of the reason', () => {
    const long = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n');
    const testResults = [
      { name: '/repo/test/a.test.ts', status: 'passed', assertionResults: [{ status: 'passed' }] },
      {
        name: '/repo/test/b.test.ts',
        status: 'failed',
        assertionResults: [
          { status: 'passed', fullName: 'is fine' },
          {
            status: 'failed',
            fullName: 'group breaks',
            failureMessages: [`\u001b[31mAssertionError\u001b[39m: no\n${long}`],
          },
        ],
      },
      { name: '/repo/test/c.test.ts', status: 'failed', message: 'cannot load', assertionResults: [] },
    ];
    const [breaks = '', loads, ...more] = failuresOf({ testResults }, '/repo');
    expect(breaks).toMatch(/^test\/b\.test\.ts > group breaks\n {4}AssertionError: no\n {4}line 0\n/);
    expect(breaks.split('\n').length).toBeLessThan(20);
    expect(loads).toBe('test/c.test.ts\n    cannot load');
    expect(more).toEqual([]);
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
