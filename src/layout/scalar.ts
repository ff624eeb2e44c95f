import type { Codec, JsonSchema } from './codec.ts';
import { LayoutError, shown } from './error.ts';

type Order = 'host' | 'big';

function integerCodec(bits: 8 | 16 | 32, signed: boolean, order: Order): Codec<number, number> {
  const bytes = bits / 8;
  const littleEndian = order === 'host';
  const minimum = signed ? -(2 ** (bits - 1)) : 0;
  const maximum = 2 ** (signed ? bits - 1 : bits) - 1;
  const type = `${order === 'big' ? 'be' : signed ? 's' : 'u'}${bits}`;
  const suffix = `${signed ? 'Int' : 'Uint'}${bits}` as const;
  return {
    type,
    size: bytes,
    align: bytes,
    read: (view, offset) => view[`get${suffix}`](offset, littleEndian),
    write(view, offset, value, path) {
      if (!Number.isInteger(value) || value < minimum || value > maximum) {
        throw new LayoutError(`${path}: ${shown(value)} does not fit ${type} (${minimum}..${maximum})`);
      }
      view[`set${suffix}`](offset, value, littleEndian);
    },
    zero: () => 0,
    toJson: (value) => value,
    schema: () => ({ type: 'integer', minimum, maximum }),
  };
}

function wideIntegerCodec(signed: boolean, order: Order): Codec<bigint, string> {
  const littleEndian = order === 'host';
  const minimum = signed ? -(1n << 63n) : 0n;
  const maximum = signed ? (1n << 63n) - 1n : (1n << 64n) - 1n;
  const type = order === 'big' ? 'be64' : signed ? 's64' : 'u64';
  return {
    type,
    size: 8,
    align: 8,
    read: (view, offset) =>
      signed ? view.getBigInt64(offset, littleEndian) : view.getBigUint64(offset, littleEndian),
    write(view, offset, value, path) {
      if (typeof value !== 'bigint') throw new LayoutError(`${path}: ${shown(value)} is not a bigint`);
      if (value < minimum || value > maximum) {
        throw new LayoutError(`${path}: ${value} does not fit ${type} (${minimum}..${maximum})`);
      }
      view.setBigUint64(offset, BigInt.asUintN(64, value), littleEndian);
    },
    zero: () => 0n,
    toJson: (value) => value.toString(),
    schema: () => ({ type: 'string', pattern: signed ? '^-?[0-9]+$' : '^[0-9]+$' }),
  };
}

/** Integers in the byte order of the machine. Layouts are for little-endian machines only. */
export const u8 = integerCodec(8, false, 'host');
export const u16 = integerCodec(16, false, 'host');
export const u32 = integerCodec(32, false, 'host');
export const u64 = wideIntegerCodec(false, 'host');
export const s8 = integerCodec(8, true, 'host');
export const s16 = integerCodec(16, true, 'host');
export const s32 = integerCodec(32, true, 'host');
export const s64 = wideIntegerCodec(true, 'host');

/** Integers in network byte order. */
export const be16 = integerCodec(16, false, 'big');
export const be32 = integerCodec(32, false, 'big');
export const be64 = wideIntegerCodec(false, 'big');

export const HEX_SCHEMA: JsonSchema = { type: 'string', pattern: '^0x[0-9a-f]+$' };

/** The bits of an integer: a negative one as its two's complement of `bits` bits. */
export const unsigned = (value: number | bigint, bits: number): bigint =>
  value < 0 ? BigInt.asUintN(bits, BigInt(value)) : BigInt(value);

/** `0x1f`. For values that are not negative. */
export const hexText = (value: number | bigint): string => `0x${value.toString(16)}`;

/** The same integer, shown in hexadecimal: for masks without named bits and for opaque words. */
export function hex<T extends number | bigint>(codec: Codec<T>): Codec<T, string> {
  return {
    ...codec,
    toJson: (value) => hexText(unsigned(value, codec.size * 8)),
    schema: () => HEX_SCHEMA,
  };
}

/** A pointer of a 64-bit machine. It means something only in the process that it comes from. */
export const pointer: Codec<bigint, string> = { ...hex(u64), type: 'void *' };

/** The length of an array in a declaration. */
export function checkLength(length: number): void {
  if (!Number.isSafeInteger(length) || length < 0) throw new TypeError(`an array of ${length} elements`);
}

/** A fixed run of raw bytes, in JSON a string of hexadecimal digits. */
export function bytes(length: number): Codec<Uint8Array, string> {
  checkLength(length);
  return {
    type: `u8[${length}]`,
    size: length,
    align: 1,
    read: (view, offset) => new Uint8Array(view.buffer, view.byteOffset + offset, length).slice(),
    write(view, offset, value, path) {
      // An array of numbers would be cut to 8 bits each without a word.
      if (!(value instanceof Uint8Array)) {
        throw new LayoutError(`${path}: ${shown(value)} is not a Uint8Array`);
      }
      if (value.length !== length) {
        throw new LayoutError(`${path}: ${value.length} bytes given, exactly ${length} needed`);
      }
      new Uint8Array(view.buffer, view.byteOffset + offset, length).set(value);
    },
    zero: () => new Uint8Array(length),
    toJson: (value) => Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join(''),
    schema: () => ({ type: 'string', pattern: `^[0-9a-f]{${length * 2}}$` }),
  };
}

// A byte order mark is three bytes of the text like any others: kept, as encoding it back must give them.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * A `char[length]` of UTF-8 that ends at its first NUL, or fills the array. Bytes that are not UTF-8 are
 * decoded to U+FFFD; what follows the NUL is not decoded, and encoded as zeros.
 */
export function text(length: number): Codec<string, string> {
  checkLength(length);
  return {
    type: `char[${length}]`,
    size: length,
    align: 1,
    read(view, offset) {
      const all = new Uint8Array(view.buffer, view.byteOffset + offset, length);
      const end = all.indexOf(0);
      return decoder.decode(end < 0 ? all : all.subarray(0, end));
    },
    write(view, offset, value, path) {
      if (typeof value !== 'string') throw new LayoutError(`${path}: ${shown(value)} is not a text`);
      if (value.includes('\0')) throw new LayoutError(`${path}: a NUL inside the text would end it`);
      if (LONE_SURROGATE.test(value)) throw new LayoutError(`${path}: half a surrogate pair has no UTF-8`);
      const encoded = encoder.encode(value);
      if (encoded.length > length) {
        throw new LayoutError(`${path}: a text of ${encoded.length} bytes does not fit char[${length}]`);
      }
      const all = new Uint8Array(view.buffer, view.byteOffset + offset, length);
      all.fill(0);
      all.set(encoded);
    },
    zero: () => '',
    toJson: (value) => value,
    schema: () => ({ type: 'string' }),
  };
}
