/** `rdmatool port` on simulated EFA cards and others, beside ibv_devinfo and query-device. */
import { describe, expect, it } from 'vitest';
import { parseDevinfo } from '../support/devinfo.ts';
import { fullProfile } from '../support/full-profile.ts';
import { deviceOf, lab } from '../support/labs.ts';
import { port, queryDevice, rdmatool, run } from '../support/rdmatool.ts';

const cells = (line: string): string[] => line.trim().split(/ {2,}/);

describe.concurrent('port', () => {
  it('carries what query-device knows of each port', async () => {
    const place = await lab({ devices: ['rdmap0s6:efa2', 'rxe0:rxe'] });
    const [short, long] = await Promise.all([port([], { lab: place }), queryDevice([], { lab: place })]);
    expect(short.status).toBe(0);
    expect(short.document.ports.map(({ device }) => device)).toEqual(['rdmap0s6', 'rxe0']);
    for (const entry of short.document.ports) {
      const device = long.document.devices.find(({ name }) => name === entry.device);
      const known = device?.ports.find((one) => one.port === entry.port);
      expect(entry).toMatchObject({
        ...known,
        unavailable: expect.objectContaining(known?.unavailable ?? {}),
      });
      expect(entry.source).toBe('verbs');
      expect(entry.node_guid).toBe(device?.node_guid);
    }
  });

  it('agrees with ibv_devinfo, and sysfs alone says the same', async () => {
    const profile = fullProfile('efa');
    const device = deviceOf('mlx5_0', profile);
    const open = await lab({ devices: [device] });
    const shut = await lab({ devices: [device], faults: ['mlx5_0:open=EACCES'] });
    const { stdout } = await run(['ibv_devinfo', '-v'], { lab: open });
    const [peer] = parseDevinfo(stdout);
    const [verbs, sysfs] = await Promise.all([port([], { lab: open }), port([], { lab: shut })]);
    expect(sysfs.status).toBe(77);
    const inPeer = (index: number, key: string): string | undefined =>
      peer?.ports[index]?.entries.find((entry) => entry.key === key)?.text;
    expect(verbs.document.ports.length).toBe(peer?.ports.length);
    verbs.document.ports.forEach((one, index) => {
      const closed = sysfs.document.ports[index];
      expect(closed?.source).toBe('sysfs');
      expect(closed?.error?.code).toBe('NO_PERMISSION');
      for (const [key, name] of [
        ['lid', 'port_lid'],
        ['sm_lid', 'sm_lid'],
        ['lmc', 'port_lmc'],
        ['port_cap_flags', 'port_cap_flags'],
      ] as const) {
        const value = one[key];
        const number = typeof value === 'object' ? Number(value?.value) : value;
        expect(number, name).toBe(Number(inPeer(index, name)));
        expect(closed?.[key], key).toEqual(value);
      }
      for (const key of ['state', 'phys_state', 'link_layer', 'pkeys', 'gids', 'gid_tbl_len'] as const) {
        expect(closed?.[key], key).toEqual(one[key]);
      }
    });
  });

  it('shows the ports that are asked for', async () => {
    const profile = { extends: 'efa2', ports: [4, 1, 2].map((state) => ({ query_port: { state } })) };
    const place = await lab({ devices: [deviceOf('mlx5_0', profile), 'rdmap0s6:efa2'] });
    const { status, stdout, stderr } = await rdmatool(['port', 'rdmap0s6', 'mlx5_0/2'], { lab: place });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [head = '', ...lines] = stdout.trimEnd().split('\n');
    expect(cells(head)[0]).toBe('PORT');
    expect(lines.slice(0, 2).map((line) => cells(line).slice(0, 2))).toEqual([
      ['rdmap0s6/1', 'ACTIVE'],
      ['mlx5_0/2', 'DOWN'],
    ]);
  });

  it.each([
    [['rdmap0s6/2'], 1, 'NO_SUCH_PORT', 'the device has one port, 1'],
    [['nope'], 69, 'UNKNOWN_DEVICE', 'rdmap0s6'],
    [['nope/1'], 69, 'UNKNOWN_DEVICE', 'rdmap0s6'],
    [['rdmap0s6', 'nope'], 1, 'SOME_DEVICES_FAILED', 'rdmap0s6'],
    [['rdmap0s6/x'], 2, 'USAGE', 'port --help'],
    [['rdmap0s6/'], 2, 'USAGE', 'port --help'],
    [['\u001b[31m/1'], 69, 'UNKNOWN_DEVICE', 'rdmap0s6'],
  ])('%j ends with %i, %s', async (args, exit, code, hint) => {
    const place = await lab({ devices: ['rdmap0s6:efa2'] });
    const { status, document } = await port(args, { lab: place });
    expect(status).toBe(exit);
    expect(document.error).toMatchObject({ code, hint: expect.stringContaining(hint) });
    const plain = await rdmatool(['port', ...args], { lab: place });
    expect(plain.status).toBe(exit);
    expect(plain.stdout + plain.stderr).not.toContain('\u001b');
  });

  it('without a device ends with 69 and the next step', async () => {
    const place = await lab({ faults: ['no-device'] });
    const { status, stdout, stderr } = await rdmatool(['port'], { lab: place });
    expect({ status, stdout }).toEqual({ status: 69, stdout: '' });
    expect(stderr).toMatch(/^rdmatool: no RDMA device.*\nnext: .+\n$/);
  });
});
