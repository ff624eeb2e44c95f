/** How much private data an answer carries, in the port spaces that the lab tier leaves out. */
import { it } from 'vitest';
import { useGuest } from '../lab/cm/lab.ts';
import { answersWithUpTo } from '../lab/cm/private-data.ts';

const place = useGuest();

it.each([
  ['tcp', 'accept', 196],
  ['ib', 'accept', 196],
  ['udp', 'reject', 136],
] as const)('%s %s carries %i bytes of private data, and no more', (ps, answer, limit) =>
  answersWithUpTo(place, ps, answer, limit),
);
