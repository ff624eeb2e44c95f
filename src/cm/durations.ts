import type { CmDurations } from '../model/cm-exchange.ts';

const microseconds = (milliseconds: number): number => Math.round(milliseconds * 1e4) / 10;

/**
 * Minimum, median, p99 and maximum; null where there are no times. The median and p99 are times that were measured:
 * the nearest rank.
 * @param times milliseconds
 */
export function durations(times: readonly number[]): CmDurations | null {
  if (times.length === 0) return null;
  const sorted = [...times].sort((a, b) => a - b);
  const rank = (part: number): number =>
    microseconds(sorted[Math.max(1, Math.ceil(part * sorted.length)) - 1] ?? 0);
  return { min_us: rank(0), median_us: rank(0.5), p99_us: rank(0.99), max_us: rank(1) };
}
