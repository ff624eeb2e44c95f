/** How often each command was given, what failed, and how long it took. */
import type { TraceEntry, TraceSummary } from '../model/trace.ts';
import { deviceKind } from './descriptors.ts';

interface Tally {
  readonly device: string;
  readonly name: string;
  calls: number;
  errors: number;
  readonly durations: number[];
}

export class Tallies {
  readonly #tallies = new Map<string, Tally>();

  add({ device, call, name, result, duration_ms }: TraceEntry): void {
    const kind = deviceKind(device) ?? device;
    const isDatagram = kind === 'umad' && name !== null && name !== call;
    const label = isDatagram && /^(read|write)$/.test(call) ? `${call} ${name}` : (name ?? call);
    const key = `${kind} ${label}`;
    const tally = this.#tallies.get(key) ?? { device: kind, name: label, calls: 0, errors: 0, durations: [] };
    this.#tallies.set(key, tally);
    tally.calls += 1;
    if (result.errno !== null) tally.errors += 1;
    if (duration_ms !== null) tally.durations.push(duration_ms);
  }

  /** In the order in which the commands came first. */
  rows(): TraceSummary['calls'] {
    return [...this.#tallies.values()].map(({ durations, ...tally }) => ({
      ...tally,
      times: timesOf(durations),
    }));
  }
}

function timesOf(durations: readonly number[]): TraceSummary['calls'][number]['times'] {
  const sorted = [...durations].sort((a, b) => a - b);
  const [min] = sorted;
  const max = sorted.at(-1);
  if (min === undefined || max === undefined) return null;
  return {
    total_ms: round(sorted.reduce((sum, each) => sum + each, 0)),
    min_ms: min,
    median_ms: round(((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2),
    max_ms: max,
  };
}

const round = (ms: number): number => Math.round(ms * 1000) / 1000;
