import { expect, it } from 'vitest';
import { killAtRandom } from '../lab/cm/kills.ts';
import { resources, useGuest } from '../lab/cm/lab.ts';

const place = useGuest();

it('500 runs killed at random moments leave nothing in the kernel', async () => {
  await killAtRandom(place, 500);
  expect(await resources(place)).toMatch(/cm_id 0 .* ctx 0/);
});
