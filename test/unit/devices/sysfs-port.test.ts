import { describe, expect, it } from 'vitest';
import { linkFromSysfs, portFromSysfs, portGuid } from '../../../src/devices/sysfs-port.ts';
import { recordedMachine } from './recorded.ts';

const link = (rate: string | null, link_layer: string | null = null) =>
  linkFromSysfs({ state: null, phys_state: null, link_layer, rate });

describe('a link in sysfs', () => {
  // As the kernel has printed rates.
  it.each([
    ['100 Gb/sec (4X EDR)', '4X', 'EDR', 100],
    ['400 Gb/sec (8X HDR)', '8X', 'HDR', 400],
    ['2.5 Gb/sec (1X SDR)', '1X', 'SDR', 2.5],
    ['10 Gb/sec (4X)', '4X', 'SDR', 10],
    ['40 Gb/sec (4X FDR10)', '4X', 'FDR10', 40],
    ['800 Gb/sec (4X XDR)', '4X', 'XDR', 800],
  ])('%s', (rate, width, speed, gbps) => {
    expect(link(rate)).toMatchObject({
      active_width: { name: width },
      speed: { name: speed },
      rate_gbps: gbps,
    });
  });

  it.each([
    ['1600 Gb/sec (4X ZDR)', 1600],
    ['10', 10],
    ['', null],
    [null, null],
    ['fast', null],
  ])('%j: the number where there is one', (rate, gbps) => {
    expect(link(rate)).toMatchObject({ speed: null, rate_gbps: gbps });
  });

  it.each([
    ['InfiniBand', 'INFINIBAND'],
    ['Ethernet', 'ETHERNET'],
    ['Unknown', 'UNSPECIFIED'],
    ['IB', 'INFINIBAND'],
  ])('layer %s is %s', (text, name) => {
    expect(link(null, text).link_layer?.name).toBe(name);
  });

  it('has states by their numbers', () => {
    const { state, phys_state } = linkFromSysfs({
      state: '4: ACTIVE',
      phys_state: '9: <unknown>',
      link_layer: null,
      rate: null,
    });
    expect({ state, phys_state }).toEqual({
      state: { value: 4, name: 'ACTIVE' },
      phys_state: { value: 9, name: null },
    });
  });
});

describe('a port in sysfs', () => {
  const place = 'class/infiniband/mlx5_0/ports/1';
  const machine = recordedMachine({
    files: {
      [`${place}/lid`]: '0x2a',
      [`${place}/sm_lid`]: '0x1',
      [`${place}/sm_sl`]: '0',
      [`${place}/lid_mask_count`]: '0',
      [`${place}/cap_mask`]: '0x0251086a',
      [`${place}/gids/0`]: 'fe80:0000:0000:0000:0002:c903:00fe:1235',
      [`${place}/gids/1`]: '0000:0000:0000:0000:0000:ffff:0a09:0001',
      [`${place}/gids/2`]: '0000:0000:0000:0000:0000:0000:0000:0000',
      [`${place}/gid_attrs/types/1`]: 'RoCE v2',
      [`${place}/gid_attrs/ndevs/1`]: 'ib0',
      [`${place}/pkeys/0`]: '0xffff',
      [`${place}/pkeys/1`]: '0x0000',
      [`${place}/pkeys/2`]: '0x7fff',
    },
  });
  const shown = {
    port: 1,
    state: '4: ACTIVE',
    phys_state: '5: LinkUp',
    link_layer: 'InfiniBand',
    rate: '100 Gb/sec (4X EDR)',
  };

  it('has LIDs, masks, GIDs and P_Keys, and a reason for what sysfs does not tell', () => {
    const port = portFromSysfs(machine, 'mlx5_0', shown, 'libibverbs is not there');
    expect(port).toMatchObject({
      error: null,
      lid: 42,
      sm_lid: 1,
      lmc: 0,
      port_cap_flags: { value: '0x251086a', flags: expect.arrayContaining(['SM', 'TRAP_SUP']) },
      gid_tbl_len: 3,
      gids: [
        { index: 0, gid: 'fe80::2:c903:fe:1235', type: { name: 'IB' }, netdev: null, ipv4: null },
        { index: 1, gid: '::ffff:10.9.0.1', type: { name: 'ROCE_V2' }, netdev: 'ib0', ipv4: '10.9.0.1' },
      ],
      pkey_tbl_len: 3,
      pkeys: [
        { index: 0, pkey: '0xffff', membership: 'full' },
        { index: 2, pkey: '0x7fff', membership: 'limited' },
      ],
      max_mtu: null,
    });
    for (const [key, value] of Object.entries(port)) {
      if (key !== 'error') expect(key in port.unavailable, key).toBe(value === null);
    }
    expect(port.unavailable['max_mtu']).toBe('libibverbs is not there');
  });

  it('has its GUID in its first GID', () => {
    expect(portGuid(machine, 'mlx5_0', 1)).toBe('0002:c903:00fe:1235');
    expect(portGuid(machine, 'mlx5_0', 2)).toBeNull();
  });
});
