import { describe, expect, it } from 'vitest';
import { TransportType } from '../../../src/abi/verbs-codes.ts';
import { checkPrivateData, privateDataJson, privateDataLimit } from '../../../src/cm/private-data.ts';
import { parsePrivateData } from '../../../src/commands/cm-private-data.ts';

describe('private data', () => {
  it.each([
    ['connect', 'TCP', 'ipv4', 56],
    ['connect', 'TCP', 'ipv6', 56],
    ['connect', 'TCP', 'ib', 92],
    ['accept', 'TCP', 'ipv4', 196],
    ['reject', 'TCP', 'ipv4', 148],
    ['connect', 'UDP', 'ipv4', 180],
    ['connect', 'UDP', 'ib', 216],
    ['accept', 'UDP', 'ipv6', 136],
    ['reject', 'IPOIB', 'ipv4', 136],
    ['connect', 'IB', 'ipv4', 56],
  ] as const)('%s in %s over %s carries %i bytes', (message, portSpace, family, limit) => {
    expect(privateDataLimit(message, portSpace, family)).toBe(limit);
    checkPrivateData(new Uint8Array(limit), message, portSpace, family);
    expect(() => checkPrivateData(new Uint8Array(limit + 1), message, portSpace, family)).toThrow(
      `at most ${limit}`,
    );
  });

  it('is shown whole, and as text without its padding', () => {
    const data = Uint8Array.from([...Buffer.from('busy'), 0, 0]);
    expect(privateDataJson(data, TransportType.valueOf('IB'))).toEqual({
      private_data: '0x627573790000',
      private_data_text: 'busy',
      private_data_len: 6,
      private_data_padded: true,
    });
    expect(privateDataJson(data, TransportType.valueOf('IWARP'))).toMatchObject({
      private_data_text: null,
      private_data_padded: false,
    });
    expect(privateDataJson(Uint8Array.of(1, 2), 0).private_data_text).toBeNull();
    expect(privateDataJson(Uint8Array.of(0xff, 0xfe), 0).private_data_text).toBeNull();
  });

  it('is a text, 0xHEX or @FILE', () => {
    expect([...parsePrivateData('hi')]).toEqual([104, 105]);
    expect([...parsePrivateData('0x00ff')]).toEqual([0, 255]);
    expect(() => parsePrivateData('0x0')).toThrow('pairs of hexadecimal digits');
    expect(() => parsePrivateData('0xzz')).toThrow('pairs of hexadecimal digits');
    expect(() => parsePrivateData('@/nonexistent')).toThrow('ENOENT');
    expect(() => parsePrivateData('@/')).toThrow('EISDIR');
    expect([...parsePrivateData('@/dev/null')]).toEqual([]);
    expect(() => parsePrivateData('@/dev/zero')).toThrow('more than 4096 bytes');
  });
});
