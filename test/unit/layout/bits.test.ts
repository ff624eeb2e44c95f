import { describe, expect, test } from 'vitest';
import {
  type BitField,
  bitfield,
  bitRecord,
  bitsAt,
  codecAt,
  shownAs,
  wideBitsAt,
} from '../../../src/layout/bits.ts';
import type { Codec, Decoded, JsonOf } from '../../../src/layout/codec.ts';
import { enumeration, enumOf } from '../../../src/layout/enumeration.ts';
import { flagSet, flagsOf } from '../../../src/layout/flags.ts';
import { be16, be32, be64, bytes, hex, s32, text, u8, u16, u32, u64 } from '../../../src/layout/scalar.ts';
import { array, omitting, struct, union } from '../../../src/layout/struct.ts';
import { holds, ill, layoutError, type Same, tohex, unhex } from './support.ts';

const Selector = enumeration('selector', '', { GREATER: 0, LESS: 1, EXACTLY: 2, LARGEST: 3 });

describe('a bit record', () => {
  test('numbers bits as the IBTA does: 0 is the top bit of byte 0', () => {
    const r = bitRecord('r', 2, {
      top: bitsAt(0, 1),
      next: bitsAt(1, 3),
      across: bitsAt(4, 8),
      last: bitsAt(15, 1),
    });
    // 1 010 1100|1011 000 1
    expect(r.decode(unhex('ac b1'))).toEqual({ top: 1, next: 0b010, across: 0b1100_1011, last: 1 });
    expect(tohex(r.encode({ top: 1 }))).toBe('8000');
    expect(tohex(r.encode({ next: 7 }))).toBe('7000');
    expect(tohex(r.encode({ across: 0xff }))).toBe('0ff0');
    expect(tohex(r.encode({ last: 1 }))).toBe('0001');
    expect(r).toMatchObject({ size: 2, align: 1, title: 'r' });
  });

  test('32 bits at an odd offset, all of them', () => {
    const r = bitRecord('r', 5, { head: bitsAt(0, 3), word: bitsAt(3, 32), tail: bitsAt(35, 5) });
    // 0xdeadbeef >> 3 = 0x1bd5b7dd, remainder 7 in the top bits of the last byte
    expect(tohex(r.encode({ word: 0xdeadbeef }))).toBe('1bd5b7dde0');
    expect(r.decode(unhex('1bd5b7dde0'))).toEqual({ head: 0, word: 0xdeadbeef, tail: 0 });
    expect(tohex(r.encode({ head: 7, word: 0xffffffff, tail: 31 }))).toBe('ffffffffff');
    expect(r.decode(unhex('ffffffffff'))).toEqual({ head: 7, word: 0xffffffff, tail: 31 });
  });

  test('64 bits at an odd offset reach into nine bytes', () => {
    const r = bitRecord('r', 9, { head: bitsAt(0, 4), wide: wideBitsAt(4, 64), tail: bitsAt(68, 4) });
    expect(tohex(r.encode({ wide: 0x0123456789abcdefn }))).toBe('00123456789abcdef0');
    expect(tohex(r.encode({ head: 0xf, wide: 0n, tail: 0xf }))).toBe('f0000000000000000f');
    expect(r.decode(unhex('a0123456789abcdefb'))).toEqual({
      head: 0xa,
      wide: 0x0123456789abcdefn,
      tail: 0xb,
    });
    expect(r.members.map(({ offset, size }) => [offset, size])).toEqual([
      [0, 1],
      [0, 9],
      [8, 1],
    ]);
    const odd = bitRecord('odd', 9, { wide: wideBitsAt(7, 64) });
    expect(tohex(odd.encode({ wide: 0xffffffffffffffffn }))).toBe('01fffffffffffffffe');
    expect(odd.decode(unhex('01fffffffffffffffe')).wide).toBe(0xffffffffffffffffn);
    expect(odd.decode(unhex('fe0000000000000001')).wide).toBe(0n);
  });

  test('33 bits', () => {
    const r = bitRecord('r', 5, { wide: wideBitsAt(1, 33) });
    expect(tohex(r.encode({ wide: 0x1_0000_0001n }))).toBe('4000000040');
    expect(r.decode(unhex('4000000040')).wide).toBe(0x1_0000_0001n);
  });

  test('writing one field leaves its neighbours as they were', () => {
    const r = bitRecord('r', 2, { a: bitsAt(3, 7) });
    const memory = unhex('ffff');
    r.write(new DataView(memory.buffer), 0, { a: 0 }, 'r');
    expect(tohex(memory)).toBe('e03f');
  });

  /**
   * Bytes 44 to 51 of an SA path record's attribute data, by hand: RawTraffic 1, 3 reserved, FlowLabel 20,
   * HopLimit 8, TClass 8, Reversible 1, NumbPath 7, P_Key 16.
   */
  test('part of a path record', () => {
    const path = bitRecord('path', 8, {
      raw_traffic: bitsAt(0, 1),
      flow_label: bitsAt(4, 20),
      hop_limit: bitsAt(24, 8),
      traffic_class: bitsAt(32, 8),
      reversible: bitsAt(40, 1),
      numb_path: bitsAt(41, 7),
      pkey: shownAs(bitsAt(48, 16), hex),
    });
    const bytesIn = unhex('8abcde40 20 ff ffff');
    expect(path.decode(bytesIn)).toEqual({
      raw_traffic: 1,
      flow_label: 0xabcde,
      hop_limit: 0x40,
      traffic_class: 0x20,
      reversible: 1,
      numb_path: 127,
      pkey: 0xffff,
    });
    expect(tohex(path.encode(path.decode(bytesIn)))).toBe('8abcde4020ffffff');
    expect(path.toJson(path.decode(bytesIn))).toMatchObject({ flow_label: 0xabcde, pkey: '0xffff' });
    // The three reserved bits are not kept.
    expect(tohex(path.encode(path.decode(unhex('fabcde40 20 ff ffff'))))).toBe('8abcde4020ffffff');
  });

  test('whole-byte types: big-endian integers, GUIDs, texts, arrays, records in records', () => {
    const cell = bitRecord('cell', 2, { vl: bitsAt(4, 4), weight: bitsAt(8, 8) });
    const r = bitRecord('r', 27, {
      lead: bitsAt(0, 8),
      guid: codecAt(8, be64),
      name: codecAt(72, text(4)),
      pkeys: codecAt(104, array(be16, 2)),
      cells: codecAt(136, array(cell, 3)),
      one: codecAt(184, cell),
      // The last bits of a record that ends in the middle of a byte.
      rest: bitsAt(200, 13),
    });
    const bytesIn = unhex('01 0203040506070809 61620000 8001ffff 0f01 0e02 f0ff 03ff 8008');
    const value = {
      lead: 1,
      guid: 0x0203040506070809n,
      name: 'ab',
      pkeys: [0x8001, 0xffff],
      cells: [
        { vl: 15, weight: 1 },
        { vl: 14, weight: 2 },
        { vl: 0, weight: 255 },
      ],
      one: { vl: 3, weight: 255 },
      rest: 0x1001,
    };
    expect(r.decode(bytesIn)).toEqual(value);
    expect(tohex(r.encode(value))).toBe(
      '01020304050607080961620000' + '8001ffff' + '0f010e0200ff' + '03ff' + '8008',
    );
    expect(layoutError(() => r.encode({ cells: [{}, { vl: 16 }, {}] }))).toBe(
      'r.cells[1].vl: 16 does not fit 4 bits (0..15)',
    );
    holds<
      Same<
        Decoded<typeof r>,
        {
          lead: number;
          guid: bigint;
          name: string;
          pkeys: number[];
          cells: { vl: number; weight: number }[];
          one: { vl: number; weight: number };
          rest: number;
        }
      >
    >();
  });

  test('inside a C structure, and a C structure or union inside it', () => {
    const packed = struct('p', { a: u8, b: be32 }, { packed: true });
    const mad = bitRecord('mad', 12, {
      kind: bitsAt(0, 8),
      body: codecAt(8, packed),
      either: codecAt(48, union('u', { word: be32, low: bytes(2) })),
      end: bitsAt(92, 4),
    });
    const message = struct('message', { id: u32, mad, crc: u16 });
    expect(message).toMatchObject({ size: 20, align: 4 });
    expect(message.offsetOf('crc')).toBe(16);
    const encoded = message.encode({
      id: 1,
      mad: { kind: 2, body: { a: 3, b: 4 }, either: { low: unhex('0506') }, end: 7 },
    });
    expect(tohex(encoded)).toBe('01000000' + '02' + '0300000004' + '05060000' + '0007' + '00000000');
    expect(message.decode(encoded).mad.body).toEqual({ a: 3, b: 4 });
    expect(message.decode(encoded).mad.either.word).toBe(0x05060000);
  });

  test('fields in any order; values come in the order of the declaration', () => {
    const r = bitRecord('r', 1, { low: bitsAt(4, 4), high: bitsAt(0, 4) });
    expect(Object.entries(r.decode(unhex('12')))).toEqual([
      ['low', 2],
      ['high', 1],
    ]);
  });

  test('decodeAvailable counts the last byte that a field touches', () => {
    const r = bitRecord('r', 3, { a: bitsAt(0, 7), b: bitsAt(7, 2), c: bitsAt(9, 7) });
    expect(r.decodeAvailable(unhex('ff'))).toEqual({ a: 127 });
    expect(r.decodeAvailable(unhex('ffff'))).toEqual({ a: 127, b: 3, c: 127 });
  });

  test('may leave fields out', () => {
    const r = bitRecord('r', 1, { a: bitsAt(0, 4), b: bitsAt(4, 4) });
    expect(omitting(r, 'a').decode(unhex('12'))).toEqual({ b: 2 });
    expect(omitting(r, 'a').toJson(r.decode(unhex('12')))).toEqual({ b: 2 });
  });

  test('shows runs of bits as names, flags and hexadecimal', () => {
    const Bits = flagSet('bits', '', { A: 0, B: 1 });
    const r = bitRecord('r', 9, {
      mtu: shownAs(bitsAt(0, 2), (codec) => enumOf(codec, Selector)),
      mask: shownAs(bitsAt(2, 6), (codec) => flagsOf(codec, Bits)),
      key: shownAs(wideBitsAt(8, 64), hex),
    });
    const value = r.decode(unhex('86 ffffffffffffffff'));
    expect(value).toEqual({ mtu: 2, mask: 6, key: 0xffffffffffffffffn });
    expect(r.toJson(value)).toEqual({
      mtu: { value: 2, name: 'EXACTLY' },
      mask: { value: '0x6', flags: ['B'], unknown: '0x4' },
      key: '0xffffffffffffffff',
    });
    holds<Same<JsonOf<typeof r>['mtu']['name'], 'GREATER' | 'LESS' | 'EXACTLY' | 'LARGEST' | null>>();
    expect(r.schema()).toMatchObject({ properties: { key: { pattern: '^0x[0-9a-f]+$' } } });
    expect(bitsAt(0, 6).codec.schema()).toEqual({ type: 'integer', minimum: 0, maximum: 63 });
    expect(wideBitsAt(0, 40).codec.schema()).toEqual({ type: 'string', pattern: '^[0-9]+$' });
  });

  test('refuses declarations that cannot be', () => {
    expect(() => bitRecord('r', 1, { a: bitsAt(0, 9) })).toThrow('r.a ends beyond 1 bytes');
    expect(() => bitRecord('r', 4, { a: bitsAt(0, 5), b: bitsAt(4, 1) })).toThrow('r: b overlaps a at bit 4');
    expect(() => bitRecord('r', 4, { b: bitsAt(4, 1), a: bitsAt(0, 5) })).toThrow('r: b overlaps a at bit 4');
    expect(() => bitRecord('r', 9, { a: codecAt(0, be64), b: bitsAt(63, 8) })).toThrow('overlaps');
    expect(() => bitRecord('r', 1, { 7: bitsAt(0, 1) })).toThrow('7 cannot be the name');
    expect(() => bitsAt(0, 33)).toThrow('use wideBitsAt');
    expect(() => bitsAt(0, 0)).toThrow(TypeError);
    expect(() => bitsAt(-1, 4)).toThrow(TypeError);
    expect(() => bitsAt(0.5, 4)).toThrow(TypeError);
    expect(() => bitsAt(0, 1.5)).toThrow(TypeError);
    expect(() => wideBitsAt(0, 32)).toThrow('use bitsAt');
    expect(() => wideBitsAt(0, 65)).toThrow(TypeError);
    expect(() => codecAt(4, be16)).toThrow('bit 4 is not the first of a byte');
    expect(() => shownAs(bitsAt(0, 4), () => enumOf(u32, Selector))).toThrow('cannot be shown as u32');
  });

  test('refuses values that do not fit, by name', () => {
    const r = bitRecord('r', 9, { a: bitsAt(0, 3), b: wideBitsAt(3, 40) });
    expect(layoutError(() => r.encode({ a: 8 }))).toBe('r.a: 8 does not fit 3 bits (0..7)');
    expect(layoutError(() => r.encode({ a: -1 }))).toBe('r.a: -1 does not fit 3 bits (0..7)');
    expect(layoutError(() => r.encode({ a: 1.5 }))).toContain('r.a: 1.5 does not fit');
    expect(layoutError(() => r.encode({ a: Number.NaN }))).toContain('r.a: NaN');
    expect(layoutError(() => r.encode({ a: ill('1') }))).toContain('r.a: "1"');
    expect(layoutError(() => r.encode({ b: 1n << 40n }))).toBe(
      'r.b: 1099511627776 does not fit 40 bits (0..1099511627775)',
    );
    expect(layoutError(() => r.encode({ b: -1n }))).toContain('r.b: -1 does not fit 40 bits');
    expect(layoutError(() => r.encode({ b: ill(1) }))).toBe('r.b: 1 is not a bigint');
    expect(layoutError(() => r.decode(new Uint8Array(8)))).toBe('r: 8 bytes given, 9 needed');
    expect(layoutError(() => r.encode(ill({ c: 1 })))).toBe('r has no member c');
  });

  test('types: wrong members and values do not compile', () => {
    const r = bitRecord('r', 16, {
      a: bitsAt(0, 3),
      b: wideBitsAt(3, 40),
      c: codecAt(64, struct('s', { x: u8 })),
    });
    const wrong = [
      // @ts-expect-error no such field
      () => r.encode({ d: 1 }),
      // @ts-expect-error up to 32 bits are a number
      () => r.encode({ a: 1n }),
      // @ts-expect-error more are a bigint
      () => r.encode({ b: 1 }),
      // @ts-expect-error no such member of the nested structure
      () => r.encode({ c: { y: 1 } }),
      // @ts-expect-error no such field
      () => r.decode(new Uint8Array(16)).d,
      // @ts-expect-error no such field
      () => r.offsetOf('d'),
      // @ts-expect-error 64 bits have no enumeration
      () => shownAs(wideBitsAt(0, 64), (codec) => enumOf(codec, Selector)),
    ];
    expect(wrong).toHaveLength(7);
    holds<Same<Decoded<typeof r>, { a: number; b: bigint; c: { x: number } }>>();
    holds<Same<ReturnType<typeof bitsAt>, BitField<Codec<number, number>>>>();
  });
});

describe('C bit fields', () => {
  test('lowest bits first, as a little-endian machine has them', () => {
    const f = bitfield(u8, { low: 3, middle: 1, high: 4 });
    const s = struct('s', { f });
    // 1010 0 110
    expect(s.decode(unhex('a6'))).toEqual({ f: { low: 6, middle: 0, high: 10 } });
    expect(tohex(s.encode({ f: { low: 6, middle: 0, high: 10 } }))).toBe('a6');
    expect(tohex(s.encode({ f: { middle: 1 } }))).toBe('08');
    expect(f.type).toBe('u8 {low:3, middle:1, high:4}');
  });

  test('highest bits first, in network order: version and IHL of an IPv4 header, then its fragment word', () => {
    const s = struct('s', {
      first: bitfield(u8, { version: 4, ihl: 4 }, 'highest'),
      tos: u8,
      fragment: bitfield(be16, { flags: 3, offset: 13 }, 'highest'),
    });
    expect(s.decode(unhex('45 00 2001'))).toEqual({
      first: { version: 4, ihl: 5 },
      tos: 0,
      fragment: { flags: 1, offset: 1 },
    });
    expect(tohex(s.encode({ first: { version: 4, ihl: 5 }, fragment: { flags: 1, offset: 1 } }))).toBe(
      '45002001',
    );
  });

  test('the top bit of 32 and of 64', () => {
    const s = struct('s', { a: bitfield(u32, { low: 31, top: 1 }), b: bitfield(u64, { low: 32, high: 32 }) });
    expect(tohex(s.encode({ a: { top: 1 }, b: { high: 0x80000001 } }))).toBe(
      '00000080' + '00000000' + '00000000' + '01000080',
    );
    expect(s.decode(s.encode({ a: { low: 2 ** 31 - 1, top: 1 }, b: { low: 2 ** 32 - 1 } }))).toEqual({
      a: { low: 2 ** 31 - 1, top: 1 },
      b: { low: 2 ** 32 - 1, high: 0 },
    });
  });

  test('bits left out, and bits without a name, stay as they were', () => {
    const f = bitfield(u16, { a: 4, b: 4 });
    const memory = unhex('ffff');
    f.write(new DataView(memory.buffer), 0, ill({ a: 0 }), 'f');
    expect(tohex(memory)).toBe('f0ff');
  });

  test('refuses what does not fit, by name', () => {
    const s = struct('s', { f: bitfield(u8, { a: 3, b: 5 }) });
    expect(layoutError(() => s.encode({ f: { a: 8 } }))).toBe('s.f.a: 8 does not fit 3 bits (0..7)');
    expect(layoutError(() => s.encode({ f: { a: 0.5 } }))).toContain('s.f.a: 0.5');
    expect(layoutError(() => s.encode({ f: ill({ a: '1' }) }))).toContain('s.f.a: "1"');
    expect(layoutError(() => s.encode({ f: ill({ c: 1 }) }))).toBe('s.f has no member c');
    expect(layoutError(() => s.encode({ f: ill(3) }))).toBe('s.f: 3 is not an object of bit fields');
    const wrong = [
      // @ts-expect-error no such bit field
      () => s.encode({ f: { c: 1 } }),
      // @ts-expect-error a bit field is a number
      () => s.encode({ f: { a: 1n } }),
    ];
    expect(wrong).toHaveLength(2);
    holds<Same<Decoded<typeof s>, { f: { a: number; b: number } }>>();
  });

  test('refuses declarations that cannot be', () => {
    expect(() => bitfield(u8, { a: 4, b: 5 })).toThrow('9 bits declared in a storage unit of 8');
    expect(() => bitfield(u8, { a: 0 })).toThrow('a: a bit field of 0 bits');
    expect(() => bitfield(u8, { a: 1.5 })).toThrow(TypeError);
    expect(() => bitfield(u64, { a: 33 })).toThrow(TypeError);
    expect(() => bitfield(s32, { a: 3 })).toThrow('bit fields in s32, not an unsigned integer');
  });

  test('have a JSON form and a schema', () => {
    const f = bitfield(u8, { a: 3, b: 5 });
    expect(f.toJson(f.zero())).toEqual({ a: 0, b: 0 });
    expect(f.schema()).toMatchObject({
      required: ['a', 'b'],
      additionalProperties: false,
      properties: { a: { type: 'integer', minimum: 0, maximum: 7 }, b: { maximum: 31 } },
    });
  });
});
