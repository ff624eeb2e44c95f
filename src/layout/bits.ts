import type { Codec, Member } from './codec.ts';
import { LayoutError, shown } from './error.ts';
import { record, type Struct } from './struct.ts';

/** A run of bits in a record, placed. */
export interface BitField<C extends Codec<unknown>> {
  readonly bitOffset: number;
  readonly bitWidth: number;
  readonly codec: C;
}

/** Up to 32 bits, most significant first. */
function readBits(view: DataView, bitOffset: number, bitWidth: number): number {
  const end = bitOffset + bitWidth;
  let value = 0;
  for (let bit = bitOffset; bit < end; ) {
    const free = 8 - (bit & 7);
    const taken = Math.min(free, end - bit);
    const chunk = (view.getUint8(bit >> 3) >> (free - taken)) & ((1 << taken) - 1);
    // Not <<, which is signed above 31 bits.
    value = value * (1 << taken) + chunk;
    bit += taken;
  }
  return value;
}

function writeBits(view: DataView, bitOffset: number, bitWidth: number, value: number): void {
  let rest = value;
  for (let end = bitOffset + bitWidth; end > bitOffset; ) {
    const last = end - 1;
    const taken = Math.min((last & 7) + 1, end - bitOffset);
    const shift = 7 - (last & 7);
    const mask = ((1 << taken) - 1) << shift;
    const chunk = rest % (1 << taken);
    view.setUint8(last >> 3, (view.getUint8(last >> 3) & ~mask) | (chunk << shift));
    rest = (rest - chunk) / (1 << taken);
    end -= taken;
  }
}

function checkPlace(offset: number, width: number): void {
  if (!Number.isSafeInteger(offset) || offset < 0) throw new TypeError(`a run of bits at ${offset}`);
  if (!Number.isSafeInteger(width)) throw new TypeError(`a run of ${width} bits`);
}

function checkNarrow(value: number, width: number, path: string): void {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** width) {
    throw new LayoutError(`${path}: ${shown(value)} does not fit ${width} bits (0..${2 ** width - 1})`);
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
  checkPlace(offset, width);
  if (width < 1 || width > 32) throw new TypeError(`a run of ${width} bits; use wideBitsAt above 32`);
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
        checkNarrow(value, width, path);
        writeBits(view, at * 8 + inByte, width, value);
      },
      zero: () => 0,
      toJson: (value) => value,
      schema: () => ({ type: 'integer', minimum: 0, maximum: 2 ** width - 1 }),
    },
  };
}

/** As bitsAt, for 33 to 64 bits: the value is a bigint, in JSON a decimal string. */
export function wideBitsAt(offset: number, width: number): BitField<Codec<bigint, string>> {
  checkPlace(offset, width);
  if (width < 33 || width > 64) throw new TypeError(`a run of ${width} bits; use bitsAt up to 32`);
  const inByte = offset & 7;
  const highWidth = width - 32;
  const limit = 1n << BigInt(width);
  return {
    bitOffset: offset,
    bitWidth: width,
    codec: {
      type: `bits:${width}`,
      size: spanOf(offset, width).size,
      align: 1,
      read(view, at) {
        const first = at * 8 + inByte;
        const high = BigInt(readBits(view, first, highWidth));
        return (high << 32n) | BigInt(readBits(view, first + highWidth, 32));
      },
      write(view, at, value, path) {
        if (typeof value !== 'bigint') throw new LayoutError(`${path}: ${shown(value)} is not a bigint`);
        if (value < 0n || value >= limit) {
          throw new LayoutError(`${path}: ${value} does not fit ${width} bits (0..${limit - 1n})`);
        }
        const first = at * 8 + inByte;
        writeBits(view, first, highWidth, Number(value >> 32n));
        writeBits(view, first + highWidth, 32, Number(value & 0xffff_ffffn));
      },
      zero: () => 0n,
      toJson: (value) => value.toString(),
      schema: () => ({ type: 'string', pattern: '^[0-9]+$' }),
    },
  };
}

/** A whole-byte type (a GID, a text, an array, another record) at a bit offset, a multiple of 8. */
export function codecAt<C extends Codec<unknown>>(offset: number, codec: C): BitField<C> {
  checkPlace(offset, codec.size * 8);
  if (offset % 8 !== 0) throw new TypeError(`bit ${offset} is not the first of a byte`);
  return { bitOffset: offset, bitWidth: codec.size * 8, codec };
}

/** The same run of bits read as another type: `shownAs(bitsAt(0, 4), (c) => enumOf(c, PortState))`. */
export function shownAs<A extends Codec<unknown>, B extends Codec<unknown>>(
  field: BitField<A>,
  view: (codec: A) => B,
): BitField<B> {
  const codec = view(field.codec);
  if (codec.size !== field.codec.size) {
    throw new TypeError(`${field.bitWidth} bits at ${field.bitOffset} cannot be shown as ${codec.type}`);
  }
  return { ...field, codec };
}

type BitFields = { readonly [name: string]: BitField<Codec<unknown>> };
type CodecsOf<B extends BitFields> = { readonly [K in keyof B]: B[K]['codec'] };

/**
 * Declares a record of `size` bytes by {bit offset, width} per field, in network bit order: management
 * datagrams and their attributes. Fields must not overlap; bits that none covers are written as zero.
 */
export function bitRecord<const B extends BitFields>(
  title: string,
  size: number,
  fields: B,
): Struct<CodecsOf<B>> {
  const members = Object.entries(fields).map(([name, { bitOffset, bitWidth, codec }]) => {
    if (bitOffset + bitWidth > size * 8) throw new TypeError(`${title}.${name} ends beyond ${size} bytes`);
    return { name, ...spanOf(bitOffset, bitWidth), codec, bitOffset, bitWidth } satisfies Member;
  });
  const placed = [...members].sort((a, b) => a.bitOffset - b.bitOffset);
  placed.forEach((member, index) => {
    const next = placed[index + 1];
    if (next && next.bitOffset < member.bitOffset + member.bitWidth) {
      throw new TypeError(`${title}: ${next.name} overlaps ${member.name} at bit ${next.bitOffset}`);
    }
  });
  // Object.fromEntries forgets the names; they are those of `fields`.
  const codecs = Object.fromEntries(members.map(({ name, codec }) => [name, codec])) as CodecsOf<B>;
  return record(title, size, 1, codecs, members);
}

type Widths = { readonly [name: string]: number };
type BitValues<W extends Widths> = { -readonly [K in keyof W]: number };

/**
 * C bit fields of unsigned type inside one storage unit, as GCC lays them out: `first` says whether the first
 * member takes the lowest bits (a little-endian machine's `int a:4, b:4`) or the highest (network order).
 * The unit is taken whole: where the widths leave bytes of it free, C may put the next member there, so
 * declare the smallest unit that holds them.
 */
export function bitfield<const W extends Widths>(
  storage: Codec<number> | Codec<bigint>,
  widths: W,
  first: 'lowest' | 'highest' = 'lowest',
): Codec<BitValues<W>, { readonly [K in keyof W]: number }> {
  const total = storage.size * 8;
  if (!/^(u|be)\d+$/.test(storage.type))
    throw new TypeError(`bit fields in ${storage.type}, not an unsigned integer`);
  const widthOf = Object.entries(widths);
  const used = widthOf.reduce((sum, [, width]) => sum + width, 0);
  if (used > total) throw new TypeError(`${used} bits declared in a storage unit of ${total}`);
  let next = first === 'lowest' ? 0 : total;
  const places = widthOf.map(([name, width]) => {
    if (!Number.isInteger(width) || width < 1 || width > 32) {
      throw new TypeError(`${name}: a bit field of ${width} bits`);
    }
    const shift = first === 'lowest' ? next : next - width;
    next = first === 'lowest' ? next + width : shift;
    return { name, width, shift: BigInt(shift), mask: (1n << BigInt(width)) - 1n };
  });
  const known = new Set(places.map(({ name }) => name));
  // Object.fromEntries forgets the names; they are those of `widths`.
  const values = (pick: (place: (typeof places)[number]) => number): BitValues<W> =>
    Object.fromEntries(places.map((place) => [place.name, pick(place)])) as BitValues<W>;
  // One type for both kinds of storage: what is written is chosen by its size below.
  const unitCodec = storage as Codec<number | bigint>;
  return {
    type: `${storage.type} {${places.map(({ name, width }) => `${name}:${width}`).join(', ')}}`,
    size: storage.size,
    align: storage.align,
    read(view, offset) {
      const unit = BigInt(unitCodec.read(view, offset));
      return values(({ shift, mask }) => Number((unit >> shift) & mask));
    },
    write(view, offset, parts, path) {
      if (typeof parts !== 'object' || parts === null || Array.isArray(parts)) {
        throw new LayoutError(`${path}: ${shown(parts)} is not an object of bit fields`);
      }
      for (const name of Object.keys(parts)) {
        if (!known.has(name)) throw new LayoutError(`${path} has no member ${name}`);
      }
      let unit = BigInt(unitCodec.read(view, offset));
      for (const { name, width, shift, mask } of places) {
        const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
        // A bit field left out keeps the bits that are there: zero in encode's fresh buffer.
        if (part === undefined) continue;
        checkNarrow(part, width, `${path}.${name}`);
        unit = (unit & ~(mask << shift)) | (BigInt(part) << shift);
      }
      unitCodec.write(view, offset, storage.size === 8 ? unit : Number(unit), path);
    },
    zero: () => values(() => 0),
    toJson: (parts) => parts,
    schema: () => ({
      type: 'object',
      properties: Object.fromEntries(
        places.map(({ name, width }) => [name, { type: 'integer', minimum: 0, maximum: 2 ** width - 1 }]),
      ),
      required: places.map(({ name }) => name),
      additionalProperties: false,
    }),
  };
}
