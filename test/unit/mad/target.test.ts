import { expect, it } from 'vitest';
import { FieldValueError } from '../../../src/datagram/field.ts';
import { parseTarget, targetText } from '../../../src/mad/target.ts';

it.each([
  ['3', { kind: 'lid', lid: 3 }],
  ['0x1f', { kind: 'lid', lid: 31 }],
  ['49151', { kind: 'lid', lid: 49151 }],
  ['0', { kind: 'path', path: [0] }],
  ['local', { kind: 'path', path: [0] }],
  ['0,1,3', { kind: 'path', path: [0, 1, 3] }],
  ['0x0002c90300001234', { kind: 'guid', guid: 0x0002c90300001234n }],
  ['0002:c903:0000:1234', { kind: 'guid', guid: 0x0002c90300001234n }],
  [
    'fe80::2:c903:0:1234',
    { kind: 'gid', gid: Uint8Array.from([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0xc9, 3, 0, 0, 0x12, 0x34]) },
  ],
  [
    '::ffff:10.0.0.1',
    { kind: 'gid', gid: Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1]) },
  ],
])('%s', (text, target) => {
  expect(parseTarget(text)).toEqual(target);
  expect(targetText(parseTarget(text))).toMatch(/\w/);
});

it.each([
  ['', /no target/],
  ['host1', /no target/],
  ['65535', /1 to 0xbfff/],
  ['0xc000', /1 to 0xbfff/],
  ['99999', /a GUID is written with 0x/],
  ['1,2', /begins with 0/],
  ['0,255', /no port of a switch/],
  ['0,0', /no port of a switch/],
  [`0${',1'.repeat(64)}`, /at most 63 hops/],
  ['fe80::%eth0', /not a GID/],
  ['1:2:3', /not a GID/],
  ['0x10002c90300001234', /64 bits/],
])('%s is refused', (text, message) => {
  expect(() => parseTarget(text)).toThrow(message);
  expect(() => parseTarget(text)).toThrow(FieldValueError);
});
