import { describe, expect, it } from 'vitest';
import { decodeSocketAddress, encodeSocketAddress, type SocketAddress } from '../../../src/abi/sockaddr.ts';
import {
  EndpointError,
  endpointText,
  isLoopback,
  parseEndpoint,
  refuseMulticast,
  resolveMulticast,
} from '../../../src/cm/address.ts';
import { machineOf } from './machine.ts';

describe('refuseMulticast', () => {
  it.each(['224.0.0.1', '239.255.255.255', 'ff02::1', 'ffff::1'])('refuses %s', (address) => {
    expect(() => refuseMulticast(parseEndpoint(address))).toThrow(`${address} is a multicast address`);
  });
  it.each(['10.9.1.1', '223.1.1.1', '240.0.0.1', 'fd09::1', 'fe80::1%eth0', '::1', 'ff02', 'node7'])(
    'takes %s',
    (address) => {
      expect(() => refuseMulticast(parseEndpoint(address))).not.toThrow();
    },
  );
});

describe('parseEndpoint', () => {
  it.each([
    ['10.9.1.1', '10.9.1.1', null, null],
    ['10.9.1.1:7174', '10.9.1.1', 7174, null],
    ['fd09::1', 'fd09::1', null, null],
    ['[fd09::1]', 'fd09::1', null, null],
    ['[fd09::1]:18515', 'fd09::1', 18515, null],
    ['fe80::1%eth0', 'fe80::1', null, 'eth0'],
    ['[fe80::1%4]:1', 'fe80::1', 1, '4'],
    ['node7', 'node7', null, null],
    ['node7.example:65535', 'node7.example', 65535, null],
    ['10.9.1.1:0', '10.9.1.1', 0, null],
  ])('%s', (text, host, port, scope) => {
    expect(parseEndpoint(text)).toEqual({ host, port, scope });
  });

  it.each([
    ['', 'names no address'],
    [':7174', 'names no address'],
    ['10.9.1', 'not an IPv4 address'],
    ['10.9.1.256', 'not an IPv4 address'],
    ['fd09::1::2', 'not an IPv6 address'],
    ['10.9.1.1:65536', 'not a port'],
    ['10.9.1.1:-1', 'not a port'],
    ['10.9.1.1:http', 'not a port'],
    ['[fd09::1]:', 'not a port'],
    ['fe80::1%', 'no interface'],
    ['10.9.1.1%eth0', 'only an IPv6 address'],
    ['a'.repeat(254), 'at most 253'],
  ])('refuses %j', (text, words) => {
    expect(() => parseEndpoint(text)).toThrow(EndpointError);
    expect(() => parseEndpoint(text)).toThrow(words);
  });
});

describe('socket addresses', () => {
  const ADDRESSES: readonly SocketAddress[] = [
    { family: 'ipv4', address: '10.9.1.1', port: 7174, scopeId: 0 },
    { family: 'ipv6', address: 'fd09:1::1', port: 65535, scopeId: 0 },
    { family: 'ipv6', address: 'fe80::1', port: 1, scopeId: 4 },
    { family: 'ipv6', address: '::', port: 0, scopeId: 0 },
    { family: 'ipv6', address: '::ffff:10.9.1.1', port: 7, scopeId: 0 },
  ];
  it.each(ADDRESSES.map((address) => [endpointText(address), address] as const))(
    '%s stays the same through bytes',
    (_text, address) => {
      expect(decodeSocketAddress(encodeSocketAddress(address))).toEqual(address);
    },
  );

  it('of no family are none', () => {
    expect(decodeSocketAddress(new Uint8Array(28))).toBeNull();
  });

  it('know loopback', () => {
    const at = (address: string): SocketAddress => ({
      family: address.includes(':') ? 'ipv6' : 'ipv4',
      address,
      port: 0,
      scopeId: 0,
    });
    expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].map((text) => isLoopback(at(text)))).toEqual(
      [true, true, true, true],
    );
    expect(['10.0.0.1', 'fd09::1', '::'].map((text) => isLoopback(at(text)))).toEqual([false, false, false]);
  });
});

describe('a multicast group', () => {
  const machine = machineOf({});
  // RFC 5771 and RFC 4291.
  it.each(['224.0.0.0', '239.255.255.255', 'ff00::', 'ff02::1', 'ffff::'])('%s is one', async (text) => {
    const group = await resolveMulticast(parseEndpoint(text), machine, 1000);
    expect(group).toMatchObject({ address: text, port: 0 });
  });

  it.each(['223.255.255.255', '240.0.0.0', '10.9.1.1', 'fe80::1', 'fd09::1', '::ff'])(
    '%s is none',
    async (text) => {
      await expect(resolveMulticast(parseEndpoint(text), machine, 1000)).rejects.toMatchObject({
        code: 'USAGE',
        exitStatus: 2,
      });
    },
  );
});
