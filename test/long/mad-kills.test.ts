import { it } from 'vitest';
import { useGuest } from '../lab/cm/lab.ts';
import { killAtWork } from '../lab/mad-kernel/kills.ts';

const place = useGuest();

// To start the two takes an emulated guest three seconds and more: 500 would not surely fit the tier.
it('200 servers and clients killed at work leave no agent and no descriptor', () =>
  killAtWork(place, 200, 18 * 60_000));
