import type { Codec, JsonSchema } from './codec.ts';

/** An enumerated value for people and scripts: the number always, the name where it is known. */
export type EnumJson = { readonly value: number; readonly name: string | null };

/** A two-way table of names and numbers that never loses a number it does not know. */
export interface Enumeration<N extends string = string> {
  /** The C name of the type. */
  readonly title: string;
  /** What the names begin with in the header that declares them, as in `IBV_PORT_` + `ACTIVE`. */
  readonly prefix: string;
  readonly entries: ReadonlyArray<readonly [N, number]>;
  nameOf(value: number): N | null;
  valueOf(name: N): number;
  show(value: number): EnumJson;
}

/**
 * Declares an enumeration.
 * @param title the C type, @param prefix of its constants, @param values name to number
 */
export function enumeration<const V extends Readonly<Record<string, number>>>(
  title: string,
  prefix: string,
  values: V,
): Enumeration<keyof V & string> {
  const names = new Map<number, keyof V & string>();
  for (const [name, value] of Object.entries(values)) {
    if (names.has(value)) throw new TypeError(`${title}: ${name} repeats the value ${value}`);
    names.set(value, name);
  }
  return {
    title,
    prefix,
    entries: [...names].map(([value, name]) => [name, value] as const),
    nameOf: (value) => names.get(value) ?? null,
    valueOf: (name) => values[name] as number,
    show: (value) => ({ value, name: names.get(value) ?? null }),
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
export function enumOf(codec: Codec<number>, table: Enumeration): Codec<number, EnumJson> {
  return { ...codec, toJson: table.show, schema: () => enumSchema(table) };
}
