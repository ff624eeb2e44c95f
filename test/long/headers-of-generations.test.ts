/** The declared layouts against the headers of newer generations of rdma-core and Linux. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GENERATIONS, generationRoot } from '../../scripts/setup/generations.mjs';
import { type Differences, testAgainstHeaders } from '../abi/against-headers.ts';

/** What is newer than the headers of each suite. */
const NEWER: Readonly<Record<string, Differences>> = {
  trixie: {
    absentMembers: [
      'ibv_comp_cntr_caps',
      'efadv_device_attr.inline_buf_size_ex',
      'efadv_sq_depth_attr',
      'efadv_rq_depth_attr',
      'efa_ibv_alloc_ucontext_resp.inline_buf_size_ex',
      'efa_ibv_alloc_ucontext_resp.reserved_b0',
    ],
    otherMembers: [],
    otherStructs: [],
    absentConstants: [
      'RDMA_CM_EVENT_ADDRINFO_RESOLVED',
      'RDMA_CM_EVENT_ADDRINFO_ERROR',
      'RDMA_CM_EVENT_USER',
      'RDMA_CM_EVENT_INTERNAL',
      'IBV_DEVICE_CC_DMA_BOUNCE',
      'IBV_ODP_SUPPORT_FLUSH',
      'IBV_ODP_SUPPORT_ATOMIC_WRITE',
      'IBV_QP_ATTACH_COMP_CNTR_OP_SEND',
      'IBV_QP_ATTACH_COMP_CNTR_OP_RECV',
      'IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ',
      'IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ',
      'IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE',
      'IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE',
      'EFADV_DEVICE_ATTR_CAPS_CQ_WITH_EXT_MEM_DMABUF',
      'EFADV_DEVICE_ATTR_CAPS_COMP_CNTR',
      'EFA_QUERY_DEVICE_CAPS_CQ_WITH_EXT_MEM',
      'EFA_QUERY_DEVICE_CAPS_COMP_CNTR',
      'EFA_QUERY_DEVICE_CAPS_SQ_64_BIT_REQ_ID',
      'UVERBS_METHOD_QUERY_PORT_SPEED',
      'UVERBS_METHOD_QUERY_COMP_CNTR_CAPS',
      'UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM',
      'UVERBS_ATTR_QUERY_PORT_SPEED_RESP',
      'UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS',
      'UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE',
      'UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS',
    ],
    undeclaredConstants: ['IBV_PATH_FLAG_BIDIRECTIONAL'],
  },
  // Its kernel headers are older than its rdma-core.
  sid: {
    absentMembers: [],
    otherMembers: [],
    otherStructs: [],
    absentConstants: [
      'EFA_QUERY_DEVICE_CAPS_COMP_CNTR',
      'EFA_QUERY_DEVICE_CAPS_SQ_64_BIT_REQ_ID',
      'UVERBS_METHOD_QUERY_COMP_CNTR_CAPS',
      'UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS',
      'UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE',
      'UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS',
    ],
    undeclaredConstants: [],
  },
};

test('each generation has a list of what is newer', () => {
  expect(Object.keys(NEWER)).toEqual(GENERATIONS.map(({ suite }) => suite));
});

describe.each(GENERATIONS)('$suite', ({ suite, moves }) => {
  const expected = NEWER[suite];
  if (expected) {
    testAgainstHeaders(`Debian ${suite}`, join(generationRoot(suite), 'usr/include'), expected, moves);
  }
});
