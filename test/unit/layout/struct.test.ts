import { describe, expect, test } from 'vitest';
import { about, type Decoded, type JsonOf } from '../../../src/layout/codec.ts';
import { enumeration, enumOf } from '../../../src/layout/enumeration.ts';
import { be16, be32, bytes, hex, s16, text, u8, u16, u32, u64 } from '../../../src/layout/scalar.ts';
import { array, type Fields, omitting, type Struct, struct, union } from '../../../src/layout/struct.ts';
import { holds, ill, layoutError, type Same, tohex, unhex } from './support.ts';

const Mode = enumeration('mode', 'MODE_', { OFF: 0, ON: 1 });

const inner = struct('inner', { a: u8, b: u32 });
/** Offsets by hand: tag 0, 7 bytes of padding, wide 8, pair 16 and 24, port 32 (be), tail 34, 5 bytes of padding. */
const outer = struct('outer', {
  tag: u8,
  wide: u64,
  pair: array(inner, 2),
  port: be16,
  tail: u8,
});

const outerBytes = unhex(`
  07 00000000000000
  0807060504030201
  01 000000 04030201
  02 000000 0d0c0b0a
  1234 ff 0000000000`);
const outerValue = {
  tag: 7,
  wide: 0x0102030405060708n,
  pair: [
    { a: 1, b: 0x01020304 },
    { a: 2, b: 0x0a0b0c0d },
  ],
  port: 0x1234,
  tail: 255,
};

describe('placing members', () => {
  test('aligns each to its size, and the whole to its widest member', () => {
    expect(outer.members.map(({ name, offset, size }) => [name, offset, size])).toEqual([
      ['tag', 0, 1],
      ['wide', 8, 8],
      ['pair', 16, 16],
      ['port', 32, 2],
      ['tail', 34, 1],
    ]);
    expect(outer).toMatchObject({ size: 40, align: 8, type: 'struct outer', title: 'outer', kind: 'struct' });
    expect(inner).toMatchObject({ size: 8, align: 4 });
    expect(outer.offsetOf('pair')).toBe(16);
    expect(outer.fields.wide).toBe(u64);
  });

  test('an array is aligned as its element, a nested structure as its widest member', () => {
    const s = struct('s', {
      c: u8,
      halves: array(u16, 3),
      name: text(3),
      nested: struct('n', { x: u8, y: u64 }),
    });
    expect(s.members.map(({ offset }) => offset)).toEqual([0, 2, 8, 16]);
    expect(s.size).toBe(32);
  });

  test('packed leaves no holes, not even at the end', () => {
    const s = struct('s', { a: u8, b: u64, c: u16, d: inner }, { packed: true });
    expect(s.members.map(({ offset }) => offset)).toEqual([0, 1, 9, 11]);
    // The nested structure keeps its own padding, as GCC has it.
    expect(s).toMatchObject({ size: 19, align: 1 });
    expect(struct('t', { x: u8, s }).offsetOf('s')).toBe(1);
    expect(tohex(s.encode({ a: 1, b: 2n, c: 3, d: { a: 4, b: 5 } }))).toBe(
      '01020000000000000003000400000005000000',
    );
  });

  test('checks the size that is expected', () => {
    expect(struct('s', { a: u8, b: u32 }, { size: 8 }).size).toBe(8);
    expect(() => struct('s', { a: u8, b: u32 }, { size: 5 })).toThrow('s: 8 bytes declared, 5 expected');
    expect(() => union('u', { a: u8, b: u32 }, { size: 5 })).toThrow('u: 4 bytes declared, 5 expected');
  });

  test('refuses member names that JavaScript would put in another order', () => {
    expect(() => struct('s', { b: u8, 0: u8 })).toThrow('s: 0 cannot be the name of a member');
  });

  test('an empty structure has no bytes', () => {
    expect(struct('s', {})).toMatchObject({ size: 0, align: 1 });
    expect(struct('s', {}).encode({}).length).toBe(0);
  });
});

describe('decoding and encoding', () => {
  test('bytes written by hand', () => {
    expect(outer.decode(outerBytes)).toEqual(outerValue);
    expect(tohex(outer.encode(outerValue))).toBe(tohex(outerBytes));
  });

  test('keeps the order of the declaration', () => {
    expect(Object.keys(outer.decode(outerBytes))).toEqual(['tag', 'wide', 'pair', 'port', 'tail']);
  });

  test('inside a larger buffer, at any place', () => {
    const memory = new Uint8Array(64).fill(0xee);
    memory.set(outerBytes, 3);
    expect(outer.decode(memory.subarray(3))).toEqual(outerValue);
    expect(outer.decode(Buffer.from(memory).subarray(3))).toEqual(outerValue);
  });

  test('too few bytes are an error, more are not', () => {
    expect(layoutError(() => outer.decode(outerBytes.subarray(0, 39)))).toBe(
      'outer: 39 bytes given, 40 needed',
    );
    expect(layoutError(() => outer.decode(new Uint8Array()))).toBe('outer: 0 bytes given, 40 needed');
    expect(outer.decode(new Uint8Array(100))).toEqual(outer.zero());
  });

  test('decodeAvailable stops at the last whole member', () => {
    expect(outer.decodeAvailable(outerBytes.subarray(0, 35))).toEqual(outerValue);
    expect(outer.decodeAvailable(outerBytes.subarray(0, 33))).toEqual({
      tag: 7,
      wide: outerValue.wide,
      pair: outerValue.pair,
    });
    expect(outer.decodeAvailable(outerBytes.subarray(0, 31))).toEqual({ tag: 7, wide: outerValue.wide });
    expect(outer.decodeAvailable(new Uint8Array())).toEqual({});
    expect(outer.decodeAvailable(new Uint8Array(100))).toEqual(outer.zero());
  });

  test('members left out are zero, at any depth', () => {
    expect(tohex(outer.encode({}))).toBe('00'.repeat(40));
    expect(tohex(outer.encode({ pair: [{ b: 1 }, {}], tail: 2 }))).toBe(
      `${'00'.repeat(20)}01000000${'00'.repeat(10)}02${'00'.repeat(5)}`,
    );
    expect(outer.zero()).toEqual(outer.decode(new Uint8Array(40)));
  });

  test('write leaves padding and members left out as they were', () => {
    const memory = new Uint8Array(8).fill(0xee);
    inner.write(new DataView(memory.buffer), 0, { a: 1, b: 2 }, 'x');
    expect(tohex(memory)).toBe('01eeeeee02000000');
  });

  test('a value given back by decode is not tied to the bytes', () => {
    const s = struct('s', { raw: bytes(2) });
    const memory = unhex('0102');
    const value = s.decode(memory);
    memory.fill(0);
    expect(value.raw).toEqual(unhex('0102'));
  });
});

describe('errors name the structure and the member', () => {
  test('values that do not fit', () => {
    expect(layoutError(() => outer.encode({ tag: 256 }))).toBe('outer.tag: 256 does not fit u8 (0..255)');
    expect(layoutError(() => outer.encode({ wide: -1n }))).toContain('outer.wide: -1 does not fit u64');
    expect(layoutError(() => outer.encode({ pair: [{}, { b: -1 }] }))).toBe(
      'outer.pair[1].b: -1 does not fit u32 (0..4294967295)',
    );
  });

  test('arrays of another length, and holes', () => {
    expect(layoutError(() => outer.encode({ pair: [{}] }))).toBe(
      'outer.pair: 1 elements given, exactly 2 needed',
    );
    expect(layoutError(() => outer.encode({ pair: [{}, {}, {}] }))).toContain('3 elements given');
    expect(layoutError(() => outer.encode({ pair: new Array(2) }))).toBe(
      'outer.pair[0]: undefined is not an object of members',
    );
    expect(layoutError(() => outer.encode({ pair: ill('ab') }))).toBe('outer.pair: "ab" is not an array');
    const words = struct('s', { words: array(u32, 2) });
    expect(layoutError(() => words.encode({ words: new Array(2) }))).toContain('s.words[0]: undefined');
    expect(() => array(u8, -1)).toThrow(TypeError);
  });

  test('members that do not exist', () => {
    expect(layoutError(() => outer.encode(ill({ tga: 1 })))).toBe('outer has no member tga');
    expect(layoutError(() => outer.encode({ pair: [ill({ c: 1 }), {}] }))).toBe(
      'outer.pair[0] has no member c',
    );
    expect(layoutError(() => outer.offsetOf(ill('nope')))).toBe('outer has no member nope');
    expect(layoutError(() => outer.encode(ill({ toString: 1 })))).toBe('outer has no member toString');
  });

  test('what is no object', () => {
    for (const value of [null, 5, 'abc', [], undefined]) {
      expect(layoutError(() => outer.encode(ill(value)))).toMatch(/^outer: .+ is not an object of members$/);
    }
    expect(layoutError(() => outer.encode(ill(new Uint8Array(2))))).toBe('outer has no member 0');
  });

  test('a member named as a property of every object is written only where it is given', () => {
    const s = struct('s', { constructor: u8, valueOf: u8 });
    expect(tohex(s.encode(ill({ valueOf: 2 })))).toBe('0002');
  });
});

describe('JSON', () => {
  const described = struct('described', {
    state: about(enumOf(u8, Mode), 'On or off'),
    mask: hex(u32),
    total: u64,
    raw: bytes(2),
    pairs: array(inner, 1),
  });

  test('shows every member in its form', () => {
    const value = described.decode(
      unhex('01 000000 efbe0000 ffffffffffffffff abcd 0000 05000000 06000000 00000000'),
    );
    expect(described.toJson(value)).toEqual({
      state: { value: 1, name: 'ON' },
      mask: '0xbeef',
      total: '18446744073709551615',
      raw: 'abcd',
      pairs: [{ a: 5, b: 6 }],
    });
    expect(JSON.stringify(described.toJson(described.zero()))).toBe(
      '{"state":{"value":0,"name":"OFF"},"mask":"0x0","total":"0","raw":"0000","pairs":[{"a":0,"b":0}]}',
    );
  });

  test('the schema has every member, its meaning and its limits', () => {
    expect(described.schema()).toMatchObject({
      type: 'object',
      title: 'described',
      required: ['state', 'mask', 'total', 'raw', 'pairs'],
      additionalProperties: false,
      properties: {
        state: { description: 'On or off', title: 'mode' },
        raw: { pattern: '^[0-9a-f]{4}$' },
        pairs: { type: 'array', minItems: 1, maxItems: 1, items: { title: 'inner' } },
      },
    });
  });

  test('about keeps the type as it is', () => {
    const meant = about(inner, 'An inner thing');
    expect(meant.decode(unhex('01000000 02000000'))).toEqual({ a: 1, b: 2 });
    expect(meant.meaning).toBe('An inner thing');
    expect(inner.meaning).toBeUndefined();
    holds<Same<typeof meant, typeof inner>>();
  });

  test('array types read as in C', () => {
    expect(array(u32, 3).type).toBe('u32[3]');
    expect(array(array(u32, 2), 3).type).toBe('u32[3][2]');
    expect(array(bytes(16), 4).type).toBe('u8[4][16]');
    expect(array(inner, 2).type).toBe('struct inner[2]');
  });
});

describe('a union', () => {
  const value = union('value', {
    word: u32,
    half: be16,
    pair: struct('pair', { x: u8, y: u16 }),
    raw: bytes(5),
  });
  const event = struct('event', { kind: u8, value, end: u8 });

  test('is as long as its longest member and aligned as its strictest', () => {
    expect(value).toMatchObject({ size: 8, align: 4, type: 'union value', kind: 'union' });
    expect(value.members.map(({ offset }) => offset)).toEqual([0, 0, 0, 0]);
    expect(event.members.map(({ offset }) => offset)).toEqual([0, 4, 12]);
    expect(union('p', { a: u32, b: bytes(5) }, { packed: true })).toMatchObject({ size: 5, align: 1 });
    expect(union('none', {})).toMatchObject({ size: 0, align: 1 });
  });

  test('decodes to every reading of the bytes', () => {
    expect(value.decode(unhex('01 02 03 04 05 00 00 00'))).toEqual({
      word: 0x04030201,
      half: 0x0102,
      pair: { x: 1, y: 0x0403 },
      raw: unhex('0102030405'),
    });
  });

  test('encodes the member that is given, the rest zero', () => {
    expect(tohex(value.encode({ half: 0x0102 }))).toBe('0102000000000000');
    expect(tohex(value.encode({}))).toBe('0000000000000000');
    expect(tohex(event.encode({ kind: 9, value: { pair: { y: 0x0403 } }, end: 8 }))).toBe(
      '09000000' + '0000030400000000' + '08000000',
    );
  });

  test('takes several members that agree, and what decode gave', () => {
    const bytesIn = unhex('01 02 03 04 05 00 00 00');
    expect(tohex(value.encode(value.decode(bytesIn)))).toBe(tohex(bytesIn));
    expect(tohex(value.encode({ half: 0x0102, pair: { y: 0x0403 } }))).toBe('0102030400000000');
  });

  test('refuses members that disagree', () => {
    expect(layoutError(() => value.encode({ word: 1, half: 1 }))).toMatch(/^value: word and another member/);
    expect(layoutError(() => event.encode({ value: { half: 1, raw: new Uint8Array(5) } }))).toMatch(
      /^event\.value: half and another/,
    );
    expect(layoutError(() => event.encode({ value: { half: 65536 } }))).toContain('event.value.half: 65536');
    expect(layoutError(() => event.encode({ value: ill({ nope: 1 }) }))).toBe(
      'event.value has no member nope',
    );
  });
});

describe('omitting', () => {
  const short = omitting(outer, 'pair', 'tail');

  test('leaves members out of everything, and the others in their place', () => {
    expect(short.decode(outerBytes)).toEqual({ tag: 7, wide: outerValue.wide, port: 0x1234 });
    expect(short.toJson(short.decode(outerBytes))).toEqual({
      tag: 7,
      wide: '72623859790382856',
      port: 0x1234,
    });
    expect(short.schema()).toMatchObject({ required: ['tag', 'wide', 'port'], additionalProperties: false });
    expect(short.offsetOf('port')).toBe(32);
    expect(short.size).toBe(40);
    expect(Object.keys(short.fields)).toEqual(['tag', 'wide', 'port']);
    expect(tohex(short.encode({ port: 1 }))).toBe(tohex(outer.encode({ port: 1 })));
  });

  test('shows values of the whole structure', () => {
    expect(short.toJson(outer.decode(outerBytes))).toEqual({
      tag: 7,
      wide: '72623859790382856',
      port: 0x1234,
    });
  });

  test('keeps the meaning, refuses names that are not there', () => {
    expect(omitting(about(outer, 'A test'), 'tag').meaning).toBe('A test');
    expect(() => omitting(outer, ill<'tag'>('nope'))).toThrow('outer has no member nope');
    expect(layoutError(() => short.encode(ill({ tail: 1 })))).toBe('outer has no member tail');
  });
});

describe('types', () => {
  test('of decoded values and JSON are exact', () => {
    holds<
      Same<
        Decoded<typeof outer>,
        { tag: number; wide: bigint; pair: { a: number; b: number }[]; port: number; tail: number }
      >
    >();
    holds<
      Same<
        JsonOf<typeof outer>,
        {
          readonly tag: number;
          readonly wide: string;
          readonly pair: readonly { readonly a: number; readonly b: number }[];
          readonly port: number;
          readonly tail: number;
        }
      >
    >();
    holds<Same<ReturnType<typeof inner.decodeAvailable>, { a?: number; b?: number }>>();
    const short = omitting(outer, 'pair', 'tail');
    holds<Same<Decoded<typeof short>, { tag: number; wide: bigint; port: number }>>();
    holds<Same<keyof JsonOf<typeof short>, 'tag' | 'wide' | 'port'>>();
    // A function over any structure takes each of them.
    const sizeOf = (layout: Struct<Fields>): number => layout.size;
    expect(sizeOf(outer) + sizeOf(inner)).toBe(48);
  });

  test('refuse wrong members and values', () => {
    // The bodies are for the compiler only.
    const wrong = [
      // @ts-expect-error no such member
      () => outer.encode({ tga: 1 }),
      // @ts-expect-error a u64 is a bigint
      () => outer.encode({ wide: 1 }),
      // @ts-expect-error a u8 is a number
      () => outer.encode({ tag: 1n }),
      // @ts-expect-error a number is no text
      () => outer.encode({ tag: '1' }),
      // @ts-expect-error no such member of the nested structure
      () => outer.encode({ pair: [{ c: 1 }, {}] }),
      // @ts-expect-error an array is not its element
      () => outer.encode({ pair: { a: 1 } }),
      // @ts-expect-error raw bytes are a Uint8Array
      () => struct('s', { raw: bytes(2) }).encode({ raw: [1, 2] }),
      // @ts-expect-error no such member
      () => outer.offsetOf('nope'),
      // @ts-expect-error no such member
      () => outer.decode(outerBytes).nope,
      // @ts-expect-error no such member
      () => omitting(outer, 'nope'),
      // @ts-expect-error the member is omitted
      () => omitting(outer, 'tag').decode(outerBytes).tag,
      // @ts-expect-error the member is omitted
      () => omitting(outer, 'tag').encode({ tag: 1 }),
      // @ts-expect-error a union has no other members
      () => union('u', { a: u8 }).encode({ b: 1 }),
    ];
    expect(wrong).toHaveLength(13);
    expect(struct('s', { a: s16, b: be32 }).encode({ a: -1 }).length).toBe(8);
  });
});
