import { expect, test } from 'vitest';
import { RejectReason, SidrStatus } from '../../../src/datagram/codes.ts';
import { REJECT_REASONS } from '../../../src/explain/cm-reject-reasons.ts';
import { SIDR_STATUSES } from '../../../src/explain/cm-sidr-statuses.ts';

test('a reject reason has one name, in a datagram and in what explains it', () => {
  const names = [...REJECT_REASONS].map(([value, { name }]) => [name, value]);
  expect(RejectReason.entries.map(([name, value]) => [name, value])).toEqual(names);
});

test('a SIDR status has one name, in a datagram and in what explains it', () => {
  const names = [...SIDR_STATUSES].map(([value, { name }]) => [name, value]);
  expect(SidrStatus.entries.filter(([name]) => name !== 'SUCCESS')).toEqual(names);
});
