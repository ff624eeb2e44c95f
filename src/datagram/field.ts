/**
 * The kinds of fields in management datagrams. A field is one line of a table: {name, bit offset, width, kind,
 * meaning}; from it come decode, encode, JSON and its schema, the reading of a value that a person typed, and the
 * documentation. Offsets are bits from the start of the attribute, most significant bit first, as the IBTA counts.
 */
import { isIPv6 } from 'node:net';
import { gid as gidCodec, parseGid as gidOf, guid as guidCodec } from '../abi/ib-types.ts';
import { type BitField, bitRecord, bitsAt, codecAt, wideBitsAt } from '../layout/bits.ts';
import type { Codec, Json } from '../layout/codec.ts';
import { type Enumeration, enumOf } from '../layout/enumeration.ts';
import { LayoutError } from '../layout/error.ts';
import { type FlagSet, flagsOf } from '../layout/flags.ts';
import { bytes as bytesCodec } from '../layout/scalar.ts';
import { array } from '../layout/struct.ts';
import { bytesOfText, nodeText } from './node-text.ts';

/** How a field's value is written by people. */
export type FieldKind =
  | 'number'
  | 'hex'
  | 'identifier'
  | 'enum'
  | 'flags'
  | 'guid'
  | 'gid'
  | 'bytes'
  | 'text'
  | 'list'
  | 'record';

/** A type that can also be read from what a person types. */
export interface FieldCodec<T, J extends Json = Json> extends Codec<T, J> {
  readonly kind: FieldKind;
  readonly meaning: string;
  /** Throws FieldValueError. */
  parse(text: string): T;
}
export type Field<T, J extends Json = Json> = BitField<FieldCodec<T, J>>;

/** A text that is no value of the field. */
export class FieldValueError extends Error {
  override readonly name = 'FieldValueError';
}

const refuse = (text: string, wanted: string): never => {
  throw new FieldValueError(`'${text}' is not ${wanted}`);
};

/** A whole number in decimal or, after 0x, in hexadecimal, of at most `width` bits. */
export function parseInteger(text: string, width: number): bigint {
  if (!/^(\d+|0x[0-9a-f]+)$/i.test(text)) return refuse(text, 'a whole number, decimal or 0x...');
  const value = BigInt(text);
  if (value >> BigInt(width) !== 0n) return refuse(text, `a number of ${width} bits`);
  return value;
}

/** `a:b:c:d` of four hexadecimal groups, or 0x and up to 16 digits. */
export function parseGuid(text: string): bigint {
  if (/^([0-9a-f]{1,4}:){3}[0-9a-f]{1,4}$/i.test(text)) {
    const groups = text.split(':').map((group) => group.padStart(4, '0'));
    return BigInt(`0x${groups.join('')}`);
  }
  if (!/^0x[0-9a-f]{1,16}$/i.test(text))
    return refuse(text, 'a GUID (0x and 16 digits, or xxxx:xxxx:xxxx:xxxx)');
  return BigInt(text);
}

/** A GID, written as an IPv6 address. */
export function parseGid(text: string): Uint8Array {
  const gid = isIPv6(text) && !text.includes('%') ? gidOf(text) : null;
  return gid ?? refuse(text, 'a GID (an IPv6 address, such as fe80::1)');
}

/** Pairs of hexadecimal digits; blanks and colons between them are passed over. */
export function parseHexBytes(text: string): Uint8Array {
  const digits = text.replaceAll(/[\s:]|^0x/gi, '');
  if (!/^([0-9a-f]{2})*$/i.test(digits)) return refuse(text, 'bytes in hexadecimal (pairs of digits)');
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

const words = (text: string): string[] => (text.trim() === '' ? [] : text.trim().split(/[\s,]+/));

function field<T, J extends Json>(
  { bitOffset, bitWidth, codec }: BitField<Codec<T, J>>,
  kind: FieldKind,
  meaning: string,
  parse: (text: string) => T,
): Field<T, J> {
  return { bitOffset, bitWidth, codec: { ...codec, kind, meaning, parse } };
}

/** A number of up to 32 bits, shown in decimal. */
export const number = (offset: number, width: number, meaning: string): Field<number, number> =>
  field(bitsAt(offset, width), 'number', meaning, (text) => Number(parseInteger(text, width)));

/** A counter or quantity of 33 to 64 bits, shown in decimal. */
export const wideNumber = (offset: number, width: number, meaning: string): Field<bigint, string> =>
  field(wideBitsAt(offset, width), 'number', meaning, (text) => parseInteger(text, width));

/** An opaque word of up to 32 bits, shown in hexadecimal: a key, a mask without names. */
export function hex(offset: number, width: number, meaning: string): Field<number, string> {
  const digits = Math.ceil(width / 4);
  const place = bitsAt(offset, width);
  const codec: Codec<number, string> = {
    ...place.codec,
    toJson: (value) => `0x${value.toString(16).padStart(digits, '0')}`,
    schema: () => ({ type: 'string', pattern: `^0x[0-9a-f]{${digits}}$` }),
  };
  return field({ ...place, codec }, 'hex', meaning, (text) => Number(parseInteger(text, width)));
}

/** An opaque word of 64 bits, shown in hexadecimal. */
export function wideHex(offset: number, meaning: string): Field<bigint, string> {
  const place = wideBitsAt(offset, 64);
  const codec: Codec<bigint, string> = {
    ...place.codec,
    toJson: (value) => `0x${value.toString(16).padStart(16, '0')}`,
    schema: () => ({ type: 'string', pattern: '^0x[0-9a-f]{16}$' }),
  };
  return field({ ...place, codec }, 'hex', meaning, (text) => parseInteger(text, 64));
}

/** A number that people know in hexadecimal: a vendor or device id. */
export const identifier = (offset: number, width: number, meaning: string): Field<number, number> =>
  field(bitsAt(offset, width), 'identifier', meaning, (text) => Number(parseInteger(text, width)));

/** A number with names. A name may be typed in any case. */
export function named<N extends string>(
  offset: number,
  width: number,
  table: Enumeration<N>,
  meaning: string,
) {
  const place = bitsAt(offset, width);
  return field({ ...place, codec: enumOf(place.codec, table) }, 'enum', meaning, (text) => {
    const known = table.entries.find(([name]) => name.toLowerCase() === text.toLowerCase());
    if (known) return known[1];
    if (!/^(\d+|0x[0-9a-f]+)$/i.test(text)) {
      return refuse(text, `a ${table.title}: ${table.entries.map(([name]) => name).join(', ')}, or a number`);
    }
    return Number(parseInteger(text, width));
  });
}

/** A mask of up to 32 bits. Typed as a number, or as names with commas or | between them. */
export function flags<N extends string>(offset: number, width: number, set: FlagSet<N>, meaning: string) {
  const place = bitsAt(offset, width);
  return field({ ...place, codec: flagsOf(place.codec, set) }, 'flags', meaning, (text) => {
    if (/^(\d+|0x[0-9a-f]+)$/i.test(text)) return Number(parseInteger(text, width));
    const masks = text.split(/[,|\s]+/).map((word) => {
      const known = set.entries.find(([name]) => name.toLowerCase() === word.toLowerCase());
      return known
        ? known[1]
        : refuse(word, `a flag of ${set.title}: ${set.entries.map(([name]) => name).join(', ')}`);
    });
    return Number(masks.reduce((sum, mask) => sum | mask, 0n));
  });
}

/** A 64-bit GUID. */
export const guid = (offset: number, meaning: string): Field<bigint, string> =>
  field(codecAt(offset, guidCodec), 'guid', meaning, parseGuid);

/** A 128-bit GID. */
export const gid = (offset: number, meaning: string): Field<Uint8Array, string> =>
  field(codecAt(offset, gidCodec), 'gid', meaning, parseGid);

/** Raw bytes. Fewer may be typed: zeros follow. */
export const bytes = (offset: number, length: number, meaning: string): Field<Uint8Array, string> =>
  field(codecAt(offset, bytesCodec(length)), 'bytes', meaning, (text) => {
    const given = parseHexBytes(text);
    if (given.length > length) return refuse(text, `at most ${length} bytes`);
    const all = new Uint8Array(length);
    all.set(given);
    return all;
  });

/** A name that a node gives itself: UTF-8, and `\xHH` for the bytes that are none. */
export const text = (offset: number, length: number, meaning: string): Field<string, string> =>
  field(codecAt(offset, nodeText(length)), 'text', meaning, (typed) => {
    const given = bytesOfText(typed);
    if (given === null) return refuse(typed, 'a text: a backslash is written \\\\, a byte \\xHH');
    if (given.length > length) return refuse(typed, `a text of at most ${length} bytes`);
    return typed;
  });

/** As many elements as the table has; fewer may be typed, and the rest is what zeros mean. */
function list<T, J extends Json>(
  offset: number,
  codec: Codec<T[], readonly J[]>,
  length: number,
  zero: T,
  meaning: string,
  parse: (word: string) => T,
): Field<T[], readonly J[]> {
  return field(codecAt(offset, codec), 'list', meaning, (typed) => {
    const given = words(typed).map(parse);
    if (given.length > length) return refuse(typed, `a list of at most ${length} elements`);
    return [...given, ...Array<T>(length - given.length).fill(zero)];
  });
}

/** A run of GUIDs. */
export const guids = (offset: number, length: number, meaning: string) =>
  list(offset, array(guidCodec, length), length, 0n, meaning, parseGuid);

/** A run of opaque words of 64 bits. */
export function wideHexes(offset: number, length: number, meaning: string) {
  const { codec } = wideHex(0, meaning);
  return list(offset, array(codec, length), length, 0n, meaning, codec.parse);
}

/** A run of numbers of `width` bits each, 4 to 32; as hexadecimal texts of `width` bits, or as numbers. */
export function numbers(offset: number, length: number, width: number, meaning: string) {
  const codec = packed(
    length,
    width,
    (value): number => value,
    () => ({
      type: 'integer',
      minimum: 0,
      maximum: 2 ** width - 1,
    }),
  );
  return list(offset, codec, length, 0, meaning, (word) => Number(parseInteger(word, width)));
}
export function hexes(offset: number, length: number, width: number, meaning: string) {
  const digits = width / 4;
  const codec = packed(
    length,
    width,
    (value) => `0x${value.toString(16).padStart(digits, '0')}`,
    () => ({ type: 'string', pattern: `^0x[0-9a-f]{${digits}}$` }),
  );
  return list(offset, codec, length, 0, meaning, (word) => Number(parseInteger(word, width)));
}

function packed<J extends Json>(
  length: number,
  width: number,
  shown: (value: number) => J,
  schema: Codec<number>['schema'],
): Codec<number[], readonly J[]> {
  const places = Array.from({ length }, (_, index) => bitsAt(index * width, width));
  const at = (place: BitField<Codec<number>>): number => place.bitOffset >> 3;
  return {
    type: `bits:${width}[${length}]`,
    size: (length * width) / 8,
    align: 1,
    read: (view, offset) => places.map((place) => place.codec.read(view, offset + at(place))),
    write(view, offset, values, path) {
      if (!Array.isArray(values) || values.length !== length) {
        throw new LayoutError(`${path}: exactly ${length} elements needed`);
      }
      for (const [index, place] of places.entries()) {
        place.codec.write(view, offset + at(place), values[index] ?? Number.NaN, `${path}[${index}]`);
      }
    },
    zero: () => places.map(() => 0),
    toJson: (values) => values.map(shown),
    schema: () => ({ type: 'array', items: schema(), minItems: length, maxItems: length }),
  };
}

/** A run of records. Typed with a colon between the members of an element: `0:64,1:32`. */
export function records<const F extends { readonly [name: string]: Field<number, number> }>(
  offset: number,
  length: number,
  size: number,
  members: F,
  meaning: string,
) {
  const element = bitRecord('element', size, members);
  const names = Object.keys(members);
  type Element = ReturnType<typeof element.zero>;
  return list(offset, array(element, length), length, element.zero(), meaning, (word): Element => {
    const parts = word.split(':');
    if (parts.length !== names.length) return refuse(word, `of the form ${names.join(':')}`);
    const values = names.map((name, index) => [name, members[name]?.codec.parse(parts[index] ?? '')]);
    // The names are those of `members`, each with its number.
    return Object.fromEntries(values) as Element;
  });
}

/** Whether a layout's member was made here, and can be read from a text. */
export const isField = (codec: Codec<unknown>): codec is FieldCodec<unknown> =>
  'parse' in codec && typeof codec.parse === 'function';
