/**
 * Structures of <infiniband/verbs.h> as an `ibv_context` and the query calls hand them out, for 64-bit
 * little-endian Linux. Member names are the header's.
 */
import { about } from '../layout/codec.ts';
import { enumOf } from '../layout/enumeration.ts';
import { flagsOf } from '../layout/flags.ts';
import { hex, s32, text, u8, u16, u32, u64 } from '../layout/scalar.ts';
import { struct } from '../layout/struct.ts';
import { gid, guid } from './ib-types.ts';
import {
  AtomicCap,
  CompCntrOp,
  DeviceCap,
  DeviceCapEx,
  GidType,
  LinkLayer,
  LinkSpeed,
  LinkWidth,
  Mtu,
  OdpGeneralCap,
  OdpTransportCap,
  PciAtomicSize,
  PhysState,
  PortCap,
  PortCap2,
  PortFlag,
  PortState,
  QpTypeMask,
  RawPacketCap,
  RxHashField,
  RxHashFunction,
  TmCap,
  VlNum,
} from './verbs-codes.ts';

/** ibv_query_device(3). */
export const ibvDeviceAttr = struct(
  'ibv_device_attr',
  {
    fw_ver: about(text(64), 'Firmware version'),
    node_guid: about(guid, 'GUID of the node'),
    sys_image_guid: about(guid, 'GUID of the system image'),
    max_mr_size: about(u64, 'Largest contiguous block that can be registered, bytes'),
    page_size_cap: about(hex(u64), 'Supported page sizes: bit n is 2^n bytes'),
    vendor_id: about(u32, 'Vendor: a PCI vendor number or an IEEE OUI'),
    vendor_part_id: about(u32, 'Part number that the vendor gave'),
    hw_ver: about(u32, 'Hardware version'),
    max_qp: about(s32, 'Queue pairs'),
    max_qp_wr: about(s32, 'Outstanding work requests on one work queue'),
    device_cap_flags: about(flagsOf(u32, DeviceCap), 'Capabilities of the device'),
    max_sge: about(s32, 'Scatter/gather entries of a work request'),
    max_sge_rd: about(s32, 'Scatter/gather entries of an RDMA read'),
    max_cq: about(s32, 'Completion queues'),
    max_cqe: about(s32, 'Entries of a completion queue'),
    max_mr: about(s32, 'Memory regions'),
    max_pd: about(s32, 'Protection domains'),
    max_qp_rd_atom: about(s32, 'Incoming RDMA reads and atomics outstanding on a queue pair'),
    max_ee_rd_atom: about(s32, 'Incoming RDMA reads and atomics outstanding on an end-to-end context'),
    max_res_rd_atom: about(s32, 'Resources for RDMA reads and atomics, as the target'),
    max_qp_init_rd_atom: about(s32, 'RDMA reads and atomics a queue pair may start at once'),
    max_ee_init_rd_atom: about(s32, 'RDMA reads and atomics an end-to-end context may start at once'),
    atomic_cap: about(enumOf(u32, AtomicCap), 'Atomicity of atomic operations'),
    max_ee: about(s32, 'End-to-end contexts'),
    max_rdd: about(s32, 'Reliable datagram domains'),
    max_mw: about(s32, 'Memory windows'),
    max_raw_ipv6_qp: about(s32, 'Raw IPv6 queue pairs'),
    max_raw_ethy_qp: about(s32, 'Raw Ethertype queue pairs'),
    max_mcast_grp: about(s32, 'Multicast groups'),
    max_mcast_qp_attach: about(s32, 'Queue pairs of one multicast group'),
    max_total_mcast_qp_attach: about(s32, 'Queue pairs attached to multicast groups in all'),
    max_ah: about(s32, 'Address handles'),
    max_fmr: about(s32, 'Fast memory regions'),
    max_map_per_fmr: about(s32, 'Mappings of a fast memory region before it must be unmapped'),
    max_srq: about(s32, 'Shared receive queues'),
    max_srq_wr: about(s32, 'Work requests of a shared receive queue'),
    max_srq_sge: about(s32, 'Scatter/gather entries of a shared receive queue'),
    max_pkeys: about(u16, 'Partitions (entries of the P_Key table)'),
    local_ca_ack_delay: about(u8, 'Local ACK delay: 4.096 us x 2^n'),
    phys_port_cnt: about(u8, 'Physical ports'),
  },
  { size: 232 },
);

const ibvOdpTransportCaps = struct('per_transport_caps', {
  rc_odp_caps: about(flagsOf(u32, OdpTransportCap), 'On-demand paging over RC'),
  uc_odp_caps: about(flagsOf(u32, OdpTransportCap), 'On-demand paging over UC'),
  ud_odp_caps: about(flagsOf(u32, OdpTransportCap), 'On-demand paging over UD'),
});

export const ibvOdpCaps = struct('ibv_odp_caps', {
  general_caps: about(flagsOf(u64, OdpGeneralCap), 'On-demand paging of the device'),
  per_transport_caps: ibvOdpTransportCaps,
});

export const ibvTsoCaps = struct('ibv_tso_caps', {
  max_tso: about(u32, 'Largest payload of TCP segmentation offload, bytes; 0 is none'),
  supported_qpts: about(flagsOf(u32, QpTypeMask), 'Queue pair types with segmentation offload'),
});

export const ibvRssCaps = struct('ibv_rss_caps', {
  supported_qpts: about(flagsOf(u32, QpTypeMask), 'Queue pair types with receive side scaling'),
  max_rwq_indirection_tables: about(u32, 'Receive work queue indirection tables'),
  max_rwq_indirection_table_size: about(u32, 'Entries of an indirection table'),
  rx_hash_fields_mask: about(flagsOf(u64, RxHashField), 'Packet fields that can be hashed'),
  rx_hash_function: about(flagsOf(u8, RxHashFunction), 'Hash functions'),
});

export const ibvPacketPacingCaps = struct('ibv_packet_pacing_caps', {
  qp_rate_limit_min: about(u32, 'Lowest rate limit of a queue pair, kb/s'),
  qp_rate_limit_max: about(u32, 'Highest rate limit of a queue pair, kb/s; 0 is no packet pacing'),
  supported_qpts: about(flagsOf(u32, QpTypeMask), 'Queue pair types with packet pacing'),
});

export const ibvTmCaps = struct('ibv_tm_caps', {
  max_rndv_hdr_size: about(u32, 'Largest rendezvous request header, bytes'),
  max_num_tags: about(u32, 'Tagged buffers in a matching list; 0 is no tag matching'),
  flags: about(flagsOf(u32, TmCap), 'Transports with tag matching'),
  max_ops: about(u32, 'Outstanding tag list operations'),
  max_sge: about(u32, 'Scatter/gather entries of a tagged buffer'),
});

export const ibvCqModerationCaps = struct('ibv_cq_moderation_caps', {
  max_cq_count: about(u16, 'Completions that can be gathered before an event; 0 is no moderation'),
  max_cq_period: about(u16, 'Longest delay of an event, microseconds'),
});

export const ibvPciAtomicCaps = struct('ibv_pci_atomic_caps', {
  fetch_add: about(flagsOf(u16, PciAtomicSize), 'PCI fetch and add'),
  swap: about(flagsOf(u16, PciAtomicSize), 'PCI swap'),
  compare_swap: about(flagsOf(u16, PciAtomicSize), 'PCI compare and swap'),
});

/** ibv_query_device_ex(3). */
export const ibvDeviceAttrEx = struct(
  'ibv_device_attr_ex',
  {
    orig_attr: ibvDeviceAttr,
    comp_mask: about(hex(u32), 'Compatibility mask; no bit is defined'),
    odp_caps: ibvOdpCaps,
    completion_timestamp_mask: about(hex(u64), 'Valid bits of completion timestamps; 0 is none'),
    hca_core_clock: about(u64, 'Frequency of the timestamp clock, kHz; 0 is none'),
    device_cap_flags_ex: about(flagsOf(u64, DeviceCapEx), 'Capabilities of the device, 64 bits'),
    tso_caps: ibvTsoCaps,
    rss_caps: ibvRssCaps,
    max_wq_type_rq: about(u32, 'Work queues of receive type'),
    packet_pacing_caps: ibvPacketPacingCaps,
    raw_packet_caps: about(flagsOf(u32, RawPacketCap), 'Capabilities of raw packet queue pairs'),
    tm_caps: ibvTmCaps,
    cq_mod_caps: ibvCqModerationCaps,
    max_dm_size: about(u64, 'Device memory that can be allocated, bytes'),
    pci_atomic_caps: ibvPciAtomicCaps,
    xrc_odp_caps: about(flagsOf(u32, OdpTransportCap), 'On-demand paging over XRC'),
    phys_port_cnt_ex: about(u32, 'Physical ports, where 8 bits are too few'),
  },
  { size: 400 },
);

/** ibv_query_port(3): 52 bytes up to rdma-core 48, 56 from 49 on. */
export const ibvPortAttr = struct(
  'ibv_port_attr',
  {
    state: about(enumOf(u32, PortState), 'Logical state'),
    max_mtu: about(enumOf(u32, Mtu), 'Largest MTU that the port can have, bytes by name'),
    active_mtu: about(enumOf(u32, Mtu), 'MTU in force, bytes by name'),
    gid_tbl_len: about(s32, 'Entries of the GID table'),
    port_cap_flags: about(flagsOf(u32, PortCap), 'IBTA PortInfo:CapabilityMask'),
    max_msg_sz: about(u32, 'Largest message, bytes'),
    bad_pkey_cntr: about(u32, 'P_Key violations counted'),
    qkey_viol_cntr: about(u32, 'Q_Key violations counted'),
    pkey_tbl_len: about(u16, 'Entries of the P_Key table'),
    lid: about(u16, 'Local identifier; 0 where the link layer has none'),
    sm_lid: about(u16, 'LID of the subnet manager'),
    lmc: about(u8, 'LID mask control: the port answers to 2^lmc LIDs'),
    max_vl_num: about(enumOf(u8, VlNum), 'Data virtual lanes, number by name'),
    sm_sl: about(u8, 'Service level of the subnet manager'),
    subnet_timeout: about(u8, 'Longest propagation through the subnet: 4.096 us x 2^n'),
    init_type_reply: about(u8, 'Initialisation that the subnet manager did'),
    active_width: about(enumOf(u8, LinkWidth), 'Lanes in use'),
    active_speed: about(enumOf(u8, LinkSpeed), 'Speed of a lane; XDR and above only in active_speed_ex'),
    phys_state: about(enumOf(u8, PhysState), 'Physical state'),
    link_layer: about(enumOf(u8, LinkLayer), 'Link layer'),
    flags: about(flagsOf(u8, PortFlag), 'Flags of the port'),
    port_cap_flags2: about(flagsOf(u16, PortCap2), 'IBTA PortInfo:CapabilityMask2'),
    active_speed_ex: about(enumOf(u32, LinkSpeed), 'Speed of a lane, 32 bits; 0 from older libraries'),
  },
  { size: 56 },
);

/** ibv_query_gid_ex(3). */
export const ibvGidEntry = struct(
  'ibv_gid_entry',
  {
    gid: about(gid, 'The GID'),
    gid_index: about(u32, 'Its index in the table of the port'),
    port_num: about(u32, 'Port'),
    gid_type: about(enumOf(u32, GidType), 'IB, RoCE v1 or RoCE v2'),
    ndev_ifindex: about(u32, 'Index of the network device behind it; 0 is none'),
  },
  { size: 32 },
);

/** ibv_query_comp_cntr_caps(3), rdma-core 65 on. */
export const ibvCompCntrCaps = struct('ibv_comp_cntr_caps', {
  max_value: about(u64, 'Largest value of a counter'),
  max_counters: about(u32, 'Completion counters'),
  supported_qp_attach_ops: about(flagsOf(u32, CompCntrOp), 'Operations that can be counted'),
});
