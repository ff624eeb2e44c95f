/** Machines of other people, through the same core, model and views as this one. */
import { describe, expect, it } from 'vitest';
import { ibvDeviceAttr, ibvDeviceAttrEx, ibvPortAttr } from '../../../src/abi/verbs.ts';
import { NodeType, TransportType } from '../../../src/abi/verbs-codes.ts';
import { listGids } from '../../../src/devices/list-gids.ts';
import { describePort } from '../../../src/devices/ports.ts';
import { queryDevices } from '../../../src/devices/query-devices.ts';
import { NO_SYSFS_DEVICE } from '../../../src/devices/sysfs-device.ts';
import { omitting } from '../../../src/layout/struct.ts';
import type { Device } from '../../../src/model/query-device.ts';
import type { Block } from '../../../src/output/blocks.ts';
import { renderBlocks } from '../../../src/output/blocks.ts';
import { createStyle } from '../../../src/output/style.ts';
import { gidView } from '../../../src/views/gid.ts';
import { queryDeviceView } from '../../../src/views/query-device.ts';
import { Patience } from '../../../src/waiting/patience.ts';
import { recordedMachine } from './recorded.ts';
import { ATTRIBUTES, GID_TABLES, type RecordedAttributes, sysfsOf } from './recorded-systems.ts';

const text = (blocks: readonly Block[]): string =>
  renderBlocks(blocks, { style: createStyle(false), width: null });

describe('GID tables of other machines', () => {
  it.each(GID_TABLES)('$title ($source)', async (recorded) => {
    const machine = recordedMachine(sysfsOf(recorded));
    const result = await listGids({}, machine);
    expect(result.error).toBeNull();
    const [device] = result.devices;
    const [port] = device?.ports ?? [];
    // libibverbs of this machine does not know the device: sysfs tells.
    expect(port).toMatchObject({ port: 1, gids_from: 'sysfs', link_layer: recorded.linkLayer.toUpperCase() });
    const valid = recorded.rows.filter(([, gid]) => !/^[0:]*$/.test(gid));
    const types = { v1: 'ROCE_V1', v2: 'ROCE_V2' } as const;
    expect(
      port?.gids?.map(({ index, gid_full, type, netdev }) => [index, gid_full, type?.name, netdev]),
    ).toEqual(
      valid.map(([index, gid, version, netdev]) => [
        index,
        gid,
        version ? types[version] : undefined,
        netdev,
      ]),
    );
    expect(port?.choice?.index ?? null).toBe(recorded.wanted);
    expect(port?.choice?.reason ?? port?.unavailable['choice']).toContain(recorded.reason);
    expect(port?.gids?.filter(({ wanted }) => wanted).map(({ index }) => index)).toEqual(
      recorded.wanted === null ? [] : [recorded.wanted],
    );
    const shown = text(gidView(result, { full: true }));
    for (const [index, gid] of valid)
      expect(shown).toMatch(new RegExp(`^${recorded.device} +1 +${index}( \\*)? +${gid} `, 'm'));
    expect(shown).toContain(recorded.reason);
  });

  it('a table with a bond and a vxlan of one address: the other entry is named', async () => {
    const recorded = GID_TABLES.find(({ source }) => source === 'openucx/ucx#9484');
    if (!recorded) throw new Error('no such system');
    const result = await listGids({}, recordedMachine(sysfsOf(recorded)));
    expect(result.devices[0]?.ports[0]?.choice?.others).toEqual([5]);
    expect(text(gidView(result, { full: false }))).toContain('also usable: 5 (30.153.10.175, bond1)');
  });

  it('empty entries are shown on demand', async () => {
    const recorded = GID_TABLES.find(({ source }) => source === 'NVIDIA/nccl#1573');
    if (!recorded) throw new Error('no such system');
    const machine = recordedMachine(sysfsOf(recorded));
    const { devices } = await listGids({ all: true }, machine);
    const [port] = devices[0]?.ports ?? [];
    expect(port?.gids?.map(({ index, scope }) => [index, scope])).toEqual([
      ...[0, 1, 2, 3].map((index) => [index, 'empty']),
      [4, 'link-local'],
      [5, 'link-local'],
      [6, 'routable'],
      [7, 'routable'],
    ]);
  });
});

describe('other devices of other machines', () => {
  it('a virtual function whose node GUID is 0 (linux-rdma/rdma-core#1547)', async () => {
    const files = {
      'class/infiniband/mlx5_2/node_guid': '0000:0000:0000:0000',
      'class/infiniband/mlx5_2/fw_ver': '22.41.1000',
    };
    const { devices } = await queryDevices({}, recordedMachine({ files }));
    expect(devices[0]).toMatchObject({
      name: 'mlx5_2',
      node_guid: '0000:0000:0000:0000',
      sysfs: { fw_ver: '22.41.1000' },
    });
    expect(devices[0]?.notes.join()).toContain('node_guid is 0: programs that match devices by GUID');
  });

  it('the device for management of a card with four planes (Mellanox/rdmamap#17)', async () => {
    const files = Object.fromEntries(
      ['1', '2', '3', '4'].map((port) => [`class/infiniband/smi1/ports/${port}/state`, '4: ACTIVE']),
    );
    const { devices } = await queryDevices(
      {},
      recordedMachine({ files: { ...files, 'class/infiniband/mlx5_0/ports/1/state': '4: ACTIVE' } }),
    );
    expect(devices.map(({ name, sysfs }) => [name, sysfs.ports.map(({ port }) => port)])).toEqual([
      ['mlx5_0', [1]],
      ['smi1', [1, 2, 3, 4]],
    ]);
  });
});

/** The device as libibverbs would have told it, with what the thread does not show left 0. */
async function answered({
  transport = 0,
  device = {},
  deviceEx = {},
  port = {},
}: RecordedAttributes): Promise<Device> {
  const attr = ibvDeviceAttr.decode(ibvDeviceAttr.encode(device));
  const portAttr = ibvPortAttr.decode(ibvPortAttr.encode(port));
  const silent = {
    queryPortSpeed: () => Promise.resolve(0n),
    queryPkey: () => 0,
  };
  const attrEx = omitting(ibvDeviceAttrEx, 'orig_attr');
  return {
    name: 'recorded',
    error: null,
    node_guid: ibvDeviceAttr.toJson(attr).node_guid,
    node_type: NodeType.show(1),
    transport: TransportType.show(transport),
    attributes: ibvDeviceAttr.toJson(attr),
    attributes_ex: attrEx.toJson(attrEx.decode(attrEx.encode(deviceEx))),
    comp_cntr_caps: null,
    num_comp_vectors: null,
    efa: null,
    ports: [
      await describePort(
        silent,
        new Patience('recorded'),
        { port: 1, attr: portAttr, complete: true },
        { from: 'ibv_query_gid_table', entries: [] },
        '44.0',
      ),
    ],
    sysfs: NO_SYSFS_DEVICE,
    notes: [],
    unavailable: {},
  };
}

describe('attributes of other machines', () => {
  it.each(ATTRIBUTES)('$title ($source)', async (recorded) => {
    const shown = text(
      queryDeviceView(
        {
          schema: 'rdmatool/query-device/1',
          error: null,
          libraries: {
            libibverbs: { path: null, version: null, unavailable: {} },
            libefa: { path: null, version: null, unavailable: {} },
          },
          devices: [await answered(recorded)],
        },
        { verbose: true },
      ),
    );
    for (const line of recorded.lines) expect(shown).toMatch(line);
  });
});
