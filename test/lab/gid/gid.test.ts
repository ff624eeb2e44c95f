/** `rdmatool gid`: the GID tables, and the index that RDMA programs want. */
import { describe, expect, it } from 'vitest';
import { parseDevinfo } from '../support/devinfo.ts';
import { fullProfile } from '../support/full-profile.ts';
import { deviceOf, lab, withFaults } from '../support/labs.ts';
import { gid, rdmatool, run } from '../support/rdmatool.ts';

const cells = (line: string): string[] => line.trim().split(/ {2,}/);
const linesOf = (stdout: string): string[] => stdout.split('\n').filter((line) => line !== '');

interface Entry {
  readonly gid: string;
  readonly type: 'IB' | 'RoCE v1' | 'RoCE v2';
  readonly netdev?: string;
  readonly netdev_state?: string | null;
  readonly index?: number;
}

/** A lab of one soft-RoCE device with these entries. */
const roce = (gids: readonly Entry[]) =>
  lab({ devices: [deviceOf('rxe0', { extends: 'rxe', ports: [{ gids }] })] });

const pair = (address: string, more: Omit<Entry, 'gid' | 'type'> = {}): Entry[] => [
  { gid: address, type: 'RoCE v1', netdev: 'eth0', ...more },
  { gid: address, type: 'RoCE v2', netdev: 'eth0', ...more },
];

describe('gid', () => {
  it('shows what ibv_devinfo shows, of every device and with all digits', async () => {
    const devices = ['rdmap0s6:efa2', 'rdmap1s6:efa4', 'rxe0:rxe', deviceOf('rxe1', fullProfile('rxe'))];
    const place = await lab({ devices });
    const [{ status, document }, { stdout }, peer] = await Promise.all([
      gid([], { lab: place }),
      rdmatool(['gid', '--full'], { lab: place }),
      run(['ibv_devinfo', '-v'], { lab: place }),
    ]);
    expect(status).toBe(0);
    const rows = linesOf(stdout).map(cells);
    const types = { 'RoCE v1': 'ROCE_V1', 'RoCE v2': 'ROCE_V2' } as const;
    let count = 0;
    for (const { name, ports } of parseDevinfo(peer.stdout)) {
      const own = document.devices.find((device) => device.name === name);
      expect(own?.ports.map(({ port }) => port)).toEqual(ports.map(({ port }) => port));
      for (const { port, gids } of ports) {
        const shown = own?.ports.find((one) => one.port === port)?.gids;
        expect(shown?.map(({ index }) => index)).toEqual(gids.map(({ index }) => index));
        for (const { index, gid: text, type } of gids) {
          const entry = shown?.find((one) => one.index === index);
          const isShort = !/^([0-9a-f]{4}:){7}[0-9a-f]{4}$/.test(text);
          expect(isShort ? entry?.gid : entry?.gid_full).toBe(text);
          expect(entry?.type?.name).toBe(type === null ? 'IB' : Reflect.get(types, type));
          const row = rows.find(
            (one) => one[0] === name && one[1] === `${port}` && one[2]?.split(' ')[0] === `${index}`,
          );
          expect(row?.slice(3, 5)).toEqual([entry?.gid_full, type ?? 'IB']);
          count++;
        }
      }
    }
    expect(count).toBeGreaterThan(10);
  });

  it('table and document say the same, also of what is empty', async () => {
    const place = await roce([
      ...pair('fe80::1'),
      { gid: '::ffff:10.1.0.1', type: 'RoCE v2', netdev: 'eth0', index: 5 },
    ]);
    const { document } = await gid(['--all'], { lab: place });
    const { stdout } = await rdmatool(['gid', '--all'], { lab: place });
    const gids = document.devices[0]?.ports[0]?.gids ?? [];
    expect(gids.length).toBe(1024);
    expect(gids.map(({ index }) => index)).toEqual(gids.map((_, position) => position));
    const rows = linesOf(stdout)
      .filter((line) => /^rxe0 +1 /.test(line))
      .map(cells);
    const words: Readonly<Record<string, string>> = { ROCE_V1: 'RoCE v1', ROCE_V2: 'RoCE v2', IB: 'IB' };
    expect(rows).toEqual(
      gids.map(({ index, gid: text, type, ipv4, netdev, netdev_state, scope, wanted }) => [
        'rxe0',
        '1',
        `${index}${wanted ? ' *' : ''}`,
        text,
        words[type?.name ?? ''] ?? '-',
        ipv4 ?? '-',
        netdev ?? '-',
        netdev_state ?? '-',
        scope === 'empty' ? '-' : scope,
      ]),
    );
    const short = await gid([], { lab: place });
    expect(short.document.devices[0]?.ports[0]?.gids?.map(({ index }) => index)).toEqual([0, 1, 5]);
  });

  it('of EFA: index 0, once for many devices', async () => {
    const place = await lab({ instance: 'p5en.48xlarge' });
    const { document } = await gid([], { lab: place });
    expect(document.devices.map(({ ports }) => ports.map(({ choice }) => choice?.index))).toEqual(
      Array.from({ length: 16 }, () => [0]),
    );
    const { stdout } = await rdmatool(['gid'], { lab: place });
    expect(stdout.match(/EFA has one GID/g)?.length).toBe(1);
    expect(stdout).toMatch(/port 1 and 12 more: index 0: EFA has one GID/);
    expect(stdout.match(/^rdmap\S+ +1 +0 \* +fe80::/gm)?.length).toBe(16);
  });
});

describe.concurrent('the index that is marked', () => {
  it.each<[string, readonly Entry[], number | null, RegExp]>([
    [
      'a pair of v1 and v2, by address',
      [...pair('fe80::1'), ...pair('::ffff:10.1.0.1')],
      3,
      /IPv4 address 10\.1\.0\.1, eth0 is up/,
    ],
    [
      'IPv6 first in the table',
      [...pair('fd00::5'), ...pair('::ffff:10.1.0.1')],
      3,
      /IPv4 address 10\.1\.0\.1/,
    ],
    ['IPv6 alone', [...pair('fe80::1'), ...pair('fd00::5')], 3, /IPv6 address fd00::5/],
    [
      'a VLAN beside its parent',
      [...pair('::ffff:10.1.0.1'), ...pair('::ffff:10.1.200.1', { netdev: 'eth0.200' })],
      1,
      /eth0 is up/,
    ],
    [
      'a parent that is down, with a VLAN that is up',
      [
        ...pair('::ffff:10.1.0.1', { netdev_state: 'down' }),
        ...pair('::ffff:10.1.200.1', { netdev: 'eth0.200' }),
      ],
      3,
      /eth0\.200 is up/,
    ],
    ['a bond', pair('::ffff:10.1.0.1', { netdev: 'bond0' }), 1, /bond0 is up/],
    [
      'a network device of another namespace',
      pair('::ffff:10.1.0.1', { netdev_state: null }),
      1,
      /the state of eth0 cannot be seen/,
    ],
    [
      'a driver that does not tell the state',
      pair('::ffff:10.1.0.1', { netdev_state: 'unknown' }),
      1,
      /eth0 is up/,
    ],
    [
      'all is down',
      pair('::ffff:10.1.0.1', { netdev_state: 'down' }),
      null,
      /index 1 is RoCE v2 and routable, but eth0 is down/,
    ],
    [
      'no carrier',
      pair('::ffff:10.1.0.1', { netdev_state: 'lowerlayerdown' }),
      null,
      /eth0 is lowerlayerdown/,
    ],
    ['link-local alone', pair('fe80::1'), null, /link-local \(index 1\).*give eth0 an IP address/],
    ['link-local of IPv4', pair('::ffff:169.254.3.4'), null, /link-local/],
    [
      'RoCE v1 alone',
      [{ gid: '::ffff:10.1.0.1', type: 'RoCE v1', netdev: 'eth0' }],
      null,
      /RoCE v1, which routers do not carry/,
    ],
    [
      'nothing',
      [],
      null,
      /no GID: the network device is down, has no address, or is in another network namespace/,
    ],
  ])('%s', async (_what, entries, index, reason) => {
    const place = await roce(entries);
    const { status, document } = await gid(['rxe0'], { lab: place });
    expect(status).toBe(0);
    const [port] = document.devices[0]?.ports ?? [];
    expect(port?.choice?.index ?? null).toBe(index);
    expect(port?.choice?.reason ?? port?.unavailable['choice']).toMatch(reason);
    expect(port?.gids?.filter(({ wanted }) => wanted).map((one) => one.index)).toEqual(
      index === null ? [] : [index],
    );
    const { stdout } = await rdmatool(['gid', 'rxe0'], { lab: place });
    expect(
      stdout.match(/^rxe0 +1 +\d+ \*/gm)?.map((line) => Number(cells(line)[2]?.split(' ')[0])) ?? [],
    ).toEqual(index === null ? [] : [index]);
    expect(stdout).toMatch(reason);
    expect(stdout.includes('NCCL_IB_GID_INDEX')).toBe(index !== null);
  });
});

describe.concurrent('where the table comes from', () => {
  const devices = ['rdmap0s6:efa2', 'rxe0:rxe'];
  const sources = (document: Awaited<ReturnType<typeof gid>>['document']) =>
    document.devices.flatMap(({ ports }) => ports.map(({ gids_from }) => gids_from));
  const without = (document: Awaited<ReturnType<typeof gid>>['document']) =>
    document.devices.map(({ ports, name }) => ({
      name,
      ports: ports.map(({ gids_from: _, ...port }) => port),
    }));

  it.each([
    [['_ibv_query_gid_table'], 'ibv_query_gid_ex'],
    [['_ibv_query_gid_table', '_ibv_query_gid_ex'], 'ibv_query_gid'],
  ] as const)('a libibverbs without %j: %s, and the same result', async (symbols, source) => {
    const whole = await gid([], { lab: await lab({ devices }) });
    expect(sources(whole.document)).toEqual(['ibv_query_gid_table', 'ibv_query_gid_table']);
    const place = await lab({ devices, faults: symbols.map((symbol) => `hide-symbol=${symbol}`) });
    const old = await gid([], { lab: place });
    expect(old.status).toBe(0);
    expect(sources(old.document)).toEqual([source, source]);
    expect(without(old.document)).toEqual(without(whole.document));
  });

  it.each([
    ['rxe0:open=EACCES', 'rdmap0s6:no-node'],
    ['hide-library=libibverbs.so.1'],
    ['no-provider', 'rxe0:no-node'],
    ['no-module'],
  ])('with the fault %s: sysfs has the same, and nothing has failed', async (...faults) => {
    const whole = await gid([], { lab: await lab({ devices }) });
    const { status, document, stderr } = await gid([], { lab: await lab({ devices, faults }) });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(sources(document)).toEqual(['sysfs', 'sysfs']);
    expect(without(document)).toEqual(without(whole.document));
    for (const { notes } of document.devices) expect(notes.join()).toMatch(/^from sysfs, for /);
  });
});

describe.concurrent('a device that there is not', () => {
  it('no device: 69, and why', async () => {
    const { status, document, stderr } = await gid([], { lab: await withFaults('no-device') });
    expect(status).toBe(69);
    expect(document).toMatchObject({ devices: [], error: { code: 'NO_DEVICE' } });
    expect(stderr).toContain('no RDMA device');
  });

  it('another name: the nearest', async () => {
    const { status, document } = await gid(['rdmap0s7'], { lab: await lab() });
    expect(status).toBe(69);
    expect(document.error).toMatchObject({
      code: 'UNKNOWN_DEVICE',
      hint: expect.stringContaining('rdmap0s6'),
    });
    const { stdout } = await rdmatool(['gid', 'rdmap0s7'], { lab: await lab() });
    expect(stdout).toContain('rdmap0s7: there is no RDMA device of that name');
  });

  it('beside one that there is: both', async () => {
    const { status, document } = await gid(['rdmap0s6', 'nosuch'], { lab: await lab() });
    expect(status).toBe(1);
    expect(document.devices).toMatchObject([
      { name: 'rdmap0s6', error: null, ports: [{ choice: { index: 0 } }] },
      { name: 'nosuch', error: { code: 'UNKNOWN_DEVICE' }, ports: [] },
    ]);
  });

  it('a port: how many there are', async () => {
    const { status, document } = await gid(['-i', '3'], { lab: await lab() });
    expect(status).toBe(1);
    expect(document.error).toMatchObject({ code: 'NO_SUCH_PORT', hint: 'the device has one port, 1' });
  });
});

describe('a narrow terminal', () => {
  it('keeps index and GID', async () => {
    const { stdout } = await run(
      ['script', '-qec', `stty cols 60; rdmatool gid --color never`, '/dev/null'],
      { lab: await roce(pair('2001:db8:1:2:3:4:5:6')) },
    );
    expect(stdout).toMatch(/^rxe0 +1 +1 \* +2001:db8:1:2:3:4:5:6 +RoCE v2/m);
    expect(stdout).toContain('no room here for IPV4');
  });
});
