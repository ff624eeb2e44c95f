import { it } from 'vitest';
import { useGuest } from '../lab/cm/lab.ts';
import { expectMany } from '../lab/cm/many.ts';

const place = useGuest();

it.each([
  [1000, 1],
  [200, 16],
])('%i connections, %i at once', async (count, concurrency) => {
  await expectMany(place, count, concurrency);
});
