import type { Codec, JsonSchema } from './codec.ts';
import { LayoutError } from './error.ts';

/** An enumerated value for people and scripts: the number always, the name where it is known. */
export type EnumJson<N extends string = string> = { readonly value: number; readonly name: N | null };

/** A two-way table of names and numbers that never loses a number it does not know. */
export interface Enumeration<N extends string = string> {
  /** The C name of the type. */
  readonly title: string;
  /** What the names begin with in the header that declares them, as in `IBV_PORT_` + `ACTIVE`; may be empty. */
  readonly prefix: string;
  readonly entries: ReadonlyArray<readonly [N, number]>;
  nameOf(value: number): N | null;
  /** Throws LayoutError for a name that the table does not have. */
  valueOf(name: N): number;
  show(value: number): EnumJson<N>;
}

type Numbers = { readonly [name: string | number]: number };
/** The names as texts: those that are written as numbers (`256: 1`) too. */
type NameOf<V extends Numbers> = `${keyof V & (string | number)}`;

/**
 * Declares an enumeration.
 * @param title the C type
 * @param prefix of its constants
 * @param values name to number
 */
export function enumeration<const V extends Numbers>(
  title: string,
  prefix: string,
  values: V,
): Enumeration<NameOf<V>> {
  type N = NameOf<V>;
  // Object.entries forgets the names' literal types.
  const entries = Object.entries(values) as [N, number][];
  const names = new Map<number, N>();
  for (const [name, value] of entries) {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${title}: ${name} is ${value}, not an integer`);
    if (names.has(value)) throw new TypeError(`${title}: ${name} repeats the value ${value}`);
    names.set(value, name);
  }
  const numbers = new Map(entries);
  const nameOf = (value: number): N | null => names.get(value) ?? null;
  return {
    title,
    prefix,
    entries,
    nameOf,
    valueOf(name) {
      const value = numbers.get(name);
      if (value === undefined) throw new LayoutError(`${title} has no ${name}`);
      return value;
    },
    show: (value) => ({ value, name: nameOf(value) }),
  };
}

export function enumSchema(table: Enumeration): JsonSchema {
  return {
    type: 'object',
    title: table.title,
    properties: {
      value: { type: 'integer' },
      name: { enum: [...table.entries.map(([name]) => name), null] },
    },
    required: ['value', 'name'],
    additionalProperties: false,
  };
}

/** The integer type `codec`, whose numbers have the names of `table`. */
export function enumOf<N extends string>(
  codec: Codec<number>,
  table: Enumeration<N>,
): Codec<number, EnumJson<N>> {
  return { ...codec, toJson: table.show, schema: () => enumSchema(table) };
}
