import { describe, expect, test } from 'vitest';
import type { Codec } from '../../../src/layout/codec.ts';
import {
  be16,
  be32,
  be64,
  bytes,
  hex,
  hexText,
  s8,
  s16,
  s32,
  s64,
  text,
  u8,
  u16,
  u32,
  u64,
  unsigned,
} from '../../../src/layout/scalar.ts';
import { ill, layoutError, tohex, unhex } from './support.ts';

function written<T>(codec: Codec<T>, value: T): string {
  const buffer = new Uint8Array(codec.size);
  codec.write(new DataView(buffer.buffer), 0, value, 'here');
  return tohex(buffer);
}
const readFrom = <T>(codec: Codec<T>, hexBytes: string): T =>
  codec.read(new DataView(unhex(hexBytes).buffer), 0);

describe('integers', () => {
  test.each([
    ['u8', u8, 0xfe, 'fe'],
    ['s8', s8, -2, 'fe'],
    ['u16', u16, 0x1234, '3412'],
    ['s16', s16, -2, 'feff'],
    ['u32', u32, 0xdeadbeef, 'efbeadde'],
    ['s32', s32, -2, 'feffffff'],
    ['be16', be16, 0x1234, '1234'],
    ['be32', be32, 0xdeadbeef, 'deadbeef'],
  ] as const)('%s', (type, codec, value, bytesInMemory) => {
    expect(written(codec, value)).toBe(bytesInMemory);
    expect(readFrom(codec, bytesInMemory)).toBe(value);
    expect(codec).toMatchObject({ type, size: bytesInMemory.length / 2, align: bytesInMemory.length / 2 });
    expect(codec.toJson(value)).toBe(value);
    expect(codec.zero()).toBe(0);
  });

  test.each([
    ['u64', u64, 0x0102030405060708n, '0807060504030201'],
    ['u64', u64, 0xffffffffffffffffn, 'ffffffffffffffff'],
    ['s64', s64, -2n, 'feffffffffffffff'],
    ['be64', be64, 0x0102030405060708n, '0102030405060708'],
  ] as const)('%s %s', (type, codec, value, bytesInMemory) => {
    expect(written(codec, value)).toBe(bytesInMemory);
    expect(readFrom(codec, bytesInMemory)).toBe(value);
    expect(codec).toMatchObject({ type, size: 8, align: 8 });
    expect(codec.toJson(value)).toBe(value.toString());
    expect(codec.zero()).toBe(0n);
  });

  test('the limits go in, one beyond does not', () => {
    for (const [codec, low, high] of [
      [u8, 0, 255],
      [s8, -128, 127],
      [u16, 0, 65535],
      [be16, 0, 65535],
      [s16, -32768, 32767],
      [u32, 0, 4294967295],
      [be32, 0, 4294967295],
      [s32, -2147483648, 2147483647],
    ] as const) {
      expect(readFrom(codec, written(codec, low))).toBe(low);
      expect(readFrom(codec, written(codec, high))).toBe(high);
      const range = `(${low}..${high})`;
      expect(layoutError(() => written(codec, low - 1))).toBe(
        `here: ${low - 1} does not fit ${codec.type} ${range}`,
      );
      expect(layoutError(() => written(codec, high + 1))).toBe(
        `here: ${high + 1} does not fit ${codec.type} ${range}`,
      );
    }
    for (const [codec, low, high] of [
      [u64, 0n, 2n ** 64n - 1n],
      [be64, 0n, 2n ** 64n - 1n],
      [s64, -(2n ** 63n), 2n ** 63n - 1n],
    ] as const) {
      expect(readFrom(codec, written(codec, low))).toBe(low);
      expect(readFrom(codec, written(codec, high))).toBe(high);
      expect(layoutError(() => written(codec, low - 1n))).toContain(
        `here: ${low - 1n} does not fit ${codec.type}`,
      );
      expect(layoutError(() => written(codec, high + 1n))).toContain(`here: ${high + 1n} does not fit`);
    }
  });

  test('what is not a whole number of the right kind is refused, not converted', () => {
    for (const value of [1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', null, true, 5n, [5], {}]) {
      expect(layoutError(() => written(u16, ill<number>(value)))).toMatch(/^here: .+ does not fit u16/);
    }
    for (const value of [5, '5', null, true, 1.5, {}]) {
      expect(layoutError(() => written(u64, ill<bigint>(value)))).toMatch(/^here: .+ is not a bigint$/);
    }
    expect(layoutError(() => written(u16, ill<number>('5')))).toContain('"5"');
  });

  test('hex shows any integer as its bits', () => {
    expect(hex(u32).toJson(0xbeef)).toBe('0xbeef');
    expect(hex(u64).toJson(0n)).toBe('0x0');
    expect(hex(s8).toJson(-1)).toBe('0xff');
    expect(hex(s32).toJson(-2)).toBe('0xfffffffe');
    expect(hex(s64).toJson(-1n)).toBe('0xffffffffffffffff');
    expect(hexText(255)).toBe('0xff');
    expect(unsigned(-1, 8)).toBe(255n);
    expect(unsigned(300, 8)).toBe(300n);
  });
});

describe('bytes', () => {
  test('are copied out, and shown as digits', () => {
    const memory = unhex('00 01 ab ff 07');
    const value = bytes(3).read(new DataView(memory.buffer), 1);
    memory.fill(0);
    expect(tohex(value)).toBe('01abff');
    expect(bytes(3).toJson(value)).toBe('01abff');
    expect(written(bytes(3), value)).toBe('01abff');
    expect(bytes(3)).toMatchObject({ type: 'u8[3]', size: 3, align: 1 });
  });

  test('of another length or kind are refused', () => {
    expect(layoutError(() => written(bytes(3), new Uint8Array(2)))).toBe(
      'here: 2 bytes given, exactly 3 needed',
    );
    expect(layoutError(() => written(bytes(3), new Uint8Array(4)))).toContain('4 bytes given');
    expect(layoutError(() => written(bytes(3), ill<Uint8Array>([1, 2, 300])))).toBe(
      'here: an array is not a Uint8Array',
    );
    expect(layoutError(() => written(bytes(3), ill<Uint8Array>('abc')))).toContain('"abc" is not');
    expect(layoutError(() => written(bytes(2), ill<Uint8Array>(new Uint16Array(2))))).toContain(
      'not a Uint8Array',
    );
    expect(() => bytes(-1)).toThrow(TypeError);
    expect(() => bytes(1.5)).toThrow(TypeError);
  });
});

describe('text', () => {
  test('ends at the first NUL or at the end of the array', () => {
    expect(readFrom(text(6), '66 77 00 78 79 7a')).toBe('fw');
    expect(readFrom(text(3), '61 62 63')).toBe('abc');
    expect(readFrom(text(3), '00 62 63')).toBe('');
    expect(readFrom(text(5), '47 c3 b6 6e 00')).toBe('Gön');
    expect(text(5)).toMatchObject({ type: 'char[5]', size: 5, align: 1 });
  });

  test('is written with zeros behind it, over what was there', () => {
    const buffer = new Uint8Array(8).fill(0xaa);
    text(6).write(new DataView(buffer.buffer), 1, 'fw', 'here');
    expect(tohex(buffer)).toBe('aa667700000000aa');
    expect(written(text(3), 'abc')).toBe('616263');
    expect(written(text(4), 'ö!')).toBe('c3b62100');
  });

  test('keeps a byte order mark', () => {
    expect(written(text(6), readFrom(text(6), 'ef bb bf 61 62 00'))).toBe('efbbbf616200');
  });

  test('shows bytes that are not UTF-8 as U+FFFD', () => {
    expect(readFrom(text(3), '61 ff 62')).toBe('a\ufffdb');
  });

  test('that would not come back whole is refused', () => {
    expect(layoutError(() => written(text(3), 'abcd'))).toBe('here: a text of 4 bytes does not fit char[3]');
    expect(layoutError(() => written(text(3), 'öö'))).toBe('here: a text of 4 bytes does not fit char[3]');
    expect(layoutError(() => written(text(8), 'ab\0cd'))).toContain('here: a NUL inside the text');
    expect(layoutError(() => written(text(8), 'a\ud800'))).toContain('surrogate');
    expect(layoutError(() => written(text(8), ill<string>(7)))).toBe('here: 7 is not a text');
    expect(written(text(4), '\u{1f600}')).toBe('f09f9880');
  });
});
