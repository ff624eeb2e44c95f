/**
 * How an operation of a script is declared: once, as data. The parser, the help, the manual page and the types of
 * its values come from it. Backends add operations of their own in the same way.
 */
import type { CmRunResult } from '../../model/cm-run.ts';
import type { Option, Positional } from './parameters.ts';
import type { Stage } from './stage.ts';

export type Positionals = { readonly [name: string]: Positional<unknown> };
export type Options = { readonly [name: string]: Option<unknown> };

type ValuesOf<P extends Positionals, O extends Options> = {
  readonly [K in keyof P]: P[K] extends Positional<infer T> ? T : never;
} & { readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never };

export interface Operation<P extends Positionals = Positionals, O extends Options = Options> {
  /** The first word of the step. */
  readonly name: string;
  /** What it does, and on which call; without a full stop. */
  readonly does: string;
  /** By their place, in this order. One named `id` or `channel` is what the step is about. */
  readonly positional: P;
  readonly options: O;
  /** It waits for itself, up to a deadline of its own. */
  readonly waits?: boolean;
  /** Makes the call. Throws Failure, NativeCallError, MissingSymbolError. */
  run(values: ValuesOf<P, O>, stage: Stage): Promise<CmRunResult | null>;
}

/** Keeps the types of the values with the action. */
export const operation = <P extends Positionals, O extends Options>(spec: Operation<P, O>): Operation<P, O> =>
  spec;

/** `connect ID [--qp-num N] …`, as the help has it. */
export function usageOf({ name, positional, options }: Operation): string {
  const places = Object.values(positional).map(({ placeholder, kind }) => {
    if (kind === 'optional') return `[${placeholder}]`;
    return kind === 'rest' ? `${placeholder} ...` : placeholder;
  });
  const named = Object.values(options).map(({ word, parameter }) =>
    parameter === null ? `[${word}]` : `[${word} ${parameter.placeholder}]`,
  );
  return [name, ...places, ...named].join(' ');
}
