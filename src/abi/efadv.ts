/** Structures and capability bits of <infiniband/efadv.h>. efadv_query_device(3). */
import { about } from '../layout/codec.ts';
import { flagSet, flagsOf } from '../layout/flags.ts';
import { hex, u16, u32, u64 } from '../layout/scalar.ts';
import { struct } from '../layout/struct.ts';

/**
 * EFADV_DEVICE_ATTR_CAPS_*: bit number, the first rdma-core whose libefa reports it (an older one leaves the bit
 * 0 whatever the card can do), and what it lets a program do.
 */
export const EFADV_CAPS = {
  RDMA_READ: { bit: 0, since: 27, meaning: 'RDMA read' },
  RNR_RETRY: { bit: 1, since: 32, meaning: 'SRD queue pairs retry when the receiver is not ready' },
  CQ_WITH_SGID: { bit: 2, since: 43, meaning: 'A completion of an unknown peer can carry its source GID' },
  RDMA_WRITE: { bit: 3, since: 46, meaning: 'RDMA write' },
  UNSOLICITED_WRITE_RECV: {
    bit: 4,
    since: 52,
    meaning: 'RDMA write with immediate can arrive without a posted receive',
  },
  CQ_WITH_EXT_MEM_DMABUF: {
    bit: 5,
    since: 59,
    meaning: 'A completion queue can lie in memory given as a dma-buf',
  },
  COMP_CNTR: { bit: 6, since: 65, meaning: 'Hardware completion counters' },
} as const;

export type EfadvCapName = keyof typeof EFADV_CAPS;
export const EFADV_CAP_NAMES = Object.keys(EFADV_CAPS) as EfadvCapName[];

export const EfadvDeviceCap = flagSet(
  'efadv_device_attr.device_caps',
  'EFADV_DEVICE_ATTR_CAPS_',
  Object.fromEntries(EFADV_CAP_NAMES.map((name) => [name, EFADV_CAPS[name].bit])) as Record<
    EfadvCapName,
    number
  >,
);

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
});
