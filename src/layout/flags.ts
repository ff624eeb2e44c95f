import type { Codec, JsonSchema } from './codec.ts';
import { LayoutError } from './error.ts';
import { HEX_SCHEMA, hexText, unsigned } from './scalar.ts';

/** A mask for people and scripts: the whole value, the known flags, and the bits that no name covers. */
export type FlagsJson<N extends string = string> = {
  readonly value: string;
  readonly flags: readonly N[];
  readonly unknown: string;
};

/** Named bits of a mask. */
export interface FlagSet<N extends string = string> {
  readonly title: string;
  /** What the names begin with in the header that declares them; may be empty. */
  readonly prefix: string;
  /** Name and bit mask, lowest bit first. */
  readonly entries: ReadonlyArray<readonly [N, bigint]>;
  /** Throws LayoutError for a name that the set does not have. */
  maskOf(name: N): bigint;
  has(value: number | bigint, name: N): boolean;
  /** A negative value is read as the two's complement of 64 bits. */
  show(value: number | bigint): FlagsJson<N>;
}

/**
 * Declares a flag set.
 * @param title the C type
 * @param prefix of its constants
 * @param bits name to bit number, 0 to 63
 */
export function flagSet<const V extends { readonly [name: string]: number }>(
  title: string,
  prefix: string,
  bits: V,
): FlagSet<keyof V & string> {
  type N = keyof V & string;
  const masks = new Map<N, bigint>();
  const seen = new Set<number>();
  for (const [name, bit] of Object.entries(bits).sort((a, b) => a[1] - b[1])) {
    if (!Number.isInteger(bit) || bit < 0 || bit > 63) throw new TypeError(`${title}: ${name} is bit ${bit}`);
    if (seen.has(bit)) throw new TypeError(`${title}: ${name} repeats bit ${bit}`);
    seen.add(bit);
    masks.set(name, 1n << BigInt(bit));
  }
  const all = [...masks.values()].reduce((sum, mask) => sum | mask, 0n);
  const maskOf = (name: N): bigint => {
    const mask = masks.get(name);
    if (mask === undefined) throw new LayoutError(`${title} has no ${name}`);
    return mask;
  };
  return {
    title,
    prefix,
    entries: [...masks],
    maskOf,
    has: (value, name) => (BigInt(value) & maskOf(name)) !== 0n,
    show(value) {
      const wide = unsigned(value, 64);
      return {
        value: hexText(wide),
        flags: [...masks].filter(([, mask]) => (wide & mask) !== 0n).map(([name]) => name),
        unknown: hexText(wide & ~all),
      };
    },
  };
}

export function flagsSchema(table: FlagSet): JsonSchema {
  return {
    type: 'object',
    title: table.title,
    properties: {
      value: HEX_SCHEMA,
      flags: { type: 'array', items: { enum: table.entries.map(([name]) => name) } },
      unknown: HEX_SCHEMA,
    },
    required: ['value', 'flags', 'unknown'],
    additionalProperties: false,
  };
}

/** The integer type `codec`, whose bits have the names of `table`. */
export function flagsOf<T extends number | bigint, N extends string>(
  codec: Codec<T>,
  table: FlagSet<N>,
): Codec<T, FlagsJson<N>> {
  return {
    ...codec,
    toJson: (value) => table.show(unsigned(value, codec.size * 8)),
    schema: () => flagsSchema(table),
  };
}
