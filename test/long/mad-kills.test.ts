import { it } from 'vitest';
import { useGuest } from '../lab/cm/lab.ts';
import { killAtWork } from '../lab/mad-kernel/kills.ts';

const place = useGuest();

it('500 servers and clients killed at work leave no agent and no descriptor', () =>
  killAtWork(place, 500, 28 * 60_000));
