/** What the lab tier does a few times, hundreds of times, and through both backends. */
import { describe } from 'vitest';
import { BACKENDS, useGuest } from '../lab/cm/lab.ts';
import { inNumbers } from '../lab/cm/numbers.ts';

const place = useGuest();

describe.each(BACKENDS)('through $backend', ({ backend }) => {
  inNumbers(place, backend, { connects: 200, rejects: 200, atOnce: 64, untaken: 20, kills: 20 });
});
