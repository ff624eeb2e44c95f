import { describe, expect, it } from 'vitest';
import { EFA_MODELS, findModel, modelProfile } from '../../../src/lab/efa/models.ts';
import type { Profile } from '../../../src/lab/efa/profile.ts';
import { EMPTY_PROFILE, printProfile, readProfile } from '../../../src/lab/efa/profile-json.ts';
import { LabError } from '../../../src/lab/error.ts';

const EFA2 = modelProfile('efa2');

/** The error that reading the profile throws. */
function refusal(json: unknown, base: Profile = EFA2): LabError {
  try {
    readProfile(json, base, 'my.json');
  } catch (error) {
    if (error instanceof LabError) return error;
    throw error;
  }
  throw new Error('the profile was accepted');
}

describe('models', () => {
  it('are found by name and by part id', () => {
    expect(findModel('efa2')).toBe('efa2');
    expect(findModel('0xefa2')).toBe('efa2');
    expect(findModel('0xEFA0')).toBe('efa0');
    // 61344..61348 is 0xefa0..0xefa4.
    expect(findModel('61348')).toBe('efa4');
    expect(findModel('rxe')).toBe('rxe');
    expect(findModel('61349')).toBeNull();
    expect(findModel('mlx5')).toBeNull();
  });

  it('have the figures that real cards have shown, marked so', () => {
    const { query_device, ports, sources } = EFA2;
    expect(query_device.vendor_id).toBe(0x1d0f);
    expect(query_device.vendor_part_id).toBe(0xefa2);
    expect(query_device.hw_ver).toBe(0xefa2);
    expect(EFA2.sys_image_guid).toBe(0n);
    expect(ports[0]?.query_port).toMatchObject({
      state: 4,
      max_mtu: 5,
      active_mtu: 5,
      lmc: 1,
      link_layer: 0,
    });
    expect(ports[0]?.query_port).toMatchObject({ gid_tbl_len: 1, pkey_tbl_len: 1, max_vl_num: 1 });
    for (const path of ['query_device.hw_ver', 'sys_image_guid', 'ports[0].query_port.lmc']) {
      expect(sources.get(path), path).toBe('observed');
    }
    expect(modelProfile('rxe').query_device).toMatchObject({
      max_qp: 1048560,
      device_cap_flags: 0x01223c76,
      max_srq_sge: 27,
    });
  });

  it.each(EFA_MODELS.map(({ name }) => name))('%s says of every value where it is known from', (name) => {
    const unmarked: string[] = [];
    const visit = (json: unknown, path: string): void => {
      if (typeof json !== 'object' || json === null) unmarked.push(path);
      else if (!('source' in json))
        for (const [key, value] of Object.entries(json)) visit(value, `${path}.${key}`);
      else if (json.source !== 'observed' && json.source !== 'assumed') unmarked.push(path);
    };
    visit(JSON.parse(printProfile(modelProfile(name))), '');
    expect(unmarked).toEqual([]);
  });

  it('take the figures that were never read from a card as assumed', () => {
    expect(EFA2.sources.get('query_device.max_qp')).toBe('assumed');
    expect(EFA2.sources.get('efa.query_device.device_caps')).toBe('assumed');
    expect(modelProfile('efa3').sources.get('query_device.vendor_part_id')).toBe('assumed');
  });
});

describe('a profile file', () => {
  it.each(EFA_MODELS.map(({ name }) => name))(
    '%s, printed, is read back to the same values and sources',
    (name) => {
      const profile = modelProfile(name);
      expect(readProfile(JSON.parse(printProfile(profile)), EMPTY_PROFILE, name)).toEqual(profile);
    },
  );

  it('sets what it names and keeps the rest', () => {
    const profile = readProfile(
      {
        query_device: { max_qp: 77, max_mr_size: '0xffffffffffffffff', fw_ver: '123' },
        efa: { query_device: { device_caps: '0x3' } },
        ports: [{ query_port: { state: { value: 1, source: 'observed' }, active_speed_ex: 256 } }],
        hw_counters: { alloc_pd_err: 5, new_counter: '18446744073709551615' },
        node_guid: '0242:acff:fe11:0002',
      },
      EFA2,
      'my.json',
    );
    expect(profile.query_device).toEqual({
      ...EFA2.query_device,
      max_qp: 77,
      max_mr_size: 0xffffffffffffffffn,
      fw_ver: 123n,
    });
    expect(profile.efa.query_device).toEqual({ ...EFA2.efa.query_device, device_caps: 3 });
    expect(profile.efa.alloc_ucontext).toEqual(EFA2.efa.alloc_ucontext);
    expect(profile.ports[0]?.query_port).toEqual({
      ...EFA2.ports[0]?.query_port,
      state: 1,
      active_speed_ex: 256,
    });
    expect(profile.hw_counters.get('alloc_pd_err')).toBe(5n);
    expect(profile.hw_counters.get('new_counter')).toBe(0xffffffffffffffffn);
    expect(profile.hw_counters.get('mmap_err')).toBe(0n);
    expect(profile.node_guid).toBe(0x0242acfffe110002n);
    expect(profile.sources.get('query_device.max_qp')).toBe('given');
    expect(profile.sources.get('query_device.max_cq')).toBe('assumed');
    expect(profile.sources.get('ports[0].query_port.state')).toBe('observed');
  });

  it('can have several ports, each on top of the first', () => {
    const profile = readProfile({ ports: [{}, { query_port: { lid: 7 }, speed: null }] }, EFA2, 'my.json');
    expect(profile.phys_port_cnt).toBe(2);
    expect(profile.ports).toHaveLength(2);
    expect(profile.ports[0]).toEqual(EFA2.ports[0]);
    expect(profile.ports[1]?.query_port).toEqual({ ...EFA2.ports[0]?.query_port, lid: 7 });
    expect(profile.ports[1]?.speed).toBeNull();
    expect(profile.sources.get('ports[1].query_port.lmc')).toBe('observed');
    expect(readProfile({ ports: [{}, {}], phys_port_cnt: 9 }, EFA2, 'my.json').phys_port_cnt).toBe(9);
  });

  it('numbers GIDs on from the one before, or as it says', () => {
    const { ports } = readProfile(
      {
        ports: [
          {
            query_port: { gid_tbl_len: 16 },
            gids: [
              { gid: 'fe80::1' },
              { index: 3, gid: '::ffff:10.0.0.9', type: 'RoCE v2' },
              { gid: 'auto' },
            ],
          },
        ],
      },
      EFA2,
      'my.json',
    );
    expect(ports[0]?.gids.map(({ index, type }) => [index, type])).toEqual([
      [0, 'IB'],
      [3, 'RoCE v2'],
      [4, 'IB'],
    ]);
  });

  it('may leave out what a driver does not have', () => {
    expect(readProfile({ comp_cntr_caps: null }, modelProfile('efa4'), 'x').comp_cntr_caps).toBeNull();
    expect(readProfile({ comp_cntr_caps: { max_counters: 3 } }, EFA2, 'x').comp_cntr_caps).toEqual({
      max_counters: 3,
      max_value: 0n,
      supported_qp_attach_ops: 0,
    });
    expect(readProfile({ sysfs: { board_id: 'X1' } }, EFA2, 'x').sysfs.board_id).toBe('X1');
    expect(readProfile({ sysfs: { pci: null } }, EFA2, 'x').sysfs.pci).toBeNull();
  });

  it.each<[string, unknown, string]>([
    ['an unknown key', { query_device: { max_qpp: 1 } }, 'query_device.max_qpp: there is no such key'],
    ['a reserved member', { query_device: { reserved: 1 } }, 'query_device.reserved: there is no such key'],
    ['an unknown part', { sysf: {} }, 'sysf: there is no such key'],
    [
      'a value that is too large',
      { ports: [{ query_port: { lid: 65536 } }] },
      'ports[0].query_port.lid: 65536',
    ],
    ['a negative value', { query_device: { max_qp: -1 } }, 'query_device.max_qp: -1'],
    [
      '64 bits too many',
      { query_device: { max_mr_size: '18446744073709551616' } },
      'query_device.max_mr_size',
    ],
    ['a fraction', { query_device: { max_qp: 1.5 } }, 'query_device.max_qp: 1.5 is not an integer'],
    ['a word for a number', { query_device: { max_qp: 'many' } }, 'query_device.max_qp: "many"'],
    ['a list for an object', { query_device: [] }, 'query_device: an object'],
    ['an object for a list', { ports: {} }, 'ports: a list'],
    ['no port', { ports: [] }, 'ports: a device has at least one port'],
    ['an unknown provider', { provider: 'mlx5' }, 'provider: "mlx5" is not one of: efa, rxe'],
    ['a bad GUID', { node_guid: '12:34' }, 'node_guid: "12:34" is not a GUID'],
    ['a bad GID', { ports: [{ gids: [{ gid: 'fe80:::1' }] }] }, 'ports[0].gids[0].gid: "fe80:::1"'],
    ['a GID beyond the table', { ports: [{ gids: [{ index: 1 }] }] }, 'ports[0].gids: index 1'],
    ['a GID twice', { ports: [{ gids: [{ index: 0 }, { index: 0 }] }] }, 'ports[0].gids[1].index'],
    ['P_Keys beyond the table', { ports: [{ pkeys: [1, 2] }] }, 'ports[0].pkeys: 2 entries'],
    [
      'an unknown source',
      { query_device: { max_qp: { value: 1, source: 'guess' } } },
      'query_device.max_qp.source',
    ],
    ['a value without its value', { query_device: { max_qp: { source: 'given' } } }, 'query_device.max_qp'],
    ['a path for a name', { sysfs: { driver: '../efa' } }, 'sysfs.driver: "../efa"'],
    ['a path for a counter', { hw_counters: { '../x': 1 } }, 'hw_counters.../x'],
    ['a line break', { sysfs: { node_desc: 'a\nb' } }, 'sysfs.node_desc'],
    ['a bad PCI address', { sysfs: { pci: { address: '1:2' } } }, 'sysfs.pci.address'],
    ['no object at all', 5, 'an object is needed here'],
  ])('refuses %s and names the key', (_, json, message) => {
    const error = refusal(json);
    expect(error.message).toContain(`my.json: ${message}`);
    expect(error).toMatchObject({ code: 'bad_profile', exit: 2 });
  });

  it('names the keys that there are', () => {
    expect(refusal({ sysfs: { numa: 1 } }).hint).toContain('numa_node');
  });
});
