import { it } from 'vitest';
import { useGuest } from '../lab/cm/lab.ts';
import { killAtWork } from '../lab/mad-kernel/kills.ts';

const place = useGuest();

// A pair takes some ten seconds of an emulated guest: more of them would not fit the tier.
it('200 servers and clients killed at work leave no agent and no descriptor', () => killAtWork(place, 200));
