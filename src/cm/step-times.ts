/** How long a step takes, over many times. */
import type { CmStepTimes } from '../model/cm-connect-many.ts';

const rounded = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000;

export class StepTimes {
  readonly #milliseconds: number[] = [];

  constructor(private readonly step: string) {}

  add(milliseconds: number): void {
    this.#milliseconds.push(milliseconds);
  }

  /** Quantiles are the smallest value that so many are not above. */
  toJson(): CmStepTimes {
    const sorted = Float64Array.from(this.#milliseconds).sort();
    const quantile = (part: number): number =>
      rounded(sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0);
    return {
      step: this.step,
      count: sorted.length,
      min_ms: quantile(0),
      median_ms: quantile(0.5),
      p99_ms: quantile(0.99),
      max_ms: quantile(1),
      total_ms: rounded(sorted.reduce((sum, value) => sum + value, 0)),
    };
  }
}
