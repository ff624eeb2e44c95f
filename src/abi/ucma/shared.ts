/**
 * What goes through write(2) to /dev/infiniband/rdma_cm: the structures that both editions of the interface lay
 * out alike, in natural alignment as well as packed. Every field of them lies where its own size wants it.
 */
import { about } from '../../layout/codec.ts';
import { enumOf } from '../../layout/enumeration.ts';
import { be16, be32, hex, pointer, u8, u16, u32, u64 } from '../../layout/scalar.ts';
import { struct } from '../../layout/struct.ts';
import { gid } from '../ib-types.ts';
import { Mtu, QpState, Rate } from '../verbs-codes.ts';

/** RDMA_USER_CM_ABI_VERSION of both editions; /sys/class/misc/rdma_cm/abi_version tells the kernel's. */
export const UCMA_ABI_VERSION = 4;

/** RDMA_MAX_PRIVATE_DATA: the room in the structures, not what a message carries. */
export const UCMA_PRIVATE_DATA = 256;

/** Begins every write; the command's structure follows. */
export const rdmaUcmCmdHdr = struct(
  'rdma_ucm_cmd_hdr',
  {
    cmd: about(u32, 'number of the command'),
    in: about(u16, 'bytes of the structure that follows'),
    out: about(u16, 'bytes of room for the answer; 0 where there is none'),
  },
  { size: 8 },
);

/** Fields that many commands have. */
export const response = about(hex(u64), 'address in the program that the kernel writes the answer to');
export const uid = about(hex(u64), "the program's own number for the id, returned with its events");
export const id = about(u32, "the kernel's number of the id");
export const timeoutMs = about(u32, 'how long the resolution may take, ms');
export const reserved = about(u32, 'reserved, 0');

export const rdmaUcmCreateIdResp = struct('rdma_ucm_create_id_resp', {
  id: about(u32, "the kernel's number of the new id, or of the membership in a multicast group"),
});

export const rdmaUcmDestroyId = struct(
  'rdma_ucm_destroy_id',
  { response, id: about(u32, 'the id to destroy, or the membership to leave'), reserved },
  { size: 16 },
);

export const rdmaUcmDestroyIdResp = struct('rdma_ucm_destroy_id_resp', {
  events_reported: about(u32, 'events of the id that the program has been given'),
});

export const rdmaUcmResolveRoute = struct(
  'rdma_ucm_resolve_route',
  { id, timeout_ms: timeoutMs },
  { size: 8 },
);

/** QUERY_ROUTE of both editions; Linux's header has rdma_ucm_query for it, whose option does not count there. */
export const rdmaUcmQueryRoute = struct('rdma_ucm_query_route', { response, id, reserved }, { size: 16 });

export const rdmaUcmListen = struct(
  'rdma_ucm_listen',
  { id, backlog: about(u32, 'requests that may wait; 0 is the most that the system allows') },
  { size: 8 },
);

export const rdmaUcmDisconnect = struct('rdma_ucm_disconnect', { id });

export const rdmaUcmInitQpAttr = struct(
  'rdma_ucm_init_qp_attr',
  { response, id, qp_state: about(enumOf(u32, QpState), 'state that the queue pair is to be moved to') },
  { size: 16 },
);

export const rdmaUcmNotify = struct(
  'rdma_ucm_notify',
  {
    id,
    event: about(
      u32,
      'asynchronous event of the queue pair, enum ib_event_type; 4: it has heard from its peer',
    ),
  },
  { size: 8 },
);

export const rdmaUcmGetEvent = struct('rdma_ucm_get_event', { response });

export const rdmaUcmSetOption = struct(
  'rdma_ucm_set_option',
  {
    optval: about(pointer, 'address in the program of the value'),
    id,
    level: about(u32, '0: of the id; 1: of InfiniBand'),
    optname: about(u32, 'level 0: 0 TOS, 1 REUSEADDR, 2 AFONLY, 3 ACK_TIMEOUT; level 1: 1 PATH'),
    optlen: about(u32, 'bytes of the value'),
  },
  { size: 24 },
);

/** A path record as the kernel unpacks it for programs. */
export const ibUserPathRec = struct(
  'ib_user_path_rec',
  {
    dgid: about({ ...gid, align: 1 }, 'destination GID'),
    sgid: about({ ...gid, align: 1 }, 'source GID'),
    dlid: about(be16, 'destination LID; without meaning on RoCE'),
    slid: about(be16, 'source LID; without meaning on RoCE'),
    raw_traffic: about(u32, '1: raw packets'),
    flow_label: about(be32, 'flow label'),
    reversible: about(u32, '1: the path holds in both directions'),
    mtu: about(enumOf(u32, Mtu), 'path MTU, bytes by name'),
    pkey: about(hex(be16), 'P_Key'),
    hop_limit: about(u8, 'hop limit'),
    traffic_class: about(u8, 'traffic class'),
    numb_path: about(u8, 'paths asked for, or returned'),
    sl: about(u8, 'service level'),
    mtu_selector: about(u8, 'how mtu is meant: 0 above, 1 below, 2 exactly, 3 largest'),
    rate_selector: about(u8, 'how rate is meant'),
    rate: about(enumOf(u8, Rate), 'rate of the path'),
    packet_life_time_selector: about(u8, 'how packet_life_time is meant'),
    packet_life_time: about(u8, 'time that a packet may take: 4.096 us x 2^n'),
    preference: about(u8, 'preference among several paths'),
  },
  { size: 64 },
);
