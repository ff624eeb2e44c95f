import type { CounterMeaning } from '../explain/counters.ts';

/** What two readings of a counter tell. */
export interface CounterChange {
  /** As the kernel counts; null where nobody can know. */
  readonly delta: bigint | null;
  /** Why the value has fallen; null where it has not. */
  readonly event: 'reset' | 'wrapped' | null;
}

/** Two readings of one counter, as the kernel shows them. */
export interface CounterPair {
  readonly before: bigint;
  readonly now: bigint;
  readonly meaning: CounterMeaning;
}

/** Widths of the counters of cards and drivers. */
const WIDTHS = [32n, 64n] as const;

/** Where a counter stops; null: it starts again. */
export function highestOf({ stopsAtBits }: CounterMeaning): bigint | null {
  return stopsAtBits === undefined ? null : (1n << BigInt(stopsAtBits)) - 1n;
}

/**
 * What has been counted between two readings of the counters of one group. A value that falls was reset, or has
 * started again at 0: that is taken for true where it falls from the highest quarter of a width into the lowest, and
 * nothing else of the group was reset, for a reset takes all of them.
 */
export function changesOf(pairs: readonly CounterPair[]): CounterChange[] {
  const wasReset = pairs.some((pair) => hasFallen(pair) && wrapped(pair) === null);
  return pairs.map((pair): CounterChange => {
    const { before, now, meaning } = pair;
    if (!hasFallen(pair)) {
      const isStuck = before === now && now === highestOf(meaning);
      return { delta: isStuck ? null : now - before, event: null };
    }
    const sum = wasReset ? null : wrapped(pair);
    return sum === null ? { delta: now, event: 'reset' } : { delta: sum, event: 'wrapped' };
  });
}

const hasFallen = ({ before, now, meaning }: CounterPair): boolean =>
  meaning.kind !== 'gauge' && now < before;

/** What has been counted if the counter has started again; null where that is not likely. */
function wrapped({ before, now, meaning }: CounterPair): bigint | null {
  if (highestOf(meaning) !== null) return null;
  const width = WIDTHS.find((bits) => before >> bits === 0n);
  if (width === undefined) return null;
  const quarter = 1n << (width - 2n);
  return before >= 3n * quarter && now < quarter ? (1n << width) - before + now : null;
}
