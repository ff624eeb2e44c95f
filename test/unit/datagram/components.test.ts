import { describe, expect, it } from 'vitest';
import { requiredAttribute } from '../../../src/datagram/attributes.ts';
import { hasComponents } from '../../../src/datagram/components.ts';
import type { FieldValues } from '../../../src/datagram/message.ts';

const service = requiredAttribute('ServiceRecord', 'administration');
const gid = Uint8Array.from({ length: 16 }, (_, index) => index);
const data8 = Array.from({ length: 16 }, (_, index) => index);
const record = service.layout.decode(service.layout.encode({ service_gid: gid, service_data8: data8 }));

/** Whether the record has what a request with these fields asks for. */
const has = (mask: bigint, fields: FieldValues): boolean =>
  hasComponents(service, mask, { ...service.layout.zero(), ...fields }, record);

// The places of IBTA 15.2.5: ServiceID is bit 0, ServiceGID 1, ServiceP_Key 2, then one that is reserved, ServiceLease,
// ServiceKey, ServiceName, and from bit 7 on a bit for each byte of ServiceData8.
const GID = 1n << 1n;
const byte = (index: number): bigint => 1n << BigInt(7 + index);

describe('a component mask', () => {
  it('chooses nothing where it is 0', () => {
    expect(has(0n, { service_gid: gid.toReversed() })).toBe(true);
  });

  it('compares bytes', () => {
    expect(has(GID, { service_gid: gid })).toBe(true);
    expect(has(GID, { service_gid: gid.toReversed() })).toBe(false);
  });

  it('compares a single element of an array that has a bit for each', () => {
    const third = data8.map((each, index) => (index === 3 ? each : 99));
    expect(has(byte(3), { service_data8: third })).toBe(true);
    expect(has(byte(3) | byte(0), { service_data8: third })).toBe(false);
  });
});
