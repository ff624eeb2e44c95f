/** Work requests, completions and what they refer to, from <infiniband/verbs.h>. */
import { enumeration, enumOf } from '../layout/enumeration.ts';
import { flagSet, flagsOf } from '../layout/flags.ts';
import { be32, pointer, s32, u8, u16, u32, u64 } from '../layout/scalar.ts';
import { struct, union } from '../layout/struct.ts';

/** What is asked for. */
export const WrOpcode = enumeration('ibv_wr_opcode', 'IBV_WR_', {
  RDMA_WRITE: 0,
  RDMA_WRITE_WITH_IMM: 1,
  SEND: 2,
  SEND_WITH_IMM: 3,
  RDMA_READ: 4,
  ATOMIC_CMP_AND_SWP: 5,
  ATOMIC_FETCH_AND_ADD: 6,
  LOCAL_INV: 7,
  BIND_MW: 8,
  SEND_WITH_INV: 9,
  TSO: 10,
  DRIVER1: 11,
  FLUSH: 14,
  ATOMIC_WRITE: 15,
});

export const SendFlag = flagSet('ibv_send_flags', 'IBV_SEND_', {
  FENCE: 0,
  SIGNALED: 1,
  SOLICITED: 2,
  INLINE: 3,
  IP_CSUM: 4,
});

/** How a request ended. */
export const WcStatus = enumeration('ibv_wc_status', 'IBV_WC_', {
  SUCCESS: 0,
  LOC_LEN_ERR: 1,
  LOC_QP_OP_ERR: 2,
  LOC_EEC_OP_ERR: 3,
  LOC_PROT_ERR: 4,
  WR_FLUSH_ERR: 5,
  MW_BIND_ERR: 6,
  BAD_RESP_ERR: 7,
  LOC_ACCESS_ERR: 8,
  REM_INV_REQ_ERR: 9,
  REM_ACCESS_ERR: 10,
  REM_OP_ERR: 11,
  RETRY_EXC_ERR: 12,
  RNR_RETRY_EXC_ERR: 13,
  LOC_RDD_VIOL_ERR: 14,
  REM_INV_RD_REQ_ERR: 15,
  REM_ABORT_ERR: 16,
  INV_EECN_ERR: 17,
  INV_EEC_STATE_ERR: 18,
  FATAL_ERR: 19,
  RESP_TIMEOUT_ERR: 20,
  GENERAL_ERR: 21,
  TM_ERR: 22,
  TM_RNDV_INCOMPLETE: 23,
});

export type WcStatusName = NonNullable<ReturnType<typeof WcStatus.nameOf>>;

/** What has been done: another numbering than that of the requests. */
export const WcOpcode = enumeration('ibv_wc_opcode', 'IBV_WC_', {
  SEND: 0,
  RDMA_WRITE: 1,
  RDMA_READ: 2,
  COMP_SWAP: 3,
  FETCH_ADD: 4,
  BIND_MW: 5,
  LOCAL_INV: 6,
  TSO: 7,
  FLUSH: 8,
  ATOMIC_WRITE: 9,
  RECV: 128,
  RECV_RDMA_WITH_IMM: 129,
  TM_ADD: 130,
  TM_DEL: 131,
  TM_SYNC: 132,
  TM_RECV: 133,
  TM_NO_TAG: 134,
  DRIVER1: 135,
  DRIVER2: 136,
  DRIVER3: 137,
});

export const WcFlag = flagSet('ibv_wc_flags', 'IBV_WC_', {
  GRH: 0,
  WITH_IMM: 1,
  IP_CSUM_OK: 2,
  WITH_INV: 3,
  TM_SYNC_REQ: 4,
  TM_MATCH: 5,
  TM_DATA_VALID: 6,
});

/** One piece of registered memory. */
export const ibvSge = struct('ibv_sge', { addr: u64, length: u32, lkey: u32 });

export const ibvRecvWr = struct(
  'ibv_recv_wr',
  { wr_id: u64, next: pointer, sg_list: pointer, num_sge: s32 },
  { size: 32 },
);

const ibvMwBindInfo = struct('ibv_mw_bind_info', {
  mr: pointer,
  addr: u64,
  length: u64,
  mw_access_flags: u32,
});

export const ibvSendWr = struct(
  'ibv_send_wr',
  {
    wr_id: u64,
    next: pointer,
    sg_list: pointer,
    num_sge: s32,
    opcode: enumOf(u32, WrOpcode),
    send_flags: flagsOf(u32, SendFlag),
    imm_data: be32,
    wr: union('ibv_send_wr_wr', {
      rdma: struct('ibv_send_wr_rdma', { remote_addr: u64, rkey: u32 }),
      atomic: struct('ibv_send_wr_atomic', { remote_addr: u64, compare_add: u64, swap: u64, rkey: u32 }),
      ud: struct('ibv_send_wr_ud', { ah: pointer, remote_qpn: u32, remote_qkey: u32 }),
    }),
    qp_type: union('ibv_send_wr_qp_type', {
      xrc: struct('ibv_send_wr_xrc', { remote_srqn: u32 }),
    }),
    bind_mw: struct('ibv_send_wr_bind_mw', { mw: pointer, rkey: u32, bind_info: ibvMwBindInfo }),
  },
  { size: 128 },
);

/** A completion. With a status other than SUCCESS only wr_id, status, qp_num and vendor_err mean anything. */
export const ibvWc = struct(
  'ibv_wc',
  {
    wr_id: u64,
    status: enumOf(u32, WcStatus),
    opcode: enumOf(u32, WcOpcode),
    vendor_err: u32,
    byte_len: u32,
    imm_data: be32,
    qp_num: u32,
    src_qp: u32,
    wc_flags: flagsOf(u32, WcFlag),
    pkey_index: u16,
    slid: u16,
    sl: u8,
    dlid_path_bits: u8,
  },
  { size: 48 },
);

export const ibvMr = struct(
  'ibv_mr',
  { context: pointer, pd: pointer, addr: pointer, length: u64, handle: u32, lkey: u32, rkey: u32 },
  { size: 48 },
);

/** Bytes before the data of every received datagram: a global route header, or room for one. */
export const GRH_BYTES = 40;
