/** What a program without types can say wrong: refused before anything is done, as the command line refuses it. */
import { Failure } from '../explain/failure.ts';

/** Least and most of a number, by the name of its option. */
export type Ranges = Readonly<Record<string, readonly [least: number, most: number]>>;
/** The words of an option that takes some. */
export type Choices = Readonly<Record<string, readonly (string | number)[]>>;

export const LONGEST_MS = 86_400_000;
export const MOST = Number.MAX_SAFE_INTEGER;

/** Throws Failure USAGE for a number that is none of its range, and a word that is none of its choices. */
export function checkOptions(options: object, ranges: Ranges, choices: Choices = {}): void {
  const values: Readonly<Record<string, unknown>> = { ...options };
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const value = values[name];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
      const limits = most === MOST ? `from ${least} on` : `from ${least} to ${most}`;
      throw refused(name, value, `a whole number ${limits}`);
    }
  }
  for (const [name, words] of Object.entries(choices)) {
    const value = values[name];
    if (value !== undefined && !words.some((word) => word === value)) {
      throw refused(name, value, `one of ${words.join(', ')}`);
    }
  }
}

const refused = (name: string, value: unknown, wanted: string): Failure =>
  new Failure('USAGE', `${name}: ${String(value)} is not ${wanted}`, `give ${wanted}, or leave ${name} out`);
