import type { Codec, Member } from './codec.ts';
import { LayoutError } from './error.ts';
import { type Fields, record, type Struct } from './struct.ts';

/** A run of bits in a record, before it is placed. */
interface BitField<C extends Codec<unknown>> {
  readonly bitOffset: number;
  readonly bitWidth: number;
  readonly codec: C;
}

function readBits(view: DataView, bitOffset: number, bitWidth: number): bigint {
  let value = 0n;
  for (let bit = bitOffset; bit < bitOffset + bitWidth; ) {
    const inByte = bit & 7;
    const taken = Math.min(8 - inByte, bitOffset + bitWidth - bit);
    const chunk = (view.getUint8(bit >> 3) >> (8 - inByte - taken)) & ((1 << taken) - 1);
    value = (value << BigInt(taken)) | BigInt(chunk);
    bit += taken;
  }
  return value;
}

function writeBits(view: DataView, bitOffset: number, bitWidth: number, value: bigint): void {
  let rest = value;
  for (let end = bitOffset + bitWidth; end > bitOffset; ) {
    const lastInByte = (end - 1) & 7;
    const taken = Math.min(lastInByte + 1, end - bitOffset);
    const mask = (1 << taken) - 1;
    const shift = 7 - lastInByte;
    const at = (end - 1) >> 3;
    view.setUint8(at, (view.getUint8(at) & ~(mask << shift)) | (Number(rest & BigInt(mask)) << shift));
    rest >>= BigInt(taken);
    end -= taken;
  }
}

function checkRange(value: bigint, bitWidth: number, path: string): void {
  if (value < 0n || value >= 1n << BigInt(bitWidth)) {
    throw new LayoutError(`${path}: ${value} does not fit ${bitWidth} bits`);
  }
}

const spanOf = (bitOffset: number, bitWidth: number): { offset: number; size: number } => {
  const offset = bitOffset >> 3;
  return { offset, size: ((bitOffset + bitWidth + 7) >> 3) - offset };
};

/**
 * `width` bits (1 to 32) at `offset`, most significant first, bit 0 being the top bit of byte 0: the way the
 * IBTA specification numbers them. The value is a number.
 */
export function bitsAt(offset: number, width: number): BitField<Codec<number, number>> {
  if (width < 1 || width > 32) throw new TypeError(`a run of ${width} bits; use wideBitsAt above 32`);
  const inByte = offset & 7;
  return {
    bitOffset: offset,
    bitWidth: width,
    codec: {
      type: `bits:${width}`,
      size: spanOf(offset, width).size,
      align: 1,
      read: (view, at) => Number(readBits(view, at * 8 + inByte, width)),
      write(view, at, value, path) {
        if (!Number.isInteger(value)) throw new LayoutError(`${path}: ${value} is not an integer`);
        checkRange(BigInt(value), width, path);
        writeBits(view, at * 8 + inByte, width, BigInt(value));
      },
      zero: () => 0,
      toJson: (value) => value,
      schema: () => ({ type: 'integer', minimum: 0, maximum: 2 ** width - 1 }),
    },
  };
}

/** As bitsAt, for 33 to 64 bits: the value is a bigint, in JSON a decimal string. */
export function wideBitsAt(offset: number, width: number): BitField<Codec<bigint, string>> {
  if (width < 33 || width > 64) throw new TypeError(`a run of ${width} bits; use bitsAt up to 32`);
  const inByte = offset & 7;
  return {
    bitOffset: offset,
    bitWidth: width,
    codec: {
      type: `bits:${width}`,
      size: spanOf(offset, width).size,
      align: 1,
      read: (view, at) => readBits(view, at * 8 + inByte, width),
      write(view, at, value, path) {
        checkRange(value, width, path);
        writeBits(view, at * 8 + inByte, width, value);
      },
      zero: () => 0n,
      toJson: (value) => value.toString(),
      schema: () => ({ type: 'string', pattern: '^[0-9]+$' }),
    },
  };
}

/** A whole-byte type (a GID, a text, another record) at a bit offset, which must be a multiple of 8. */
export function codecAt<C extends Codec<never> | Codec<unknown>>(
  offset: number,
  codec: C,
): BitField<C & Codec<unknown>> {
  if (offset % 8 !== 0) throw new TypeError(`bit ${offset} is not the first of a byte`);
  const placed = codec as C & Codec<unknown>;
  return { bitOffset: offset, bitWidth: placed.size * 8, codec: placed };
}

/** The same run of bits read as another type: `shownAs(bitsAt(0, 4), (c) => enumOf(c, PortState))`. */
export function shownAs<A extends Codec<unknown>, B extends Codec<unknown>>(
  field: BitField<A>,
  view: (codec: A) => B,
): BitField<B> {
  return { ...field, codec: view(field.codec) };
}

type BitFields = { readonly [name: string]: BitField<Codec<unknown>> };
type CodecsOf<B extends BitFields> = { readonly [K in keyof B]: B[K]['codec'] } & Fields;

/**
 * Declares a record of `size` bytes by {bit offset, width} per field, in network bit order: management
 * datagrams and their attributes. Fields must not overlap; bits that none covers are written as zero.
 */
export function bitRecord<const B extends BitFields>(
  title: string,
  size: number,
  fields: B,
): Struct<CodecsOf<B>> {
  const owner = new Map<number, string>();
  const members: Member[] = Object.entries(fields).map(([name, { bitOffset, bitWidth, codec }]) => {
    if (bitOffset + bitWidth > size * 8) throw new TypeError(`${title}.${name} ends beyond ${size} bytes`);
    for (let bit = bitOffset; bit < bitOffset + bitWidth; bit++) {
      const other = owner.get(bit);
      if (other !== undefined) throw new TypeError(`${title}: ${name} overlaps ${other} at bit ${bit}`);
      owner.set(bit, name);
    }
    return { name, ...spanOf(bitOffset, bitWidth), codec, bitOffset, bitWidth };
  });
  const codecs = Object.fromEntries(Object.entries(fields).map(([name, { codec }]) => [name, codec]));
  return record(title, size, 1, codecs as CodecsOf<B>, members);
}

type Widths = { readonly [name: string]: number };

/**
 * C bit fields inside one storage unit, as GCC lays them out: `first` says whether the first member takes the
 * lowest bits (a little-endian machine's `int a:4, b:4`) or the highest (network order).
 */
export function bitfield<const W extends Widths>(
  storage: Codec<number> | Codec<bigint>,
  widths: W,
  first: 'lowest' | 'highest' = 'lowest',
): Codec<{ [K in keyof W]: number }, { readonly [K in keyof W]: number }> {
  type Value = { [K in keyof W]: number };
  const total = storage.size * 8;
  const names = Object.keys(widths);
  const used = names.reduce((sum, name) => sum + (widths[name] ?? 0), 0);
  if (used > total) throw new TypeError(`${used} bits declared in a storage unit of ${total}`);
  let next = first === 'lowest' ? 0 : total;
  const places = names.map((name) => {
    const width = widths[name] ?? 0;
    if (width < 1 || width > 32) throw new TypeError(`${name}: a bit field of ${width} bits`);
    const shift = first === 'lowest' ? next : next - width;
    next = first === 'lowest' ? next + width : shift;
    return { name, width, shift: BigInt(shift), mask: (1n << BigInt(width)) - 1n };
  });
  const value = (pick: (place: (typeof places)[number]) => number): Value =>
    Object.fromEntries(places.map((place) => [place.name, pick(place)])) as Value;
  const wide = storage as Codec<number | bigint>;
  return {
    type: `${storage.type} {${places.map(({ name, width }) => `${name}:${width}`).join(', ')}}`,
    size: storage.size,
    align: storage.align,
    read(view, offset) {
      const unit = BigInt(wide.read(view, offset));
      return value(({ shift, mask }) => Number((unit >> shift) & mask));
    },
    write(view, offset, values, path) {
      let unit = BigInt(wide.read(view, offset));
      for (const { name, width, shift, mask } of places) {
        const part = values[name];
        if (part === undefined) continue;
        checkRange(BigInt(part), width, `${path}.${name}`);
        unit = (unit & ~(mask << shift)) | (BigInt(part) << shift);
      }
      wide.write(view, offset, storage.size === 8 ? unit : Number(unit), path);
    },
    zero: () => value(() => 0),
    toJson: (values) => values,
    schema: () => ({
      type: 'object',
      properties: Object.fromEntries(
        places.map(({ name, width }) => [name, { type: 'integer', minimum: 0, maximum: 2 ** width - 1 }]),
      ),
      required: names,
      additionalProperties: false,
    }),
  };
}
