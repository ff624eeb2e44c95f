import { describe, expect, test } from 'vitest';
import { enumeration, enumOf } from '../../../src/layout/enumeration.ts';
import { flagSet, flagsOf } from '../../../src/layout/flags.ts';
import { s8, s32, u8, u16, u32, u64 } from '../../../src/layout/scalar.ts';
import { holds, ill, layoutError, type Same } from './support.ts';

const Colour = enumeration('colour', 'COLOUR_', { NONE: -1, RED: 1, GREEN: 2 });
const Size = enumeration('size', 'SIZE_', { 512: 2, 256: 1 });
const Access = flagSet('access', 'ACCESS_', { WRITE: 1, READ: 0, TOP: 63 });

describe('an enumeration', () => {
  test('maps both ways and keeps numbers that it does not know', () => {
    expect(Colour.nameOf(2)).toBe('GREEN');
    expect(Colour.nameOf(-1)).toBe('NONE');
    expect(Colour.nameOf(3)).toBeNull();
    expect(Colour.valueOf('RED')).toBe(1);
    expect(Colour.show(2)).toEqual({ value: 2, name: 'GREEN' });
    expect(Colour.show(77)).toEqual({ value: 77, name: null });
    expect(Colour.entries).toEqual([
      ['NONE', -1],
      ['RED', 1],
      ['GREEN', 2],
    ]);
    expect(Colour).toMatchObject({ title: 'colour', prefix: 'COLOUR_' });
  });

  test('takes numbers as names', () => {
    expect(Size.nameOf(2)).toBe('512');
    expect(Size.valueOf('256')).toBe(1);
    holds<Same<ReturnType<typeof Size.nameOf>, '256' | '512' | null>>();
    // @ts-expect-error 128 is no name
    expect(() => Size.valueOf('128')).toThrow('size has no 128');
  });

  test('does not know the names of every JavaScript object', () => {
    expect(layoutError(() => Colour.valueOf(ill('toString')))).toBe('colour has no toString');
    expect(layoutError(() => Colour.valueOf(ill('__proto__')))).toBe('colour has no __proto__');
  });

  test('refuses to name a number twice, or what is no integer', () => {
    expect(() => enumeration('e', '', { A: 1, B: 1 })).toThrow('e: B repeats the value 1');
    expect(() => enumeration('e', '', { A: 1.5 })).toThrow(TypeError);
  });

  test('gives an integer type its JSON form', () => {
    const codec = enumOf(s32, Colour);
    expect(codec.toJson(-1)).toEqual({ value: -1, name: 'NONE' });
    expect(codec).toMatchObject({ type: 's32', size: 4 });
    expect(codec.schema()).toMatchObject({
      title: 'colour',
      properties: { name: { enum: ['NONE', 'RED', 'GREEN', null] } },
    });
    holds<Same<ReturnType<typeof codec.toJson>['name'], 'NONE' | 'RED' | 'GREEN' | null>>();
    // @ts-expect-error an enumeration has at most 32 bits
    enumOf(u64, Colour);
  });
});

describe('a flag set', () => {
  test('splits a mask into names and a remainder', () => {
    expect(Access.show(0b111)).toEqual({ value: '0x7', flags: ['READ', 'WRITE'], unknown: '0x4' });
    expect(Access.show(0)).toEqual({ value: '0x0', flags: [], unknown: '0x0' });
    expect(Access.show(1n << 63n)).toEqual({ value: '0x8000000000000000', flags: ['TOP'], unknown: '0x0' });
    expect(Access.has(2, 'WRITE')).toBe(true);
    expect(Access.has(2n, 'READ')).toBe(false);
    expect(Access.maskOf('TOP')).toBe(0x8000000000000000n);
    expect(Access.entries.map(([name]) => name)).toEqual(['READ', 'WRITE', 'TOP']);
  });

  test('shows a signed mask as its bits', () => {
    expect(flagsOf(s8, Access).toJson(-2)).toEqual({ value: '0xfe', flags: ['WRITE'], unknown: '0xfc' });
    expect(Access.show(-1)).toEqual({
      value: '0xffffffffffffffff',
      flags: ['READ', 'WRITE', 'TOP'],
      unknown: '0x7ffffffffffffffc',
    });
  });

  test('goes with every width', () => {
    expect(flagsOf(u8, Access).toJson(0x81).unknown).toBe('0x80');
    expect(flagsOf(u16, Access).toJson(0x8001)).toEqual({
      value: '0x8001',
      flags: ['READ'],
      unknown: '0x8000',
    });
    expect(flagsOf(u32, Access).toJson(0x80000002).unknown).toBe('0x80000000');
    const wide = flagsOf(u64, Access);
    expect(wide.toJson(2n)).toEqual({ value: '0x2', flags: ['WRITE'], unknown: '0x0' });
    holds<Same<ReturnType<typeof wide.toJson>['flags'], readonly ('READ' | 'WRITE' | 'TOP')[]>>();
    expect(wide.schema()).toMatchObject({
      properties: { flags: { items: { enum: ['READ', 'WRITE', 'TOP'] } } },
    });
  });

  test('refuses names and bits that it does not have', () => {
    expect(layoutError(() => Access.maskOf(ill('EXECUTE')))).toBe('access has no EXECUTE');
    // @ts-expect-error no such flag
    expect(() => Access.has(1, 'EXECUTE')).toThrow('access has no EXECUTE');
    expect(() => flagSet('f', '', { A: 3, B: 3 })).toThrow('f: B repeats bit 3');
    expect(() => flagSet('f', '', { A: 64 })).toThrow('f: A is bit 64');
    expect(() => flagSet('f', '', { A: -1 })).toThrow(TypeError);
    expect(() => flagSet('f', '', { A: 0.5 })).toThrow(TypeError);
  });
});
