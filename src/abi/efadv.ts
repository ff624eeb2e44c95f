/** Structures and capability bits of <infiniband/efadv.h>. efadv_query_device(3). */
import { about } from '../layout/codec.ts';
import { flagSet, flagsOf } from '../layout/flags.ts';
import { bytes, hex, u16, u32, u64 } from '../layout/scalar.ts';
import { struct } from '../layout/struct.ts';

/** EFADV_DEVICE_ATTR_CAPS_*. */
export const EfadvDeviceCap = flagSet('efadv_device_attr.device_caps', 'EFADV_DEVICE_ATTR_CAPS_', {
  RDMA_READ: 0,
  RNR_RETRY: 1,
  CQ_WITH_SGID: 2,
  RDMA_WRITE: 3,
  UNSOLICITED_WRITE_RECV: 4,
  CQ_WITH_EXT_MEM_DMABUF: 5,
  COMP_CNTR: 6,
});

export type EfadvDeviceCapName = (typeof EfadvDeviceCap.entries)[number][0];

/** The first rdma-core whose libefa reports a bit; an older one leaves it 0 whatever the card can do. */
export const EFADV_CAP_SINCE: Readonly<Record<EfadvDeviceCapName, number>> = {
  RDMA_READ: 27,
  RNR_RETRY: 32,
  CQ_WITH_SGID: 43,
  RDMA_WRITE: 46,
  UNSOLICITED_WRITE_RECV: 52,
  CQ_WITH_EXT_MEM_DMABUF: 59,
  COMP_CNTR: 65,
};

/** What each bit lets a program do. */
export const EFADV_CAP_MEANING: Readonly<Record<EfadvDeviceCapName, string>> = {
  RDMA_READ: 'RDMA read is supported',
  RNR_RETRY: 'SRD queue pairs can retry when the receiver is not ready',
  CQ_WITH_SGID: 'a completion of an unknown peer carries the source GID',
  RDMA_WRITE: 'RDMA write is supported',
  UNSOLICITED_WRITE_RECV: 'RDMA write with immediate needs no posted receive',
  CQ_WITH_EXT_MEM_DMABUF: 'a completion queue can lie in memory given as dma-buf',
  COMP_CNTR: 'hardware completion counters',
};

/** The first rdma-core that has efadv_query_device, and its parts. */
export const EFADV_SINCE = {
  efadv_query_device: 26,
  device_caps: 27,
  inline_buf_size_ex: 63,
  efadv_get_max_sq_depth: 63,
  efadv_get_max_rq_depth: 63,
} as const;

/** 24 bytes in rdma-core 26, 32 from 27 on; bytes 22 and 23 were reserved up to 62. */
export const efadvDeviceAttr = struct(
  'efadv_device_attr',
  {
    comp_mask: about(hex(u64), 'Compatibility mask; no bit is defined'),
    max_sq_wr: about(u32, 'Work requests of a send queue'),
    max_rq_wr: about(u32, 'Work requests of a receive queue'),
    max_sq_sge: about(u16, 'Scatter/gather entries of a send request'),
    max_rq_sge: about(u16, 'Scatter/gather entries of a receive request'),
    inline_buf_size: about(u16, 'Inline data of a send request, bytes'),
    inline_buf_size_ex: about(u16, 'Inline data with wide send requests, bytes'),
    device_caps: about(flagsOf(u32, EfadvDeviceCap), 'Capabilities of the card'),
    max_rdma_size: about(u32, 'Largest RDMA read or write, bytes'),
  },
  { size: 32 },
);

/** In: what the queue is for. efadv_get_max_sq_depth answers with the depth or a negative errno. */
export const efadvSqDepthAttr = struct('efadv_sq_depth_attr', {
  comp_mask: u64,
  flags: u32,
  max_send_sge: u32,
  max_rdma_sge: u32,
  max_inline_data: u32,
});

export const efadvRqDepthAttr = struct('efadv_rq_depth_attr', {
  comp_mask: u64,
  max_recv_sge: u32,
  tail: about(bytes(4), 'Padding'),
});
