import { describe, expect, it } from 'vitest';
import { ibvDeviceAttr, ibvDeviceAttrEx, ibvPortAttr } from '../../../src/abi/verbs.ts';
import { LinkSpeed } from '../../../src/abi/verbs-codes.ts';
import { NO_SYSFS_DEVICE } from '../../../src/devices/sysfs-device.ts';
import type { FailureJson } from '../../../src/explain/failure.ts';
import { omitting } from '../../../src/layout/struct.ts';
import type { ListedDevice } from '../../../src/model/list.ts';
import type { Device, Gid, Port, QueryDeviceResult } from '../../../src/model/query-device.ts';
import { renderBlocks } from '../../../src/output/blocks.ts';
import { createStyle } from '../../../src/output/style.ts';
import { listView } from '../../../src/views/list.ts';
import { queryDeviceView } from '../../../src/views/query-device.ts';
import {
  durationText,
  enumText,
  flagsText,
  hexAndDecimal,
  pageSizesText,
  rateText,
} from '../../../src/views/values.ts';

const NO_CODES = { active_width: null, speed: null } as const;

describe('values', () => {
  it.each([
    [{ value: 4, name: 'ACTIVE' }, 'ACTIVE (4)'],
    [{ value: 9, name: null }, 'unknown (9)'],
    [{ value: 5, name: '4096' }, '4096 (5)'],
  ])('%j', (shown, text) => {
    expect(enumText(shown)).toBe(text);
  });

  it.each([
    [{ value: '0x0', flags: [], unknown: '0x0' }, '0x0'],
    [{ value: '0x3', flags: ['A', 'B'], unknown: '0x0' }, '0x3: A B'],
    [{ value: '0x83', flags: ['A', 'B'], unknown: '0x80' }, '0x83: A B unknown 0x80'],
    [{ value: '0x80', flags: [], unknown: '0x80' }, '0x80: unknown 0x80'],
  ])('%j', (shown, text) => {
    expect(flagsText(shown)).toBe(text);
  });

  it.each([
    ['0x0', ''],
    ['0x1000', '4 KiB'],
    ['0xfffff000', '4 KiB to 2 GiB'],
    ['0xfffffffffffff000', '4 KiB to 8 EiB'],
    ['0x40201000', '4 KiB, 2 MiB, 1 GiB'],
    ['0x1', '1 byte'],
    ['0xffffffffffffffff', '1 byte to 8 EiB'],
  ])('page sizes %s', (mask, text) => {
    expect(pageSizesText(mask)).toBe(text);
  });

  it.each([
    [400, '4X', 'NDR', '400 Gb/s (4X NDR)'],
    [2.5, '1X', 'SDR', '2.5 Gb/s (1X SDR)'],
  ])('a rate', (rate, width, speed, text) => {
    expect(rateText(rate, { value: 2, name: width }, { value: 1, name: speed })).toBe(text);
  });

  it('a rate of codes that nobody knows', () => {
    expect(rateText(null, { value: 32, name: null }, { value: 512, name: null })).toBe(
      '? Gb/s (width code 32 speed code 512)',
    );
    expect(rateText(null, null, null)).toBe('? Gb/s (? ?)');
  });

  it.each([
    [4.096, '4.096 us'],
    [65.536, '65.54 us'],
    [4.096 * 2 ** 14, '67.11 ms'],
    [4.096 * 2 ** 18, '1.074 s'],
    [4.096 * 2 ** 31, '8796 s'],
    [0, '0 us'],
  ])('%d microseconds', (microseconds, text) => {
    expect(durationText(microseconds)).toBe(text);
  });

  it('numbers that people know in hexadecimal', () => {
    expect(hexAndDecimal(0xefa2)).toBe('0xefa2 (61346)');
    expect(hexAndDecimal(0)).toBe('0x0 (0)');
  });
});

const failure = (more: Partial<FailureJson> = {}): FailureJson => ({
  code: 'OPEN_FAILED',
  errno: { value: 5, name: 'EIO' },
  message: 'mlx5_0: it does not open',
  hint: 'open it by hand',
  ...more,
});

const gid = (index: number, more: Partial<Gid> = {}): Gid => ({
  index,
  gid: `fe80::${index}`,
  type: { value: 2, name: 'ROCE_V2' },
  netdev: 'ens1',
  ipv4: null,
  ...more,
});

/** A RoCE port that is up; members as a driver gives them. */
function port(more: Partial<Port> = {}, attr: Parameters<typeof ibvPortAttr.encode>[0] = {}): Port {
  const bytes = ibvPortAttr.encode({
    state: 4,
    phys_state: 5,
    max_mtu: 5,
    active_mtu: 5,
    active_width: 2,
    active_speed: 128,
    link_layer: 2,
    ...attr,
  });
  return {
    ...ibvPortAttr.toJson(ibvPortAttr.decode(bytes)),
    port: 1,
    error: null,
    speed: LinkSpeed.show(128),
    rate_gbps: 400,
    effective_speed_gbps: null,
    gids: [],
    gids_from: 'ibv_query_gid_table',
    pkeys: [],
    unavailable: {},
    ...more,
  };
}

function device(more: Partial<Device> = {}): Device {
  const attr = ibvDeviceAttr.encode({
    vendor_id: 0x2c9,
    vendor_part_id: 4129,
    hw_ver: 0,
    fw_ver: '28.39.1002',
  });
  return {
    name: 'mlx5_0',
    error: null,
    node_guid: '0c42:a103:0065:1cfa',
    node_type: { value: 1, name: 'CA' },
    transport: { value: 0, name: 'IB' },
    attributes: ibvDeviceAttr.toJson(ibvDeviceAttr.decode(attr)),
    attributes_ex: omitting(ibvDeviceAttrEx, 'orig_attr').toJson(ibvDeviceAttrEx.zero()),
    comp_cntr_caps: null,
    num_comp_vectors: 63,
    efa: null,
    ports: [port()],
    sysfs: {
      ...NO_SYSFS_DEVICE,
      driver: 'mlx5_core',
      pci_address: '0000:a3:00.0',
      numa_node: 1,
      uverbs: 'uverbs0',
    },
    notes: [],
    unavailable: {},
    ...more,
  };
}

const result = (devices: Device[]): QueryDeviceResult => ({
  schema: 'rdmatool/query-device/1',
  error: null,
  libraries: {
    libibverbs: { path: '/usr/lib/libibverbs.so.1.14.44.0', version: '44.0', unavailable: {} },
    libefa: { path: null, version: null, unavailable: {} },
  },
  devices,
});

const show = (devices: Device[], verbose = false): string =>
  renderBlocks(queryDeviceView(result(devices), { verbose }), { style: createStyle(false), width: null });

describe('the essentials of a device', () => {
  it('are what a person wants first', () => {
    expect(show([device()])).toBe(
      [
        'mlx5_0  driver mlx5_core, 0000:a3:00.0, NUMA node 1, uverbs0',
        '  Card       vendor 0x2c9, part 0x1021 (4129), hw_ver 0x0, firmware 28.39.1002',
        '  Type       node CA (1), transport IB (0)',
        '  Node GUID  0c42:a103:0065:1cfa',
        '  Port 1     ACTIVE, 400 Gb/s (4X NDR), MTU 4096, link layer ETHERNET',
        '    GIDs     none',
        '',
        'Answered by libibverbs 44.0 (/usr/lib/libibverbs.so.1.14.44.0)',
        '',
      ].join('\n'),
    );
  });

  it.each<[string, Port, RegExp]>([
    ['a smaller MTU than is possible', port({}, { active_mtu: 3 }), /MTU 1024 of 4096/],
    ['a link that is down', port({}, { state: 1, phys_state: 3 }), /DOWN, DISABLED, 400/],
    ['active without a link', port({}, { phys_state: 2 }), /ACTIVE, POLLING/],
    ['LIDs', port({}, { lid: 12, sm_lid: 1, link_layer: 1 }), /LID 12, SM LID 1, link layer INFINIBAND/],
    [
      'a link slower than its speed',
      port({ effective_speed_gbps: 399.5 }),
      /\(4X NDR\), effective 399\.5 Gb\/s, MTU/,
    ],
    ['a link as fast as its speed', port({ effective_speed_gbps: 400 }), /\(4X NDR\), MTU/],
  ])('port: %s', (_what, one, text) => {
    expect(show([device({ ports: [one] })])).toMatch(text);
  });

  it('show eight GIDs, and how many more there are', () => {
    const gids = Array.from({ length: 20 }, (_, index) => gid(index));
    const text = show([device({ ports: [port({ gids })] })]);
    expect(text.match(/GID \d+ /g)?.length).toBe(8);
    expect(text).toMatch(/GID 7 +fe80::7, RoCE v2, ens1\n/);
    expect(text).toContain('12 more GIDs: -v shows them');
    expect(show([device({ ports: [port({ gids: gids.slice(0, 8) })] })])).not.toContain('more GIDs');
  });

  it('say why there are no GIDs', () => {
    const text = show([
      device({ ports: [port({ gids: null, unavailable: { gids: 'ibv_query_gid: EIO (5)' } })] }),
    ]);
    expect(text).toMatch(/GIDs +unknown: ibv_query_gid: EIO \(5\)/);
  });

  it('of a device that failed: the error, the next step, and what sysfs says', () => {
    const sysfs = {
      ...NO_SYSFS_DEVICE,
      ports: [
        {
          port: 1,
          state: '4: ACTIVE',
          phys_state: '5: LinkUp',
          link_layer: 'Ethernet',
          rate: '400 Gb/sec (4X NDR)',
        },
      ],
    };
    const failed = device({
      error: failure(),
      attributes: null,
      node_type: null,
      transport: null,
      ports: [],
      sysfs,
    });
    expect(show([failed])).toBe(
      [
        'mlx5_0',
        '  Error      mlx5_0: it does not open',
        '  Next       open it by hand',
        '  Node GUID  0c42:a103:0065:1cfa',
        '  Port 1     4: ACTIVE, 5: LinkUp, 400 Gb/sec (4X NDR), link layer Ethernet (sysfs)',
        '',
        'Answered by libibverbs 44.0 (/usr/lib/libibverbs.so.1.14.44.0)',
        '',
      ].join('\n'),
    );
  });

  it('say an error once, though a port and the device have it', () => {
    const error = failure({ message: 'mlx5_0 port 1: ibv_query_port: EIO (5)' });
    const text = show([device({ error, ports: [port({ error })] })]);
    expect(text.match(/ibv_query_port/g)?.length).toBe(1);
    expect(text).toMatch(/Port 1 +does not answer/);
    const other = show([device({ error: failure(), ports: [port({ error })] })]);
    expect(other).toMatch(/Port 1 +mlx5_0 port 1: ibv_query_port: EIO \(5\)/);
  });

  it('say a note once, though many devices have it', () => {
    const note = 'All of them are green.';
    const text = show([
      device({ notes: [note] }),
      device({ name: 'mlx5_1', notes: [note, 'This one is blue.'] }),
    ]);
    expect(text.match(/All of them are green/g)?.length).toBe(1);
    expect(text).toContain('Note on 2 devices: All of them are green.');
    expect(text).toMatch(/Note +This one is blue/);
    expect(show([device({ notes: [note] })])).toMatch(/ {2}Note +All of them are green/);
  });

  it('of no device are nothing', () => {
    expect(show([])).toBe('');
    expect(show([], true)).toBe('');
  });
});

describe('everything about a device', () => {
  it('has a row for every member of the structures', () => {
    const text = show([device()], true);
    const members = [ibvDeviceAttr, omitting(ibvDeviceAttrEx, 'orig_attr'), ibvPortAttr].flatMap((layout) =>
      layout.members.map(({ name }) => name),
    );
    for (const name of members) expect(text).toMatch(new RegExp(`^ +${name}[. ]`, 'm'));
  });

  it.each([
    ['max_mr_size', { max_mr_size: 2n ** 64n - 1n }, '18446744073709551615 bytes (no limit)'],
    ['max_mr_size', { max_mr_size: 2n ** 40n }, '1099511627776 (1 TiB)'],
    ['max_mr_size', { max_mr_size: 1n }, '1 byte'],
    ['page_size_cap', { page_size_cap: 0n }, '0x0'],
    ['local_ca_ack_delay', { local_ca_ack_delay: 15 }, '15 (134.2 ms)'],
    ['max_qp', { max_qp: -1 }, '-1'],
  ])('%s in the unit of people', (name, attr, text) => {
    const attributes = ibvDeviceAttr.toJson(ibvDeviceAttr.decode(ibvDeviceAttr.encode(attr)));
    const row = show([device({ attributes })], true)
      .split('\n')
      .find((line) => line.trim().startsWith(`${name} `));
    expect(row?.trim().replace(/ {2,}/, '|')).toBe(`${name}|${text}`);
  });

  it('what is not there says why', () => {
    const text = show(
      [
        device({
          attributes_ex: null,
          unavailable: { attributes_ex: 'no such call', efa: 'not an EFA device' },
        }),
      ],
      true,
    );
    expect(text).toMatch(/attributes_ex +unavailable: no such call/);
    expect(text).toMatch(/efa +unavailable: not an EFA device/);
  });
});

describe('list', () => {
  const listed = (more: Partial<ListedDevice> = {}): ListedDevice => ({
    name: 'mlx5_0',
    error: null,
    driver: 'mlx5_core',
    node_guid: '0c42:a103:0065:1cfa',
    ports: [{ port: 1, state: 'ACTIVE', link_layer: 'INFINIBAND', rate_gbps: 400, ...NO_CODES }],
    netdevs: [],
    uverbs: 'uverbs0',
    ...more,
  });
  const table = (devices: ListedDevice[]): string[][] =>
    renderBlocks(listView({ schema: 'rdmatool/list/1', error: null, devices }), {
      style: createStyle(false),
      width: null,
    })
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));

  it.each<[string, Partial<ListedDevice>, number, string]>([
    [
      'two states',
      {
        ports: ['ACTIVE', 'DOWN'].map((state, index) => ({
          port: index + 1,
          state,
          link_layer: 'ETHERNET',
          rate_gbps: 100,
          ...NO_CODES,
        })),
      },
      4,
      'ACTIVE,DOWN',
    ],
    [
      'two rates',
      {
        ports: [100, 25].map((rate_gbps, index) => ({
          port: index + 1,
          state: 'ACTIVE',
          link_layer: 'ETHERNET',
          rate_gbps,
          ...NO_CODES,
        })),
      },
      6,
      '100 Gb/s,25 Gb/s',
    ],
    [
      'nothing known of a port',
      { ports: [{ port: 1, state: null, link_layer: null, rate_gbps: null, ...NO_CODES }] },
      4,
      '?',
    ],
    ['no port', { ports: [] }, 4, '-'],
    ['two interfaces', { netdevs: ['eth0', 'eth1'] }, 7, 'eth0,eth1'],
    ['no node', { uverbs: null }, 8, '-'],
  ])('%s', (_what, more, column, text) => {
    expect(table([listed(more)])[1]?.[column]).toBe(text);
  });

  it('has a column of errors where there is one', () => {
    expect(table([listed()])[0]).not.toContain('ERROR');
    const [head, good, bad] = table([listed(), listed({ name: 'mlx5_1', error: failure() })]);
    expect(head?.at(-1)).toBe('ERROR');
    expect(bad?.at(-1)).toBe('OPEN_FAILED');
    expect(good?.at(-1)).toBe('uverbs0');
  });
});
