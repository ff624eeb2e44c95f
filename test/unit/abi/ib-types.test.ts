import { describe, expect, test } from 'vitest';
import {
  fullGidText,
  gid,
  gidText,
  guid,
  guidText,
  ipv4OfGid,
  isZeroGid,
  parseGid,
} from '../../../src/abi/ib-types.ts';
import { struct } from '../../../src/layout/struct.ts';
import { unhex } from '../layout/support.ts';

describe('a GUID', () => {
  test('reads as sysfs prints it', () => {
    expect(guidText(0x0002c90300a1b2c3n)).toBe('0002:c903:00a1:b2c3');
    expect(guidText(0n)).toBe('0000:0000:0000:0000');
    expect(guidText(0xffffffffffffffffn)).toBe('ffff:ffff:ffff:ffff');
  });

  test('lies in network byte order', () => {
    const s = struct('s', { guid });
    expect(s.decode(unhex('0002c90300a1b2c3'))).toEqual({ guid: 0x0002c90300a1b2c3n });
    expect(s.toJson({ guid: 1n })).toEqual({ guid: '0000:0000:0000:0001' });
  });
});

describe('a GID', () => {
  test.each([
    ['fe80000000000000 0002c9fffea1b2c3', 'fe80::2:c9ff:fea1:b2c3'],
    ['0000000000000000 0000000000000000', '::'],
    ['0000000000000000 0000000000000001', '::1'],
    ['0001000000000000 0000000000000000', '1::'],
    // The longer of two runs of zeros; of two alike the first; a single group stays.
    ['2001000000000001 0000000000000001', '2001:0:0:1::1'],
    ['2001000000000001 0002000000000001', '2001::1:2:0:0:1'],
    ['2001000100000001 0001000100010001', '2001:1:0:1:1:1:1:1'],
    ['00000000000000000000ffff c0a80001', '::ffff:192.168.0.1'],
    ['00000000000000000000ffff 00000000', '::ffff:0.0.0.0'],
    ['0000000000000000 0000000001020304', '::102:304'],
  ])('%s', (bytes, expected) => {
    expect(gidText(unhex(bytes))).toBe(expected);
  });

  test('in full, as sysfs prints it', () => {
    expect(fullGidText(unhex('fe800000000000000002c9fffea1b2c3'))).toBe(
      'fe80:0000:0000:0000:0002:c9ff:fea1:b2c3',
    );
  });

  test('of an IPv4 address', () => {
    expect(ipv4OfGid(unhex('00000000000000000000ffff0a000001'))).toBe('10.0.0.1');
    expect(ipv4OfGid(unhex('00000000000000000001ffff0a000001'))).toBeNull();
    expect(ipv4OfGid(unhex('00000000000000000000fffe0a000001'))).toBeNull();
  });

  test('that is empty', () => {
    expect(isZeroGid(new Uint8Array(16))).toBe(true);
    expect(isZeroGid(unhex('00000000000000000000000000000001'))).toBe(false);
  });

  test('is a union of two 64-bit words in C', () => {
    expect(struct('s', { before: gid, after: gid })).toMatchObject({ size: 32, align: 8 });
    expect(gid.toJson(new Uint8Array(16))).toBe('::');
  });
});

describe('parseGid', () => {
  // Expected bytes: RFC 4291, section 2.2.
  test.each([
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['fe80::4eb:40ff:fe5e:0', 'fe8000000000000004eb40fffe5e0000'],
    ['fe80:0000:0000:0000:04eb:40ff:fe5e:0001', 'fe8000000000000004eb40fffe5e0001'],
    ['2001:db8::', '20010db8000000000000000000000000'],
    ['::ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
  ])('%s', (text, hex) => {
    expect(Buffer.from(parseGid(text) ?? []).toString('hex')).toBe(hex);
  });

  test.each([
    '',
    ':',
    ':::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    '12345::',
    '::ffff:1.2.3.256',
    'g::',
  ])('refuses %j', (text) => {
    expect(parseGid(text)).toBeNull();
  });
});
