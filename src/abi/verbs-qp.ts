/** Queue pairs: what <infiniband/verbs.h> and the kernel's <rdma/ib_user_verbs.h> say of their attributes. */
import { about } from '../layout/codec.ts';
import { enumOf } from '../layout/enumeration.ts';
import { flagsOf } from '../layout/flags.ts';
import { bytes, hex, pointer, s32, u8, u16, u32 } from '../layout/scalar.ts';
import { struct } from '../layout/struct.ts';
import { gid } from './ib-types.ts';
import { ibvAhAttr } from './rdmacm.ts';
import { AccessFlag, MigrationState, Mtu, QpAttrMask, QpState, QpType, Rate } from './verbs-codes.ts';

export const ibvQpCap = struct('ibv_qp_cap', {
  max_send_wr: u32,
  max_recv_wr: u32,
  max_send_sge: u32,
  max_recv_sge: u32,
  max_inline_data: u32,
});

export const ibvQpInitAttr = struct(
  'ibv_qp_init_attr',
  {
    qp_context: pointer,
    send_cq: pointer,
    recv_cq: pointer,
    srq: pointer,
    cap: ibvQpCap,
    qp_type: enumOf(u32, QpType),
    sq_sig_all: s32,
  },
  { size: 64 },
);

export const ibvSrqInitAttr = struct('ibv_srq_init_attr', {
  srq_context: pointer,
  attr: struct('ibv_srq_attr', { max_wr: u32, max_sge: u32, srq_limit: u32 }),
});

/** Enhanced connection establishment: options of a vendor's own, which ride on the handshake. */
export const ibvEce = struct('ibv_ece', { vendor_id: u32, options: u32, comp_mask: u32 });

export const ibvQpAttr = struct(
  'ibv_qp_attr',
  {
    qp_state: enumOf(u32, QpState),
    cur_qp_state: enumOf(u32, QpState),
    path_mtu: enumOf(u32, Mtu),
    path_mig_state: enumOf(u32, MigrationState),
    qkey: u32,
    rq_psn: u32,
    sq_psn: u32,
    dest_qp_num: u32,
    qp_access_flags: flagsOf(u32, AccessFlag),
    cap: ibvQpCap,
    ah_attr: ibvAhAttr,
    alt_ah_attr: ibvAhAttr,
    pkey_index: u16,
    alt_pkey_index: u16,
    en_sqd_async_notify: u8,
    sq_draining: u8,
    max_rd_atomic: u8,
    max_dest_rd_atomic: u8,
    min_rnr_timer: u8,
    port_num: u8,
    timeout: u8,
    retry_cnt: u8,
    rnr_retry: u8,
    alt_port_num: u8,
    alt_timeout: u8,
    rate_limit: u32,
  },
  { size: 144 },
);

export const ibUverbsGlobalRoute = struct('ib_uverbs_global_route', {
  dgid: about({ ...gid, align: 1 }, 'Destination GID'),
  flow_label: about(u32, 'Flow label'),
  sgid_index: about(u8, 'Index of the source GID in the table of the port'),
  hop_limit: about(u8, 'Hop limit'),
  traffic_class: about(u8, 'Traffic class'),
  reserved: bytes(1),
});

export const ibUverbsAhAttr = struct(
  'ib_uverbs_ah_attr',
  {
    grh: ibUverbsGlobalRoute,
    dlid: about(u16, 'Destination LID; 0 on RoCE'),
    sl: about(u8, 'Service level'),
    src_path_bits: about(u8, 'Low bits of the source LID'),
    static_rate: about(enumOf(u8, Rate), 'Largest rate'),
    is_global: about(u8, '1: the global route holds'),
    port_num: about(u8, 'Port'),
    reserved: bytes(1),
  },
  { size: 32 },
);

/** What rdma_init_qp_attr(3) answers: the attributes to move a queue pair on, and which of them hold. */
export const ibUverbsQpAttr = struct(
  'ib_uverbs_qp_attr',
  {
    qp_attr_mask: about(flagsOf(u32, QpAttrMask), 'Which of the attributes hold'),
    qp_state: about(enumOf(u32, QpState), 'State to move to'),
    cur_qp_state: about(enumOf(u32, QpState), 'State to move from'),
    path_mtu: about(enumOf(u32, Mtu), 'Path MTU, bytes by name'),
    path_mig_state: about(enumOf(u32, MigrationState), 'Path migration'),
    qkey: about(hex(u32), 'Q_Key'),
    rq_psn: about(u32, 'First packet sequence number to receive'),
    sq_psn: about(u32, 'First packet sequence number to send'),
    dest_qp_num: about(u32, "The peer's queue pair"),
    qp_access_flags: about(flagsOf(u32, AccessFlag), 'What the peer may do'),
    ah_attr: about(ibUverbsAhAttr, 'The path'),
    alt_ah_attr: about(ibUverbsAhAttr, 'The alternate path'),
    max_send_wr: u32,
    max_recv_wr: u32,
    max_send_sge: u32,
    max_recv_sge: u32,
    max_inline_data: u32,
    pkey_index: about(u16, 'Index in the P_Key table of the port'),
    alt_pkey_index: u16,
    en_sqd_async_notify: u8,
    sq_draining: u8,
    max_rd_atomic: about(u8, 'RDMA reads and atomics under way from here'),
    max_dest_rd_atomic: about(u8, 'RDMA reads and atomics under way from the peer'),
    min_rnr_timer: about(u8, 'Wait that a receiver without buffers asks for, IBTA code'),
    port_num: about(u8, 'Port'),
    timeout: about(u8, 'Local ACK timeout: 4.096 us x 2^n; 0 is for ever'),
    retry_cnt: about(u8, 'Retries after a timeout'),
    rnr_retry: about(u8, 'Retries where the receiver has no buffer; 7 is for ever'),
    alt_port_num: u8,
    alt_timeout: u8,
    reserved: bytes(5),
  },
  { size: 144 },
);
