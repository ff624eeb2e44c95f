import { describe, expect, it } from 'vitest';
import { requiredAttribute } from '../../../src/datagram/attributes.ts';
import { decodeMad, encodeMad } from '../../../src/datagram/message.ts';
import { LayoutError } from '../../../src/layout/error.ts';
import { describeMad } from '../../../src/mad/decode.ts';
import { randomFrom, unhex } from '../layout/support.ts';
import { hostileMads } from './hostile.ts';

/** A GetResp NodeInfo as smpquery(8) received it from ibsim. */
const NODE_INFO = unhex(
  `01010181 00000000 00000000 2e5d7e82 00110000 00000000 00000000 00000000 ${'00000000'.repeat(8)}
   01010101 00000000 00100000 00000000 00100000 00000000 00100001 00400000 000000a1 01000000 ${'00'.repeat(152)}`,
);

describe('a datagram', () => {
  it('of a NodeInfo', () => {
    const mad = decodeMad(NODE_INFO);
    expect(mad.header).toMatchObject({ mgmt_class: 1, method: 0x81, tid: 0x2e5d7e82n, attr_id: 0x11 });
    expect(mad.records).toEqual([
      {
        base_version: 1,
        class_version: 1,
        node_type: 1,
        num_ports: 1,
        system_image_guid: 0x100000n,
        node_guid: 0x100000n,
        port_guid: 0x100001n,
        partition_cap: 64,
        device_id: 0,
        revision: 0xa1,
        local_port_num: 1,
        vendor_id: 0,
      },
    ]);
  });

  it('is encoded with the sections of its class', () => {
    const bytes = encodeMad({
      header: { base_version: 1, mgmt_class: 0x81, class_version: 1, method: 1, attr_id: 0x15, attr_mod: 3 },
      sections: {
        dr_smp: {
          hop_count: 2,
          dr_slid: 0xffff,
          dr_dlid: 0xffff,
          initial_path: Uint8Array.from({ length: 64 }, (_, i) => (i < 3 ? i : 0)),
        },
      },
      attribute: requiredAttribute('PortInfo', 'subnet'),
      fields: { lid: 7 },
    });
    expect(bytes.length).toBe(256);
    expect([...bytes.subarray(0, 8)]).toEqual([1, 0x81, 1, 1, 0, 0, 0, 2]);
    expect([...bytes.subarray(32, 36)]).toEqual([0xff, 0xff, 0xff, 0xff]);
    expect([...bytes.subarray(128, 131)]).toEqual([0, 1, 2]);
    expect(bytes[64 + 17]).toBe(7);
    expect(decodeMad(bytes).records[0]).toMatchObject({ lid: 7, m_key: 0n });
  });

  it.each([
    [0x09, 24],
    [0x32, 40],
    [0x03, 56],
    [0x04, 64],
    [0x01, 64],
    [0x07, 24],
    [0x06, 64],
  ])('of class 0x%s has its data at byte %i', (mgmtClass, offset) => {
    const bytes = encodeMad({ header: { mgmt_class: mgmtClass }, data: Uint8Array.of(0xab) });
    expect(bytes[offset]).toBe(0xab);
    expect(bytes.filter((byte) => byte === 0xab).length).toBe(1);
  });

  it('is not cut: too much data is refused', () => {
    expect(() => encodeMad({ header: { mgmt_class: 4 }, data: new Uint8Array(193) })).toThrow(/room for 192/);
    expect(() => encodeMad({ header: { mgmt_class: 1 }, data: new Uint8Array(65) })).toThrow(/room for 64/);
    expect(() => encodeMad({ header: { mgmt_class: 4, attr_mod: 2 ** 32 } })).toThrow(/attr_mod/);
  });

  it.each([0, 1, 23, 24, 63, 127])('of %i bytes is too short', (length) => {
    expect(() => decodeMad(NODE_INFO.subarray(0, length))).toThrow(LayoutError);
  });

  it('of 257 bytes is too long for a class without RMPP', () => {
    expect(() => decodeMad(new Uint8Array(257).fill(1))).toThrow(/has 256 bytes; these are 257/);
  });
});

describe('a table of SA', () => {
  const link = requiredAttribute('LinkRecord', 'administration');
  const table = (count: number, distance: number): Uint8Array =>
    encodeMad({
      header: { mgmt_class: 3, class_version: 2, method: 0x92, attr_id: 0x20 },
      sections: { sa: { attr_offset: distance } },
      data: Uint8Array.from(
        Array.from({ length: count }, (_, i) => [
          ...link.layout.encode({ from_lid: i + 1, to_lid: 9 }),
          0,
          0,
        ]).flat(),
      ),
    });

  it('of more than one datagram has all its records', () => {
    const mad = decodeMad(table(100, 1));
    expect(mad.records.length).toBe(100);
    expect(mad.records[99]).toEqual({ from_lid: 100, from_port: 0, to_port: 0, to_lid: 9 });
  });

  it('with attribute offset 0 has none', () => {
    expect(decodeMad(table(3, 0)).records).toEqual([]);
  });

  it('with records shorter than they can be is refused', () => {
    const node = requiredAttribute('NodeRecord', 'administration');
    const bytes = encodeMad({
      header: { mgmt_class: 3, method: 0x92, attr_id: node.id },
      sections: { sa: { attr_offset: 2 } },
    });
    expect(() => decodeMad(bytes)).toThrow('16 bytes a record; NodeRecord has 108');
  });
});

describe('hostile bytes', () => {
  const COUNT = 20_000;
  const SEED = 20_260;

  it(`${COUNT} mutated and random datagrams are decoded or refused (seed ${SEED})`, () => {
    let decoded = 0;
    for (const bytes of hostileMads(randomFrom(SEED), COUNT)) {
      const { undecoded } = describeMad(bytes);
      if (undecoded === null) decoded++;
    }
    // Neither all nor none: the inputs are of both kinds.
    expect(decoded).toBeGreaterThan(COUNT / 10);
    expect(decoded).toBeLessThan(COUNT);
  });
});
