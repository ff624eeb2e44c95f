import { expect, it } from 'vitest';
import { killConnected } from '../lab/cm/kills.ts';
import { resources, useGuest } from '../lab/cm/lab.ts';

const place = useGuest();

it('500 listeners and clients killed at work leave nothing in the kernel', async () => {
  await killConnected(place, 500, 28 * 60_000);
  expect(await resources(place)).toMatch(/cm_id 0 .* ctx 0/);
});
