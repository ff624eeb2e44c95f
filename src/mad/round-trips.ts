import { milliseconds } from './results.ts';

/** Round-trip times, ms. */
export interface RoundTrips {
  readonly min_ms: number;
  readonly median_ms: number;
  readonly p99_ms: number;
  readonly max_ms: number;
}

/** null where there are none. The median and p99 are times that were measured: the nearest rank. */
export function roundTrips(times: readonly number[]): RoundTrips | null {
  if (times.length === 0) return null;
  const sorted = Float64Array.from(times).sort();
  const rank = (part: number): number =>
    milliseconds(sorted[Math.min(sorted.length, Math.max(1, Math.ceil(part * sorted.length))) - 1] ?? 0);
  return { min_ms: rank(0), median_ms: rank(0.5), p99_ms: rank(0.99), max_ms: rank(1) };
}
