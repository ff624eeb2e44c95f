/** Peers that speak something else than rdmatool expects: each ends in words, by its deadline. */
import { it, vi } from 'vitest';
import { CELLS } from '../lab/cm/cells.ts';
import { useGuest } from '../lab/cm/lab.ts';
import { expectMeeting } from '../lab/cm/meetings.ts';

vi.setConfig({ testTimeout: 240_000 });
const place = useGuest();

it.each(CELLS.filter(({ clientStatus }) => clientStatus !== 0))('$peer x $mode', (cell) =>
  expectMeeting(place, cell),
);
