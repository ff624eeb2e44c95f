/** `rdmatool list`: one line a device. */
import { describe, expect, it } from 'vitest';
import { deviceOf, lab, withFaults } from '../support/labs.ts';
import { list, queryDevice, rdmatool, run } from '../support/rdmatool.ts';

const cells = (line: string): string[] => line.trim().split(/ {2,}/);

describe.concurrent('list', () => {
  it('shows name, driver, GUID, ports, state, link layer, rate, network device and node', async () => {
    const place = await lab({ devices: ['rdmap0s6:efa2', 'rxe0:rxe'] });
    const { status, stdout, stderr } = await rdmatool(['list'], { lab: place });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [head = '', efa = '', rxe = '', ...rest] = stdout.trimEnd().split('\n');
    expect(cells(head)).toEqual([
      'DEVICE',
      'DRIVER',
      'NODE GUID',
      'PORTS',
      'STATE',
      'LINK LAYER',
      'RATE',
      'NETDEV',
      'UVERBS',
    ]);
    // GUIDs as ibv_devices has them, without the colons.
    const { stdout: peer } = await run(['ibv_devices'], { lab: place });
    const guids = new Map(
      [...peer.matchAll(/^\s+(\S+)\s+([0-9a-f]{16})$/gm)].map(([, name = '', guid = '']) => [name, guid]),
    );
    const guid = (name: string): string => guids.get(name)?.replace(/(.{4})(?=.)/g, '$1:') ?? '';
    expect(cells(efa)).toEqual([
      'rdmap0s6',
      'efa',
      guid('rdmap0s6'),
      '1',
      'ACTIVE',
      'UNSPECIFIED',
      '100 Gb/s',
      '-',
      'uverbs0',
    ]);
    expect(cells(rxe)).toEqual([
      'rxe0',
      '-',
      guid('rxe0'),
      '1',
      'ACTIVE',
      'ETHERNET',
      '10 Gb/s',
      'eth0',
      'uverbs1',
    ]);
    expect(rest).toEqual([]);
  });

  it('shows the devices that are named, in that order', async () => {
    const place = await lab({ instance: 'p4d.24xlarge' });
    const { document } = await list(['rdmap160s27', 'rdmap16s27', 'rdmap160s27'], { lab: place });
    expect(document.devices.map(({ name }) => name)).toEqual(['rdmap160s27', 'rdmap16s27']);
  });

  it('orders names as people count', async () => {
    const place = await lab({
      devices: ['rdmap10s0:efa2', 'rdmap9s0:efa2', 'rdmap100s0:efa2', 'rdmap9s10:efa2'],
    });
    const { document } = await list([], { lab: place });
    expect(document.devices.map(({ name }) => name)).toEqual([
      'rdmap9s0',
      'rdmap9s10',
      'rdmap10s0',
      'rdmap100s0',
    ]);
  });

  it('agrees with query-device', async () => {
    const place = await lab({ instance: 'p5en.48xlarge' });
    const [short, long] = await Promise.all([list([], { lab: place }), queryDevice([], { lab: place })]);
    expect(short.document.devices.length).toBe(16);
    short.document.devices.forEach((device, index) => {
      const other = long.document.devices[index];
      expect(device).toMatchObject({
        name: other?.name,
        error: null,
        driver: other?.sysfs.driver,
        node_guid: other?.node_guid,
        uverbs: other?.sysfs.uverbs,
        ports: other?.ports.map(({ port, state, link_layer, rate_gbps }) => ({
          port,
          state: state?.name,
          link_layer: link_layer?.name,
          rate_gbps,
        })),
      });
    });
  });

  it('shows each port that is not as the others', async () => {
    const port = (state: number) => ({
      query_port: { state, link_layer: 1, active_width: 2, active_speed: 64 },
    });
    const profile = { extends: 'efa2', ports: [4, 4, 4, 1, 4].map(port) };
    const place = await lab({ devices: [deviceOf('rdmap0s6', profile)] });
    const { stdout } = await rdmatool(['list'], { lab: place });
    expect(stdout).toMatch(/ 5 +ACTIVE x3,DOWN,ACTIVE +INFINIBAND +200 Gb\/s /);
  });
});

describe.concurrent('a device that cannot be opened', () => {
  it.each([
    ['rdmap32s27:open=EACCES', 'NO_PERMISSION'],
    ['rdmap32s27:no-node', 'NO_NODE'],
    ['rdmap32s27:query-port=EIO', 'QUERY_FAILED'],
  ])('(%s) stands in its line with what sysfs says, and why', async (fault, code) => {
    const place = await lab({ instance: 'p4d.24xlarge', faults: [fault] });
    const { status, document } = await list([], { lab: place });
    expect(status).toBe(1);
    expect(document.error?.code).toBe('SOME_DEVICES_FAILED');
    expect(document.devices[1]).toMatchObject({
      name: 'rdmap32s27',
      error: { code },
      driver: 'efa',
      node_guid: expect.stringMatching(/^([0-9a-f]{4}:){3}[0-9a-f]{4}$/),
      ports: [{ port: 1, state: 'ACTIVE', link_layer: 'UNSPECIFIED', rate_gbps: 100 }],
      uverbs: 'uverbs1',
    });
    const { stdout, stderr } = await rdmatool(['list'], { lab: place });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBe(5);
    expect(lines[0]).toMatch(/ERROR$/);
    expect(lines.filter((line) => line.endsWith(code)).map((line) => cells(line)[0])).toEqual(['rdmap32s27']);
    expect(stderr).toContain('1 of 4 devices failed');
  });

  it.each([
    ['hide-library=libibverbs.so.1', 'NO_LIBRARY', 69],
    ['no-provider', 'NO_PROVIDER', 69],
    ['no-module', 'NO_MODULE', 69],
  ])('with all of them (%s): each in its line', async (fault, code, exit) => {
    const place = await lab({ instance: 'p4d.24xlarge', faults: [fault] });
    const { status, document } = await list([], { lab: place });
    expect(status).toBe(exit);
    expect(document.error?.code).toBe(code);
    expect(document.devices.map(({ error }) => error?.code)).toEqual(Array(4).fill(code));
    expect(document.devices[3]).toMatchObject({
      name: 'rdmap160s27',
      driver: 'efa',
      ports: [{ rate_gbps: 100 }],
    });
  });

  it('that there is not: 69 and the names that there are', async () => {
    const place = await lab({ instance: 'p4d.24xlarge' });
    const { status, document } = await list(['rdmap16s2'], { lab: place });
    expect(status).toBe(69);
    expect(document.error).toMatchObject({
      code: 'UNKNOWN_DEVICE',
      hint: expect.stringContaining('rdmap16s27'),
    });
  });
});

describe.concurrent('no device', () => {
  it.each([['no-device'], ['no-driver']])('(%s): 69, nothing on stdout, and what to do', async (fault) => {
    const place = await withFaults(fault);
    const { status, stdout, stderr } = await rdmatool(['list'], { lab: place });
    expect({ status, stdout }).toEqual({ status: 69, stdout: '' });
    expect(stderr).toMatch(/^rdmatool: no RDMA device.*\nnext: .+\n$/);
    const { document } = await list([], { lab: place });
    expect(document.devices).toEqual([]);
  });
});
