import { describe, expect, it } from 'vitest';
import { WcStatus } from '../../../src/abi/verbs-work.ts';
import { completionFailure, wcStatusText } from '../../../src/explain/wc-status.ts';

describe('a completion status', () => {
  it.each(WcStatus.entries.filter(([name]) => name !== 'SUCCESS'))(
    '%s has a name, a meaning, a cause and a next step',
    (name, value) => {
      const text = wcStatusText(value);
      expect(text.name).toBe(`IBV_WC_${name}`);
      expect(text.meaning).not.toBe('');
      expect(text.cause).not.toBe('');
      expect(text.next).not.toBe('');
    },
  );

  it('that is not known is told by its number', () => {
    expect(wcStatusText(99).name).toBeNull();
    expect(completionFailure('ping 1', 99, 0).message).toContain('(99)');
  });

  // Names and numbers of <infiniband/verbs.h>, exit statuses of the design.
  it.each([
    [12, 'IBV_WC_RETRY_EXC_ERR', 'UNREACHABLE', 75],
    [20, 'IBV_WC_RESP_TIMEOUT_ERR', 'UNREACHABLE', 75],
    [13, 'IBV_WC_RNR_RETRY_EXC_ERR', 'COMPLETION_FAILED', 1],
    [10, 'IBV_WC_REM_ACCESS_ERR', 'COMPLETION_FAILED', 1],
    [5, 'IBV_WC_WR_FLUSH_ERR', 'COMPLETION_FAILED', 1],
  ])('%i is %s: %s', (status, name, code, exit) => {
    const failure = completionFailure('ping 3 of 10', status, 0x77);
    expect(failure.code).toBe(code);
    expect(failure.exitStatus).toBe(exit);
    expect(failure.message).toContain(`ping 3 of 10: ${name} (${status}, vendor error 0x77): `);
    expect(failure.hint).toMatch(/^likely: /);
  });
});
