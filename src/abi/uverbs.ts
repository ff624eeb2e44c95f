/**
 * The kernel's side of the verbs: messages of ioctl(2) on /dev/infiniband/uverbsN, from
 * <rdma/rdma_user_ioctl_cmds.h>, <rdma/ib_user_ioctl_cmds.h>, <rdma/ib_user_ioctl_verbs.h> and
 * <rdma/ib_user_verbs.h>.
 */

import { bytes, u8, u16, u32, u64 } from '../layout/scalar.ts';
import { struct } from '../layout/struct.ts';
import { gid, guid } from './ib-types.ts';

/** Objects, methods and attributes that the query calls use. */
export const UverbsObject = { DEVICE: 0, ASYNC_EVENT: 0x10 } as const;
export const UverbsDeviceMethod = {
  INVOKE_WRITE: 0,
  QUERY_PORT: 2,
  GET_CONTEXT: 3,
  QUERY_CONTEXT: 4,
  QUERY_GID_TABLE: 5,
  QUERY_GID_ENTRY: 6,
  QUERY_PORT_SPEED: 7,
  QUERY_COMP_CNTR_CAPS: 8,
} as const;
export const UverbsAsyncEventMethod = { ALLOC: 0 } as const;
export const UverbsAttr = {
  CORE_IN: 0,
  CORE_OUT: 1,
  WRITE_CMD: 2,
  UHW_IN: 0x1000,
  UHW_OUT: 0x1001,
  GET_CONTEXT_NUM_COMP_VECTORS: 0,
  GET_CONTEXT_CORE_SUPPORT: 1,
  QUERY_PORT_PORT_NUM: 0,
  QUERY_PORT_RESP: 1,
  QUERY_CONTEXT_NUM_COMP_VECTORS: 0,
  QUERY_CONTEXT_CORE_SUPPORT: 1,
  QUERY_GID_TABLE_ENTRY_SIZE: 0,
  QUERY_GID_TABLE_FLAGS: 1,
  QUERY_GID_TABLE_RESP_ENTRIES: 2,
  QUERY_GID_TABLE_RESP_NUM_ENTRIES: 3,
  QUERY_GID_ENTRY_PORT: 0,
  QUERY_GID_ENTRY_GID_INDEX: 1,
  QUERY_GID_ENTRY_FLAGS: 2,
  QUERY_GID_ENTRY_RESP_ENTRY: 3,
  QUERY_PORT_SPEED_PORT_NUM: 0,
  QUERY_PORT_SPEED_RESP: 1,
  QUERY_COMP_CNTR_CAPS_MAX_COUNTERS: 0,
  QUERY_COMP_CNTR_CAPS_MAX_VALUE: 1,
  QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS: 2,
  ASYNC_EVENT_ALLOC_FD_HANDLE: 0,
} as const;
/** Numbers of the older write(2) commands, as INVOKE_WRITE carries them. */
export const UverbsWriteCommand = {
  QUERY_DEVICE: 1,
  ALLOC_PD: 3,
  DEALLOC_PD: 4,
  CREATE_AH: 5,
  DESTROY_AH: 8,
  REG_MR: 9,
  DEREG_MR: 13,
  EX_QUERY_DEVICE: 0x80000001,
} as const;

export const ibUverbsQueryDeviceResp = struct('ib_uverbs_query_device_resp', {
  fw_ver: u64,
  node_guid: guid,
  sys_image_guid: guid,
  max_mr_size: u64,
  page_size_cap: u64,
  vendor_id: u32,
  vendor_part_id: u32,
  hw_ver: u32,
  max_qp: u32,
  max_qp_wr: u32,
  device_cap_flags: u32,
  max_sge: u32,
  max_sge_rd: u32,
  max_cq: u32,
  max_cqe: u32,
  max_mr: u32,
  max_pd: u32,
  max_qp_rd_atom: u32,
  max_ee_rd_atom: u32,
  max_res_rd_atom: u32,
  max_qp_init_rd_atom: u32,
  max_ee_init_rd_atom: u32,
  atomic_cap: u32,
  max_ee: u32,
  max_rdd: u32,
  max_mw: u32,
  max_raw_ipv6_qp: u32,
  max_raw_ethy_qp: u32,
  max_mcast_grp: u32,
  max_mcast_qp_attach: u32,
  max_total_mcast_qp_attach: u32,
  max_ah: u32,
  max_fmr: u32,
  max_map_per_fmr: u32,
  max_srq: u32,
  max_srq_wr: u32,
  max_srq_sge: u32,
  max_pkeys: u16,
  local_ca_ack_delay: u8,
  phys_port_cnt: u8,
  reserved: bytes(4),
});

export const ibUverbsExQueryDeviceResp = struct(
  'ib_uverbs_ex_query_device_resp',
  {
    base: ibUverbsQueryDeviceResp,
    comp_mask: u32,
    response_length: u32,
    odp_caps: struct('ib_uverbs_odp_caps', {
      general_caps: u64,
      per_transport_caps: struct('per_transport_caps', {
        rc_odp_caps: u32,
        uc_odp_caps: u32,
        ud_odp_caps: u32,
      }),
      reserved: u32,
    }),
    timestamp_mask: u64,
    hca_core_clock: u64,
    device_cap_flags_ex: u64,
    rss_caps: struct('ib_uverbs_rss_caps', {
      supported_qpts: u32,
      max_rwq_indirection_tables: u32,
      max_rwq_indirection_table_size: u32,
      reserved: u32,
    }),
    max_wq_type_rq: u32,
    raw_packet_caps: u32,
    tm_caps: struct('ib_uverbs_tm_caps', {
      max_rndv_hdr_size: u32,
      max_num_tags: u32,
      flags: u32,
      max_ops: u32,
      max_sge: u32,
      reserved: u32,
    }),
    cq_moderation_caps: struct('ib_uverbs_cq_moderation_caps', {
      max_cq_moderation_count: u16,
      max_cq_moderation_period: u16,
      reserved: u32,
    }),
    max_dm_size: u64,
    xrc_odp_caps: u32,
    reserved: u32,
  },
  { size: 304 },
);

export const ibUverbsQueryPortResp = struct('ib_uverbs_query_port_resp', {
  port_cap_flags: u32,
  max_msg_sz: u32,
  bad_pkey_cntr: u32,
  qkey_viol_cntr: u32,
  gid_tbl_len: u32,
  pkey_tbl_len: u16,
  lid: u16,
  sm_lid: u16,
  state: u8,
  max_mtu: u8,
  active_mtu: u8,
  lmc: u8,
  max_vl_num: u8,
  sm_sl: u8,
  subnet_timeout: u8,
  init_type_reply: u8,
  active_width: u8,
  active_speed: u8,
  phys_state: u8,
  link_layer: u8,
  flags: u8,
  reserved: u8,
});

/** 48 bytes from the first: kernels before the wider speed have six reserved bytes at its place, zero. */
export const ibUverbsQueryPortRespEx = struct('ib_uverbs_query_port_resp_ex', {
  legacy_resp: ibUverbsQueryPortResp,
  port_cap_flags2: u16,
  reserved: bytes(2),
  active_speed_ex: u32,
});

export const ibUverbsGidEntry = struct('ib_uverbs_gid_entry', {
  gid: gid,
  gid_index: u32,
  port_num: u32,
  gid_type: u32,
  netdev_ifindex: u32,
});

export const ibUverbsRegMrResp = struct('ib_uverbs_reg_mr_resp', {
  mr_handle: u32,
  lkey: u32,
  rkey: u32,
});
