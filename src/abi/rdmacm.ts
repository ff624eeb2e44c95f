/** Structures of <rdma/rdma_cma.h> and <infiniband/sa.h>, as librdmacm 44 to 65 has them. */
import { about, type Decoded } from '../layout/codec.ts';
import { enumOf } from '../layout/enumeration.ts';
import { flagsOf } from '../layout/flags.ts';
import { be16, be32, be64, bytes, hex, pointer, s32, u8, u16, u32, u64 } from '../layout/scalar.ts';
import { struct, union } from '../layout/struct.ts';
import { gid } from './ib-types.ts';
import { CmEventType, JoinMulticastAttr, JoinMulticastFlag, PathFlag, PortSpace } from './rdmacm-codes.ts';
import { Mtu, QpType, Rate } from './verbs-codes.ts';

export const rdmaIbAddr = struct('rdma_ib_addr', { sgid: gid, dgid: gid, pkey: be16 });

export const rdmaAddr = struct(
  'rdma_addr',
  {
    src_storage: bytes(128),
    dst_storage: bytes(128),
    addr: union('rdma_addr_addr', { ibaddr: rdmaIbAddr }),
  },
  { size: 296 },
);

export const rdmaRoute = struct('rdma_route', { addr: rdmaAddr, path_rec: pointer, num_paths: s32 });

export const rdmaCmId = struct(
  'rdma_cm_id',
  {
    verbs: pointer,
    channel: pointer,
    context: pointer,
    qp: pointer,
    route: rdmaRoute,
    ps: enumOf(u32, PortSpace),
    port_num: u8,
    event: pointer,
    send_cq_channel: pointer,
    send_cq: pointer,
    recv_cq_channel: pointer,
    recv_cq: pointer,
    srq: pointer,
    pd: pointer,
    qp_type: enumOf(u32, QpType),
  },
  { size: 416 },
);

export const rdmaConnParam = struct(
  'rdma_conn_param',
  {
    private_data: pointer,
    private_data_len: u8,
    responder_resources: u8,
    initiator_depth: u8,
    flow_control: u8,
    retry_count: u8,
    rnr_retry_count: u8,
    srq: u8,
    qp_num: u32,
  },
  { size: 24 },
);

/** struct ibv_global_route. */
export const ibvGlobalRoute = struct('ibv_global_route', {
  dgid: about(gid, 'Destination GID'),
  flow_label: about(u32, 'Flow label'),
  sgid_index: about(u8, 'Index of the source GID'),
  hop_limit: about(u8, 'Hop limit'),
  traffic_class: about(u8, 'Traffic class'),
});

export const ibvAhAttr = struct(
  'ibv_ah_attr',
  {
    grh: ibvGlobalRoute,
    dlid: about(u16, 'Destination LID'),
    sl: about(u8, 'Service level'),
    src_path_bits: about(u8, 'Low bits of the source LID'),
    static_rate: about(enumOf(u8, Rate), 'Largest rate'),
    is_global: about(u8, '1: the global route holds'),
    port_num: about(u8, 'Port'),
  },
  { size: 32 },
);

export const rdmaUdParam = struct(
  'rdma_ud_param',
  { private_data: pointer, private_data_len: u8, ah_attr: ibvAhAttr, qp_num: u32, qkey: u32 },
  { size: 56 },
);

/** `param` is an rdma_conn_param or an rdma_ud_param, by the id's port space. */
export const rdmaCmEvent = struct(
  'rdma_cm_event',
  { id: pointer, listen_id: pointer, event: enumOf(u32, CmEventType), status: s32, param: bytes(56) },
  { size: 80 },
);

/** What rdma_join_multicast_ex(3) takes; `comp_mask` tells which of the others hold. */
export const rdmaCmJoinMcAttrEx = struct('rdma_cm_join_mc_attr_ex', {
  comp_mask: flagsOf(u32, JoinMulticastAttr),
  join_flags: enumOf(u32, JoinMulticastFlag),
  addr: pointer,
});

export const rdmaAddrinfo = struct(
  'rdma_addrinfo',
  {
    ai_flags: s32,
    ai_family: s32,
    ai_qp_type: s32,
    ai_port_space: s32,
    ai_src_len: u32,
    ai_dst_len: u32,
    ai_src_addr: pointer,
    ai_dst_addr: pointer,
    ai_src_canonname: pointer,
    ai_dst_canonname: pointer,
    ai_route_len: u64,
    ai_route: pointer,
    ai_connect_len: u64,
    ai_connect: pointer,
    ai_next: pointer,
  },
  { size: 96 },
);

/** A path record: what rdma_resolve_route(3) found. */
export const ibvSaPathRec = struct(
  'ibv_sa_path_rec',
  {
    dgid: about(gid, 'Destination GID'),
    sgid: about(gid, 'Source GID'),
    dlid: about(be16, 'Destination LID; without meaning on RoCE'),
    slid: about(be16, 'Source LID; without meaning on RoCE'),
    raw_traffic: about(s32, '1: raw packets'),
    flow_label: about(be32, 'Flow label'),
    hop_limit: about(u8, 'Hop limit'),
    traffic_class: about(u8, 'Traffic class'),
    reversible: about(s32, '1: the path holds in both directions'),
    numb_path: about(u8, 'Paths asked for, or returned'),
    pkey: about(hex(be16), 'P_Key'),
    sl: about(u8, 'Service level'),
    mtu_selector: about(u8, 'How mtu is meant: 0 above, 1 below, 2 exactly, 3 largest'),
    mtu: about(enumOf(u8, Mtu), 'Path MTU, bytes by name'),
    rate_selector: about(u8, 'How rate is meant'),
    rate: about(enumOf(u8, Rate), 'Rate of the path'),
    packet_life_time_selector: about(u8, 'How packet_life_time is meant'),
    packet_life_time: about(u8, 'Time that a packet may take: 4.096 us x 2^n'),
    preference: about(u8, 'Preference among several paths; without meaning on RoCE'),
  },
  { size: 64 },
);

/** Bits of a flow label; librdmacm leaves those beside it in the message (raw traffic, reserved) above them. */
const FLOW_LABEL = 0xfffff;

/** A path record as librdmacm holds it. */
export function readPath(bytes: Uint8Array): Decoded<typeof ibvSaPathRec> {
  const path = ibvSaPathRec.decode(bytes);
  return { ...path, flow_label: path.flow_label & FLOW_LABEL };
}

/** A path record as it travels: struct ibv_path_record of <infiniband/sa.h>. */
export const ibvPathRecord = struct('ibv_path_record', {
  service_id: about(hex(be64), 'service that the path is for'),
  dgid: about(gid, 'Destination GID'),
  sgid: about(gid, 'Source GID'),
  dlid: about(be16, 'Destination LID; without meaning on RoCE'),
  slid: about(be16, 'Source LID; without meaning on RoCE'),
  flowlabel_hoplimit: about(
    hex(be32),
    'raw traffic in the top bit, flow label in 20 bits, hop limit in the last 8',
  ),
  tclass: about(u8, 'Traffic class'),
  reversible_numpath: about(hex(u8), 'top bit: it holds in both directions; the others: paths'),
  pkey: about(hex(be16), 'P_Key'),
  qosclass_sl: about(hex(be16), 'service class in 12 bits, service level in 4'),
  mtu: about(hex(u8), 'two bits of selector, then the path MTU, IBTA code'),
  rate: about(hex(u8), 'two bits of selector, then the rate, IBTA code'),
  packetlifetime: about(hex(u8), 'two bits of selector, then n of 4.096 us x 2^n'),
  preference: about(u8, 'Preference among several paths'),
  reserved: bytes(6),
});

/** What the option RDMA_OPTION_IB_PATH takes: struct ibv_path_data. */
export const ibvPathData = struct('ibv_path_data', {
  flags: about(flagsOf(u32, PathFlag), 'what the path is for'),
  reserved: about(u32, 'reserved, 0'),
  path: about(ibvPathRecord, 'the path record as it travels'),
});
