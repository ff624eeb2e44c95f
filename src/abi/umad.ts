/**
 * User MADs: the kernel's interface on /dev/infiniband/umadN (<rdma/ib_user_mad.h>, IB_USER_MAD_ABI_VERSION 5), and
 * what libibumad tells of ports (<infiniband/umad.h>).
 */

import { about } from '../layout/codec.ts';
import { be16, be32, bytes, s32, text, u8, u16, u32 } from '../layout/scalar.ts';
import { struct } from '../layout/struct.ts';
import { gid, guid } from './ib-types.ts';

const headerOld = {
  id: about(u32, 'agent that sends it, or that it has come to'),
  status: about(u32, 'of a received datagram: 0, or ETIMEDOUT where no answer came; ignored on send'),
  timeout_ms: about(u32, 'how long to wait for the answer, ms; unset on receive'),
  retries: about(u32, 'how often the kernel sends again when no answer comes'),
  length: about(u32, 'bytes of header and datagram, on receive; ignored on send'),
  qpn: about(be32, 'remote queue pair'),
  qkey: about(be32, 'Q_Key to send with; unset on receive'),
  lid: about(be16, 'remote LID'),
  sl: about(u8, 'service level'),
  path_bits: about(u8, 'low bits of the local LID'),
  grh_present: about(u8, 'whether a global route header goes or came with it'),
  gid_index: about(u8, 'local GID to send from; unset on receive'),
  hop_limit: about(u8, 'hop limit of the global route header'),
  traffic_class: about(u8, 'traffic class of the global route header'),
  // Where it lies it is not aligned as the C union is.
  gid: about({ ...gid, align: 1 }, 'remote GID of the global route header'),
  flow_label: about(be32, 'flow label of the global route header'),
};

/** In force until ENABLE_PKEY or REGISTER_AGENT2. */
export const ibUserMadHdrOld = struct('ib_user_mad_hdr_old', headerOld, { size: 56 });

export const ibUserMadHdr = struct(
  'ib_user_mad_hdr',
  { ...headerOld, pkey_index: about(u16, 'index of the P_Key'), reserved: bytes(6) },
  { size: 64 },
);

/** Members that the kernel's documentation calls unset on receive: ib_user_mad.h. */
export const UNSET_ON_RECEIVE = ['timeout_ms', 'qkey', 'gid_index'] as const;

/** Registration, ioctl REGISTER_AGENT. The mask has a bit a method that is wanted unasked: 128 bits. */
export const ibUserMadRegReq = struct(
  'ib_user_mad_reg_req',
  {
    id: about(u32, 'set by the kernel'),
    method_mask: about(bytes(16), 'methods to receive unasked, method m in bit m % 32 of word m / 32'),
    qpn: about(u8, 'queue pair, 0 or 1'),
    mgmt_class: about(u8, 'class to receive, 0 for replies alone'),
    mgmt_class_version: u8,
    oui: about(bytes(3), 'for vendor classes 0x30 to 0x4f'),
    rmpp_version: about(u8, '1: the kernel splits and joins long messages'),
  },
  { size: 28 },
);

/** Registration, ioctl REGISTER_AGENT2. */
export const ibUserMadRegReq2 = struct(
  'ib_user_mad_reg_req2',
  {
    id: about(u32, 'set by the kernel'),
    qpn: about(u32, 'queue pair, 0 or 1'),
    mgmt_class: about(u8, 'class to receive, 0 for replies alone'),
    mgmt_class_version: u8,
    res: u16,
    flags: about(u32, '1: the program does RMPP itself'),
    method_mask: about(
      { ...bytes(16), align: 8 },
      'methods to receive unasked, method m in bit m % 64 of word m / 64',
    ),
    oui: about(u32, 'for vendor classes 0x30 to 0x4f, 24 bits'),
    rmpp_version: about(u8, '1: the kernel splits and joins long messages'),
    reserved: bytes(3),
  },
  { size: 40 },
);

/** What umad_register2(3) takes. */
export const umadRegAttr = struct(
  'umad_reg_attr',
  {
    mgmt_class: u8,
    mgmt_class_version: u8,
    flags: about(u32, '1: the program does RMPP itself; on EINVAL, the flags that the kernel knows'),
    method_mask: { ...bytes(16), align: 8 },
    oui: u32,
    rmpp_version: u8,
  },
  { size: 32 },
);

/** A method mask of both registrations, on a little-endian machine: method m is bit m % 8 of byte m / 8. */
export function maskBytes(methods: bigint): Uint8Array {
  return Uint8Array.from({ length: 16 }, (_, index) => Number((methods >> BigInt(8 * index)) & 0xffn));
}

/** Requests of ioctl(2) on umadN: `IB_USER_MAD_` + name. */
export const UmadIoctl = {
  REGISTER_AGENT: 0xc01c1b01,
  UNREGISTER_AGENT: 0x40041b02,
  ENABLE_PKEY: 0x1b03,
  REGISTER_AGENT2: 0xc0281b04,
} as const;

/** What umad_get_port(3) fills. */
export const umadPort = struct('umad_port', {
  ca_name: text(20),
  portnum: s32,
  base_lid: u32,
  lmc: u32,
  sm_lid: u32,
  sm_sl: u32,
  state: u32,
  phys_state: u32,
  rate: u32,
  capmask: be32,
  gid_prefix: guid,
  port_guid: guid,
  pkeys_size: u32,
  pkeys: { ...bytes(8), align: 8 },
  link_layer: text(20),
});

/** What umad_get_ca(3) fills; `ports` are pointers, by port number. */
export const umadCa = struct('umad_ca', {
  ca_name: text(20),
  node_type: u32,
  numports: s32,
  fw_ver: text(20),
  ca_type: text(40),
  hw_ver: text(20),
  node_guid: guid,
  system_guid: guid,
  ports: { ...bytes(80), align: 8 },
});
