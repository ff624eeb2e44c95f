/** Random layouts and values against a second, naive implementation: strings of bits. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import * as efaKernel from '../../../src/abi/efa-kernel.ts';
import * as efadv from '../../../src/abi/efadv.ts';
import * as ucmaLinux from '../../../src/abi/ucma/linux.ts';
import * as ucmaReference from '../../../src/abi/ucma/reference.ts';
import * as ucmaShared from '../../../src/abi/ucma/shared.ts';
import * as uverbs from '../../../src/abi/uverbs.ts';
import * as verbs from '../../../src/abi/verbs.ts';
import { type BitField, bitfield, bitRecord, bitsAt, wideBitsAt } from '../../../src/layout/bits.ts';
import type { Codec } from '../../../src/layout/codec.ts';
import { fieldTable } from '../../../src/layout/field-table.ts';
import { be16, be32, be64, bytes, s8, s16, s32, s64, u8, u16, u32, u64 } from '../../../src/layout/scalar.ts';
import { array, type Fields, type Struct, struct } from '../../../src/layout/struct.ts';
import { randomFrom, tohex } from './support.ts';

const bitsOf = (data: Uint8Array): string =>
  Array.from(data, (byte) => byte.toString(2).padStart(8, '0')).join('');

test('bit records: 500 random ones', () => {
  const random = randomFrom(20240601);
  for (let round = 0; round < 500; round++) {
    const fields: Record<string, BitField<Codec<unknown>>> = {};
    const places: { name: string; at: number; width: number; value: number | bigint }[] = [];
    let at = 0;
    for (let index = 0; index < 1 + random.below(12); index++) {
      at += random.below(2) * random.below(9);
      const width = 1 + random.below(64);
      const bits =
        random.bytes(8).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n) >> BigInt(64 - width);
      const name = `f${index}`;
      fields[name] = width > 32 ? wideBitsAt(at, width) : bitsAt(at, width);
      places.push({ name, at, width, value: width > 32 ? bits : Number(bits) });
      at += width;
    }
    const size = Math.ceil(at / 8) + random.below(3);
    const layout = bitRecord('random', size, fields);
    const value = Object.fromEntries(places.map((place) => [place.name, place.value]));
    let expected = '0'.repeat(size * 8);
    for (const place of places) {
      const run = place.value.toString(2).padStart(place.width, '0');
      expected = expected.slice(0, place.at) + run + expected.slice(place.at + place.width);
    }
    const encoded = layout.encode(value);
    expect(bitsOf(encoded)).toBe(expected);
    expect(layout.decode(encoded)).toEqual(value);
    // Over bytes that hold something, only the covered bits change.
    const before = random.bytes(size);
    const after = before.slice();
    layout.write(new DataView(after.buffer), 0, value, 'random');
    const covered = new Set(
      places.flatMap(({ at, width }) => Array.from({ length: width }, (_, i) => at + i)),
    );
    const merged = Array.from(bitsOf(before), (bit, i) => (covered.has(i) ? expected[i] : bit)).join('');
    expect(bitsOf(after)).toBe(merged);
  }
});

test('structures: 300 random ones, over all their bytes', () => {
  const random = randomFrom(4711);
  const leaves = [u8, u16, u32, u64, s8, s16, s32, s64, be16, be32, be64, bytes(3)];
  const leaf = (): Codec<unknown> => leaves[random.below(leaves.length)] ?? u8;
  const make = (depth: number): Struct<Fields> => {
    const fields: Record<string, Codec<unknown>> = {};
    for (let index = 0; index < 1 + random.below(6); index++) {
      const kind = depth > 0 ? random.below(5) : 0;
      const codec = kind === 4 ? make(depth - 1) : leaf();
      fields[`m${index}`] = kind === 3 ? array(codec, random.below(4)) : codec;
    }
    return struct('random', fields, { packed: random.below(4) === 0 });
  };
  for (let round = 0; round < 300; round++) {
    const layout = make(2);
    const input = random.bytes(layout.size);
    const value = layout.decode(input);
    const encoded = layout.encode(value);
    expect(layout.decode(encoded)).toEqual(value);
    // Padding apart, the bytes are the same: written over the input, nothing changes.
    const over = input.slice();
    layout.write(new DataView(over.buffer), 0, value, 'random');
    expect(tohex(over)).toBe(tohex(input));
    // Members lie in order, aligned, without overlap.
    let end = 0;
    for (const member of layout.members) {
      expect(member.offset).toBeGreaterThanOrEqual(end);
      expect(layout.align === 1 || member.offset % member.codec.align === 0).toBe(true);
      expect(member.offset - end).toBeLessThan(8);
      end = member.offset + member.size;
    }
    expect(layout.size % layout.align).toBe(0);
  }
});

test('C bit fields: 200 random ones', () => {
  const random = randomFrom(99);
  for (let round = 0; round < 200; round++) {
    const storage = [u8, u16, u32, be16, be32][random.below(5)] ?? u8;
    const widths: Record<string, number> = {};
    let left = storage.size * 8;
    for (let index = 0; left > 0 && index < 6; index++) {
      const width = 1 + random.below(left);
      widths[`b${index}`] = width;
      left -= width;
    }
    const first = random.below(2) === 0 ? 'lowest' : 'highest';
    const codec = bitfield(storage, widths, first);
    const input = random.bytes(storage.size);
    const value = codec.read(new DataView(input.buffer), 0);
    // The same by texts of bits: the storage unit as one number, first member at the chosen end.
    const unit = storage
      .read(new DataView(input.buffer), 0)
      .toString(2)
      .padStart(storage.size * 8, '0');
    let used = 0;
    for (const [name, width] of Object.entries(widths)) {
      const from = first === 'highest' ? used : unit.length - used - width;
      expect(value[name]).toBe(Number.parseInt(unit.slice(from, from + width), 2));
      used += width;
    }
    const over = input.slice();
    codec.write(new DataView(over.buffer), 0, value, 'f');
    expect(tohex(over)).toBe(tohex(input));
  }
});

describe('every declared structure', () => {
  const layouts = [verbs, efadv, uverbs, efaKernel, ucmaLinux, ucmaReference, ucmaShared].flatMap((module) =>
    Object.values<unknown>(module).filter(isStruct),
  );
  const ajv = new Ajv2020({ strict: true, strictRequired: true });

  test.each(layouts.map((layout) => [layout.title, layout] as const))('%s', (title, layout) => {
    const random = randomFrom(title.length * 7919);
    const validate = ajv.compile(layout.schema());
    for (let round = 0; round < 20; round++) {
      const input = random.bytes(layout.size);
      for (const { type, offset, size } of fieldTable(layout)) {
        // Any other bytes are no UTF-8, which is decoded with loss.
        if (type.startsWith('char[')) input.set(Buffer.from('6.1 beta'.padEnd(size, '\0')), offset);
      }
      const value = layout.decode(input);
      const again = layout.decode(layout.encode(value));
      expect(again).toEqual(value);
      const json: unknown = JSON.parse(JSON.stringify(layout.toJson(value)));
      expect(validate(json), ajv.errorsText(validate.errors)).toBe(true);
    }
    expect(validate(layout.toJson(layout.zero()))).toBe(true);
    expect(validate({})).toBe(false);
  });
});

function isStruct(value: unknown): value is Struct<Fields> {
  return typeof value === 'object' && value !== null && 'members' in value && 'encode' in value;
}
