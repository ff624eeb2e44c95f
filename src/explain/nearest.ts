import { distance } from 'fastest-levenshtein';

/** The candidates that a mistyped name may mean, nearest first, at most three. */
export function nearest(name: string, candidates: readonly string[]): string[] {
  const typed = name.toLowerCase();
  return candidates
    .map((candidate) => ({ candidate, edits: distance(typed, candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.max(2, candidate.length / 3))
    .sort((a, b) => a.edits - b.edits)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}
