/**
 * Profiles in which every field has a value of its own, so that two fields that change places are seen. Made from
 * the layouts that profiles are made of: a field that is added there is here too.
 */

import {
  allocUcontextLayout,
  compCntrCapsLayout,
  contextLayout,
  efaQueryDeviceLayout,
  queryDeviceExLayout,
  queryDeviceLayout,
  queryPortExLayout,
  queryPortLayout,
} from '../../../src/lab/efa/profile.ts';
import type { Member } from '../../../src/layout/codec.ts';

export type ProfileJson = { readonly [key: string]: unknown };

/** Hands out values that it has not handed out before, as large as they may be. */
class Values {
  readonly #used = new Set<bigint>();
  #next = 1n;

  /** Marks a value as used; it must be a new one. */
  take(value: bigint): void {
    if (this.#used.has(value)) throw new Error(`the value ${value} is taken`);
    this.#used.add(value);
  }

  /** A new value, spread over the whole range, so that a field that is read too narrow shows. */
  fresh(bytes: number, maximum = (1n << BigInt(bytes * 8)) - 1n): bigint {
    for (;;) {
      this.#next = BigInt.asUintN(64, this.#next * 6364136223846793005n + 1442695040888963407n);
      const value = this.#next >> BigInt(64 - bytes * 8);
      // The lowest ones are for what is chosen by hand.
      if (value <= 15n || value > maximum || this.#used.has(value)) continue;
      this.#used.add(value);
      return value;
    }
  }
}

/** What a field may be where it may not be anything: chosen by hand, or at most so large. */
interface Limits {
  readonly fixed?: { readonly [path: string]: number };
  /** libibverbs hands most counts out as a signed int. */
  readonly signed?: boolean;
}

function fill(
  members: readonly Member[],
  values: Values,
  { fixed = {}, signed = false }: Limits,
  prefix = '',
): ProfileJson {
  const fields = members.filter(({ name }) => !name.startsWith('reserved'));
  for (const { name } of fields) {
    const value = fixed[prefix + name];
    if (value !== undefined) values.take(BigInt(value));
  }
  return Object.fromEntries(
    fields.map(({ name, codec }): [string, unknown] => {
      const path = prefix + name;
      if (codec.members) return [name, fill(codec.members, values, { fixed, signed }, `${path}.`)];
      const value = fixed[path];
      if (value !== undefined) return [name, value];
      const maximum = signed && codec.size === 4 ? 0x7fffffffn : undefined;
      return [name, `${values.fresh(codec.size, maximum)}`];
    }),
  );
}

/** Codes of a port that have names, each of them another number. */
const PORT_CODES = [
  {
    ...{ state: 4, max_mtu: 5, active_mtu: 3, max_vl_num: 2 },
    ...{ active_width: 8, active_speed: 16, phys_state: 6, link_layer: 1 },
  },
  {
    ...{ state: 3, max_mtu: 5, active_mtu: 4, max_vl_num: 1 },
    ...{ active_width: 16, active_speed: 64, phys_state: 7, link_layer: 2 },
  },
  {
    ...{ state: 1, max_mtu: 4, active_mtu: 3, max_vl_num: 5 },
    ...{ active_width: 8, active_speed: 128, phys_state: 6, link_layer: 2 },
  },
] as const;

const GID_TABLE_LENGTHS = [21, 37, 53] as const;
const PKEY_TABLE_LENGTHS = [14, 19, 23] as const;

/** GIDs with holes between them, up to the last slot; an InfiniBand port has others than Ethernet ports. */
function gids(port: number): readonly ProfileJson[] {
  const last = (GID_TABLE_LENGTHS[port - 1] ?? 0) - 1;
  const isEthernet = PORT_CODES[port - 1]?.link_layer === 2;
  if (!isEthernet) {
    return [
      { index: 0, gid: `fe80::${port}:aaaa:bbbb:cccc`, type: 'IB', netdev: null },
      { index: 3, gid: `fec0:0:0:${port}:1111:2222:3333:4444`, type: 'IB', netdev: null },
      { index: last, gid: `2001:db8::${port}`, type: 'IB', netdev: null },
    ];
  }
  return [
    { index: 0, gid: `fe80::${port}:1111:2222:3333`, type: 'RoCE v1', netdev: `eth${port}` },
    { index: 1, gid: `fe80::${port}:1111:2222:3333`, type: 'RoCE v2', netdev: `eth${port}` },
    { index: 2, gid: `::ffff:10.20.${port}.40`, type: 'RoCE v1', netdev: `eth${port}` },
    { index: 3, gid: `::ffff:10.20.${port}.40`, type: 'RoCE v2', netdev: `eth${port}` },
    { index: 7, gid: `2001:db8:0:1:2:3:4:${port}`, type: 'RoCE v2', netdev: `vlan.${port}00` },
    { index: last, gid: `2001:db8::${port}`, type: 'RoCE v2', netdev: `bond${port}` },
  ];
}

function port(number: number): ProfileJson {
  const values = new Values();
  const fixed = {
    ...PORT_CODES[number - 1],
    gid_tbl_len: GID_TABLE_LENGTHS[number - 1] ?? 0,
    pkey_tbl_len: PKEY_TABLE_LENGTHS[number - 1] ?? 0,
  };
  const base = fill(queryPortLayout.members, values, { fixed });
  const wide = fill(queryPortExLayout.members, values, { fixed: { active_speed_ex: 256 } });
  return {
    query_port: { ...base, ...wide },
    speed: 2345 + number,
    gids: gids(number),
    // Full and limited members, holes, and one in the last slot.
    pkeys: [
      0xffff,
      0x7fff,
      0,
      0x8000 + number,
      number,
      ...Array.from({ length: fixed.pkey_tbl_len - 6 }, () => 0),
      0x8100 + number,
    ],
  };
}

/**
 * A device with a value of its own in every field, on three ports.
 * @param provider whose messages it speaks; the name of an rxe device begins with `rxe`
 */
export function fullProfile(provider: 'efa' | 'rxe'): ProfileJson {
  const values = new Values();
  const query_device = fill(queryDeviceLayout.members, values, {
    signed: true,
    fixed: { atomic_cap: 2, ...(provider === 'efa' ? { vendor_id: 0x1d0f } : {}) },
  });
  return {
    title: 'every field',
    provider,
    node_guid: '0123:4567:89ab:cdef',
    sys_image_guid: 'fedc:ba98:7654:3210',
    phys_port_cnt: PORT_CODES.length,
    query_device,
    query_device_ex: fill(queryDeviceExLayout.members, values, {}),
    context: fill(contextLayout.members, values, { signed: true }),
    comp_cntr_caps: fill(compCntrCapsLayout.members, values, {}),
    efa: {
      alloc_ucontext: fill(allocUcontextLayout.members, values, { fixed: { cmds_supp_udata_mask: 3 } }),
      query_device: fill(efaQueryDeviceLayout.members, values, {}),
    },
    ports: PORT_CODES.map((_, index) => port(index + 1)),
    sysfs: {
      node_type: provider === 'efa' ? '7: unspecified' : '1: CA',
      node_desc: 'a node description',
      fw_ver: '12.34.5678',
      hca_type: 'MT4129',
      board_id: 'MT_0000000838',
      numa_node: 3,
      netdevs: ['ens1f0', 'ens1f1'],
      driver: provider === 'efa' ? 'efa' : 'rdma_rxe',
      abi_version: provider === 'efa' ? 1 : 2,
      pci:
        provider === 'rxe'
          ? null
          : {
              address: '0000:a7:1c.3',
              vendor: 0x1d0f,
              device: 0xefa2,
              subsystem_vendor: 0x1d10,
              subsystem_device: 0xefa9,
              class: 0x020001,
            },
    },
  };
}
