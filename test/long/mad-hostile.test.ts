import { expect, test } from 'vitest';
import { describeMad } from '../../src/mad/decode.ts';
import { hostileMads } from '../unit/datagram/hostile.ts';
import { randomFrom } from '../unit/layout/support.ts';

const COUNT = 1_000_000;

test(`${COUNT} mutated and random datagrams are decoded or refused`, () => {
  const seed = Number(process.env['RDMATOOL_TEST_SEED'] ?? Date.now() % 2 ** 31);
  // The seed makes a failure come again.
  console.log(`seed ${seed}: RDMATOOL_TEST_SEED=${seed}`);
  let decoded = 0;
  for (const bytes of hostileMads(randomFrom(seed), COUNT)) {
    if (describeMad(bytes).undecoded === null) decoded++;
  }
  expect(decoded).toBeGreaterThan(COUNT / 10);
  expect(decoded).toBeLessThan(COUNT);
});
