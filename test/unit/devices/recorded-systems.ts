/**
 * What users of public threads have shown of their machines, and nothing else: GID tables as show_gids prints them,
 * attributes as ibv_devinfo does. Where a value was not shown it is not here.
 */
import type { Recorded } from './recorded.ts';

/** An entry of a GID table; `null` where the thread does not show the network device. */
type Row = readonly [index: number, gid: string, version: 'v1' | 'v2' | null, netdev: string | null];

export interface RecordedGids {
  readonly title: string;
  /** The thread, as project and number. */
  readonly source: string;
  readonly device: string;
  readonly linkLayer: 'Ethernet' | 'InfiniBand';
  readonly rows: readonly Row[];
  /** The index that the thread found to work, or null where none does. */
  readonly wanted: number | null;
  /** Part of the reason. */
  readonly reason: string;
}

const RECORDED = 'a GID table';

export const GID_TABLES: readonly RecordedGids[] = [
  {
    title: `${RECORDED} of a ConnectX bond without addresses of its network device`,
    source: 'NVIDIA/nccl#769',
    device: 'mlx5_bond_0',
    linkLayer: 'Ethernet',
    rows: [
      [0, 'fe80:0000:0000:0000:0ac0:ebff:feda:1cfb', 'v1', null],
      [1, 'fe80:0000:0000:0000:0ac0:ebff:feda:1cfb', 'v2', null],
      [2, '0000:0000:0000:0000:0000:ffff:c800:d106', 'v1', null],
      [3, '0000:0000:0000:0000:0000:ffff:c800:d106', 'v2', null],
    ],
    wanted: 3,
    reason: 'IPv4 address 200.0.209.6, its network device is not known',
  },
  {
    title: `${RECORDED} with pairs of v1 and v2`,
    source: 'NVIDIA/nccl#1131',
    device: 'mlx5_0',
    linkLayer: 'Ethernet',
    rows: [
      [0, 'fe80:0000:0000:0000:a288:c2ff:fe5b:03ec', 'v1', 'ens3np0'],
      [1, 'fe80:0000:0000:0000:a288:c2ff:fe5b:03ec', 'v2', 'ens3np0'],
      [2, '0000:0000:0000:0000:0000:ffff:0b00:0048', 'v1', 'ens3np0'],
      [3, '0000:0000:0000:0000:0000:ffff:0b00:0048', 'v2', 'ens3np0'],
    ],
    wanted: 3,
    reason: 'IPv4 address 11.0.0.72',
  },
  {
    title: `${RECORDED} of a bond with a vxlan of the same address`,
    source: 'openucx/ucx#9484',
    device: 'mlx5_bond_0',
    linkLayer: 'Ethernet',
    rows: [
      [0, 'fe80:0000:0000:0000:0ac0:ebff:fe79:391a', 'v1', 'bond1'],
      [1, 'fe80:0000:0000:0000:0ac0:ebff:fe79:391a', 'v2', 'bond1'],
      [2, '0000:0000:0000:0000:0000:ffff:1e99:0aaf', 'v1', 'b3.vxlan.30100'],
      [3, '0000:0000:0000:0000:0000:ffff:1e99:0aaf', 'v2', 'b3.vxlan.30100'],
      [4, '0000:0000:0000:0000:0000:ffff:1e99:0aaf', 'v1', 'bond1'],
      [5, '0000:0000:0000:0000:0000:ffff:1e99:0aaf', 'v2', 'bond1'],
    ],
    wanted: 3,
    reason: 'IPv4 address 30.153.10.175, the state of b3.vxlan.30100 cannot be seen from here',
  },
  {
    title: `${RECORDED} in a pod with a macvlan: it begins at 4`,
    source: 'NVIDIA/nccl#1573',
    device: 'mlx5_0',
    linkLayer: 'Ethernet',
    rows: [
      [0, '0000:0000:0000:0000:0000:0000:0000:0000', null, null],
      [4, 'fe80:0000:0000:0000:a4ed:ccff:fe8b:1994', 'v1', 'net1'],
      [5, 'fe80:0000:0000:0000:a4ed:ccff:fe8b:1994', 'v2', 'net1'],
      [6, '0000:0000:0000:0000:0000:ffff:0a98:000c', 'v1', 'net1'],
      [7, '0000:0000:0000:0000:0000:ffff:0a98:000c', 'v2', 'net1'],
    ],
    wanted: 7,
    reason: 'IPv4 address 10.152.0.12',
  },
  {
    title: `${RECORDED} of a pod whose network device is not the card's: nothing is seen`,
    source: 'Mellanox/k8s-rdma-sriov-dev-plugin#30',
    device: 'mlx5_0',
    linkLayer: 'Ethernet',
    rows: [[0, '0000:0000:0000:0000:0000:0000:0000:0000', null, null]],
    wanted: null,
    reason: 'no GID: the network device is down, has no address, or is in another network namespace',
  },
  {
    title: `${RECORDED} in a container, without types`,
    source: 'Mellanox/k8s-rdma-shared-dev-plugin#164',
    device: 'mlx5_0',
    linkLayer: 'Ethernet',
    rows: [
      [14, '0000:0000:0000:0000:0000:ffff:c0a8:0606', null, null],
      [15, '0000:0000:0000:0000:0000:ffff:c0a8:0606', null, null],
    ],
    wanted: null,
    reason: 'the kernel does not tell the types',
  },
];

/** The sysfs of a recorded table. */
export function sysfsOf({ device, linkLayer, rows }: RecordedGids): Recorded {
  const port = `class/infiniband/${device}/ports/1`;
  const word = { v1: 'IB/RoCE v1', v2: 'RoCE v2' } as const;
  return {
    files: {
      [`${port}/link_layer`]: linkLayer,
      ...Object.fromEntries(
        rows.flatMap(([index, gid, version, netdev]) => [
          [`${port}/gids/${index}`, gid],
          ...(version === null ? [] : [[`${port}/gid_attrs/types/${index}`, word[version]]]),
          ...(netdev === null ? [] : [[`${port}/gid_attrs/ndevs/${index}`, netdev]]),
        ]),
      ),
    },
    directories: [`${port}/gid_attrs/types`],
    nodes: {},
  };
}

type Values = { readonly [member: string]: string | number | bigint };

/** Attributes that a thread shows, by member of the C structures, and the lines in which they are to stand. */
export interface RecordedAttributes {
  readonly title: string;
  readonly source: string;
  readonly transport?: number;
  readonly device?: Values;
  readonly deviceEx?: Values;
  readonly port?: Values;
  readonly lines: readonly RegExp[];
}

export const ATTRIBUTES: readonly RecordedAttributes[] = [
  {
    title: 'ConnectX-5',
    source: 'rapidsai/ucx-py#361',
    device: {
      max_mr_size: 0xffffffffffffffffn,
      page_size_cap: 0xfffffffffffff000n,
      max_qp: 262144,
      max_qp_wr: 32768,
      device_cap_flags: 0xe97e1c36,
    },
    lines: [
      /^ {4}max_mr_size +18446744073709551615 .*no limit/m,
      /^ {4}page_size_cap +0xfffffffffffff000 \(4 KiB to /m,
      /^ {4}max_qp +262144$/m,
      /^ {4}max_qp_wr +32768$/m,
      // The bits that ibv_devinfo calls unknown.
      /^ {4}device_cap_flags +0xe97e1c36: .*\bXRC\b.*\bMANAGED_FLOW_STEERING\b.* unknown 0xc8480000$/m,
    ],
  },
  {
    title: 'ConnectX-4 Lx over RoCE',
    source: 'Mellanox/k8s-rdma-shared-dev-plugin#164',
    transport: 0,
    device: {
      fw_ver: '14.29.1016',
      node_guid: 0xc4c0630000b75e76n,
      vendor_id: 0x02c9,
      vendor_part_id: 4117,
      hw_ver: 0,
      max_qp: 262144,
      max_qp_wr: 32768,
      device_cap_flags: 0x25321c36,
    },
    port: {
      state: 4,
      max_mtu: 5,
      active_mtu: 5,
      link_layer: 2,
      max_msg_sz: 0x40000000,
      port_cap_flags: 0x04010000,
      max_vl_num: 0,
      gid_tbl_len: 256,
      pkey_tbl_len: 1,
      active_width: 1,
      active_speed: 32,
      phys_state: 5,
    },
    lines: [
      /^ {4}fw_ver +14\.29\.1016$/m,
      /^ {4}node_guid +c4c0:6300:00b7:5e76$/m,
      /^ {4}vendor_part_id +0x1015 \(4117\)$/m,
      /^ {4}device_cap_flags +0x25321c36: BAD_PKEY_CNTR BAD_QKEY_CNTR AUTO_PATH_MIG CHANGE_PHY_PORT PORT_ACTIVE_EVENT SYS_IMAGE_GUID RC_RNR_NAK_GEN MEM_WINDOW .*XRC/m,
      /^ {4}rate +25 Gb\/s \(1X EDR\)$/m,
      /^ {4}max_vl_num +unknown \(0\)$/m,
      /^ {4}gid_tbl_len +256$/m,
      /^ {4}port_cap_flags +0x4010000: CM_SUP IP_BASED_GIDS$/m,
      /^ {4}max_msg_sz +1073741824 \(1 GiB\)$/m,
    ],
  },
  {
    title: 'ConnectX-4',
    source: 'openucx/ucx#7613',
    device: { device_cap_flags: 0xed721c36 },
    lines: [/^ {4}device_cap_flags +0xed721c36: /m],
  },
  {
    title: 'Connect-IB',
    source: 'ofiwg/libfabric#9940',
    device: { device_cap_flags: 0x00301c36, max_mcast_grp: 2097152, atomic_cap: 0, vendor_part_id: 4113 },
    lines: [
      /^ {4}device_cap_flags +0x301c36: .* XRC MEM_MGT_EXTENSIONS$/m,
      /^ {4}max_mcast_grp +2097152$/m,
      /^ {4}atomic_cap +NONE \(0\)$/m,
      /^ {4}vendor_part_id +0x1011 \(4113\)$/m,
    ],
  },
  {
    title: 'a RoCE port that is down',
    source: 'openucx/ucx#10317',
    port: {
      state: 1,
      phys_state: 3,
      link_layer: 2,
      active_width: 2,
      active_speed: 4,
      gid_tbl_len: 255,
      max_vl_num: 0,
    },
    lines: [
      /^ {4}rate +40 Gb\/s \(4X QDR\)$/m,
      /^ {4}state +DOWN \(1\)$/m,
      /^ {4}phys_state +DISABLED \(3\)$/m,
      /^ {4}gid_tbl_len +255$/m,
      /^ {4}max_vl_num +unknown \(0\)$/m,
    ],
  },
  {
    title: 'ConnectX-7, 400 Gb/s over RoCE',
    source: 'treydock/infiniband_exporter#26',
    port: { state: 4, link_layer: 2, active_width: 2, active_speed: 128 },
    lines: [/^ {4}rate +400 Gb\/s \(4X NDR\)$/m, /^ {4}link_layer +ETHERNET \(2\)$/m],
  },
  {
    title: 'mlx4',
    source: 'infinity#5',
    device: { vendor_id: 0x02c9, vendor_part_id: 4099, phys_port_cnt: 2, device_cap_flags: 0x057e9c66 },
    lines: [
      /^ {4}vendor_part_id +0x1003 \(4099\)$/m,
      // ibv_devinfo: "Unknown flags: 0x488000".
      /^ {4}device_cap_flags +0x57e9c66: .* unknown 0x488000$/m,
    ],
  },
  {
    title: 'soft-RoCE',
    source: 'ibv_devinfo -v of rdma_rxe, Linux 6',
    transport: 0,
    device: {
      fw_ver: '0.0.0',
      vendor_id: 0xffffff,
      max_mr_size: 0xffffffffffffffffn,
      page_size_cap: 0xfffff000n,
      max_qp: 1048560,
      max_qp_wr: 1048576,
      device_cap_flags: 0x01223c76,
      atomic_cap: 1,
      max_res_rd_atom: 258048,
      local_ca_ack_delay: 15,
    },
    deviceEx: { device_cap_flags_ex: 0x1c001223c76n },
    port: {
      state: 4,
      max_mtu: 5,
      active_mtu: 3,
      max_msg_sz: 0x80000000,
      port_cap_flags: 0x00010000,
      max_vl_num: 1,
      active_width: 1,
      active_speed: 8,
      phys_state: 5,
      link_layer: 2,
    },
    lines: [
      /^ {4}vendor_id +0xffffff /m,
      /^ {4}page_size_cap +0xfffff000 \(4 KiB to 2 GiB\)$/m,
      /^ {4}device_cap_flags +0x1223c76: BAD_PKEY_CNTR BAD_QKEY_CNTR AUTO_PATH_MIG CHANGE_PHY_PORT UD_AV_PORT_ENFORCE PORT_ACTIVE_EVENT SYS_IMAGE_GUID RC_RNR_NAK_GEN SRQ_RESIZE MEM_WINDOW MEM_MGT_EXTENSIONS MEM_WINDOW_TYPE_2B$/m,
      // What ibv_devinfo calls unknown there (0x1c000000000) has names in the kernel's header.
      /^ {4}device_cap_flags_ex +0x1c001223c76: .* FLUSH_GLOBAL FLUSH_PERSISTENT ATOMIC_WRITE$/m,
      /^ {4}atomic_cap +HCA \(1\)$/m,
      /^ {4}rate +10 Gb\/s \(1X FDR10\)$/m,
      /^ {4}active_mtu +1024 \(3\)$/m,
      /^ {4}max_vl_num +1 \(1\)$/m,
      /^ {4}port_cap_flags +0x10000: CM_SUP$/m,
    ],
  },
  {
    title: 'soft-RoCE of old kernels',
    source: 'openucx/ucx#5045',
    device: { max_qp: 65536, max_qp_wr: 16384, device_cap_flags: 0x00203c76, max_cq: 16384, max_srq: 960 },
    lines: [
      /^ {4}max_qp +65536$/m,
      /^ {4}device_cap_flags +0x203c76: .* MEM_MGT_EXTENSIONS$/m,
      /^ {4}max_srq +960$/m,
    ],
  },
  {
    title: 'soft-iWARP',
    source: 'ibv_devinfo of siw0',
    transport: 1,
    device: { fw_ver: '0.0.0', vendor_id: 0x626d74, vendor_part_id: 1, hw_ver: 0, phys_port_cnt: 1 },
    port: { state: 4, max_mtu: 3, active_mtu: 3, lid: 0, link_layer: 2 },
    lines: [
      /^ {4}transport +IWARP \(1\)$/m,
      /^ {4}vendor_id +0x626d74 /m,
      /^ {4}max_mtu +1024 \(3\)$/m,
      /^ {4}link_layer +ETHERNET \(2\)$/m,
    ],
  },
  {
    title: 'EFA of a p5en',
    source: 'public threads on p5en',
    transport: 4,
    device: { fw_ver: '0.0.0.0', vendor_id: 0x1d0f, vendor_part_id: 0xefa2, hw_ver: 0xefa2 },
    port: {
      state: 4,
      max_mtu: 5,
      active_mtu: 5,
      lmc: 1,
      gid_tbl_len: 1,
      pkey_tbl_len: 1,
      active_width: 2,
      active_speed: 64,
    },
    lines: [
      /^ {4}transport +UNSPECIFIED \(4\)$/m,
      /^ {4}vendor_part_id +0xefa2 \(61346\)$/m,
      /^ {4}rate +200 Gb\/s \(4X HDR\)$/m,
      /^ {4}lmc +1$/m,
      /^ {4}link_layer +UNSPECIFIED \(0\)$/m,
    ],
  },
];
