import { expect, test } from 'vitest';
import { bitRecord, bitsAt, codecAt } from '../../../src/layout/bits.ts';
import { about } from '../../../src/layout/codec.ts';
import { fieldTable } from '../../../src/layout/field-table.ts';
import { be64, u8, u16, u32 } from '../../../src/layout/scalar.ts';
import { array, omitting, struct, union } from '../../../src/layout/struct.ts';

const inner = struct('inner', { a: about(u8, 'First'), b: u16 });

test('nested structures are flattened, with bytes from the outermost start', () => {
  const outer = struct('outer', { id: u32, inner, list: array(inner, 2), last: about(u8, 'Last') });
  expect(fieldTable(outer)).toEqual([
    { offset: 0, size: 4, name: 'id', type: 'u32', meaning: '' },
    { offset: 4, size: 1, name: 'inner.a', type: 'u8', meaning: 'First' },
    { offset: 6, size: 2, name: 'inner.b', type: 'u16', meaning: '' },
    { offset: 8, size: 8, name: 'list', type: 'struct inner[2]', meaning: '' },
    { offset: 16, size: 1, name: 'last', type: 'u8', meaning: 'Last' },
  ]);
});

test('bits are counted from the start of the outermost record, rows are in order of place', () => {
  const nested = bitRecord('nested', 2, { low: bitsAt(12, 4), high: bitsAt(0, 12) });
  const r = bitRecord('r', 11, { late: codecAt(24, be64), nested: codecAt(8, nested), early: bitsAt(2, 6) });
  expect(
    fieldTable(r).map(({ name, offset, size, bitOffset, bitWidth }) => [
      name,
      offset,
      size,
      bitOffset,
      bitWidth,
    ]),
  ).toEqual([
    ['early', 0, 1, 2, 6],
    ['nested.high', 1, 2, 8, 12],
    ['nested.low', 2, 1, 20, 4],
    ['late', 3, 8, 24, 64],
  ]);
});

test('a union shows all its readings, in order of the declaration', () => {
  const u = struct('s', { tag: u8, either: union('u', { word: u32, inner }) });
  expect(fieldTable(u).map(({ name, offset }) => [name, offset])).toEqual([
    ['tag', 0],
    ['either.word', 4],
    ['either.inner.a', 4],
    ['either.inner.b', 6],
  ]);
});

test('what is omitted has no row; what has no members has none at all', () => {
  expect(fieldTable(omitting(inner, 'a')).map(({ name }) => name)).toEqual(['b']);
  expect(fieldTable(u8)).toEqual([]);
});
