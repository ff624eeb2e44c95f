/** The EFA driver's part of uverbs messages: <rdma/efa-abi.h>. */
import { flagSet } from '../layout/flags.ts';
import { bytes, u16, u32 } from '../layout/scalar.ts';
import { struct } from '../layout/struct.ts';

/** EFA_QUERY_DEVICE_CAPS_*: the kernel's numbering, another than efadv's. */
export const EfaKernelCap = flagSet('efa_ibv_ex_query_device_resp.device_caps', 'EFA_QUERY_DEVICE_CAPS_', {
  RDMA_READ: 0,
  RNR_RETRY: 1,
  CQ_NOTIFICATIONS: 2,
  CQ_WITH_SGID: 3,
  DATA_POLLING_128: 4,
  RDMA_WRITE: 5,
  UNSOLICITED_WRITE_RECV: 6,
  CQ_WITH_EXT_MEM: 7,
  COMP_CNTR: 8,
  SQ_64_BIT_REQ_ID: 9,
});

/** EFA_USER_CMDS_SUPP_UDATA_*. */
export const EfaUdataCommand = flagSet('cmds_supp_udata_mask', 'EFA_USER_CMDS_SUPP_UDATA_', {
  QUERY_DEVICE: 0,
  CREATE_AH: 1,
});

/** Older kernels have four reserved bytes, zero, in place of the last two members. */
export const efaAllocUcontextResp = struct('efa_ibv_alloc_ucontext_resp', {
  comp_mask: u32,
  cmds_supp_udata_mask: u32,
  sub_cqs_per_cq: u16,
  inline_buf_size: u16,
  max_llq_size: u32,
  max_tx_batch: u16,
  min_sq_wr: u16,
  inline_buf_size_ex: u16,
  reserved_b0: bytes(2),
});

export const efaExQueryDeviceResp = struct('efa_ibv_ex_query_device_resp', {
  comp_mask: u32,
  max_sq_wr: u32,
  max_rq_wr: u32,
  max_sq_sge: u16,
  max_rq_sge: u16,
  max_rdma_size: u32,
  device_caps: u32,
});

export const efaAllocPdResp = struct('efa_ibv_alloc_pd_resp', {
  comp_mask: u32,
  pdn: u16,
  reserved_30: bytes(2),
});

export const efaCreateAhResp = struct('efa_ibv_create_ah_resp', {
  comp_mask: u32,
  efa_address_handle: u16,
  reserved_30: bytes(2),
});
