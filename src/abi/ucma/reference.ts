/**
 * The reference edition of the commands on the RDMA CM device, which illumos' sol_ucma has: packed, with that
 * system's sockaddr_in6 of 32 bytes for every address, and without what Linux added later. What both editions lay
 * out alike is in shared.ts; here too, bytes are little-endian (x86).
 */
import { about } from '../../layout/codec.ts';
import { enumOf } from '../../layout/enumeration.ts';
import { be16, bytes, hex, u8, u16, u32, u64 } from '../../layout/scalar.ts';
import { array, type Fields, type Struct, type StructOptions, struct, union } from '../../layout/struct.ts';
import { guid } from '../ib-types.ts';
import { CmEventType, PortSpace } from '../rdmacm-codes.ts';
import { sockaddrRoom } from '../sockaddr.ts';
import { connParamRest, eventStatus, privateData, privateDataLen, qpNum, udParamHead } from './parameters.ts';
import { ibUserPathRec, id, reserved, response, timeoutMs, uid } from './shared.ts';

/** AF_INET6 of illumos; AF_INET is 2 there too. */
export const REFERENCE_AF_INET6 = 26;

const packed = <const F extends Fields>(title: string, fields: F, options: StructOptions): Struct<F> =>
  struct(title, fields, { ...options, packed: true });

/** illumos' sockaddr_in6 ends in a source id, which Linux's does not have. An IPv4 address is in it a sockaddr_in. */
export const referenceSockaddrIn6 = packed(
  'sockaddr_in6',
  {
    sin6_family: about(u16, 'address family: 2 IPv4, 26 IPv6'),
    sin6_port: about(be16, 'port'),
    sin6_flowinfo: about(u32, 'flow information'),
    sin6_addr: about(bytes(16), 'address'),
    sin6_scope_id: about(u32, 'interface of a link-local address'),
    __sin6_src_id: about(u32, 'source id'),
  },
  { size: 32 },
);

const address = sockaddrRoom('struct sockaddr_in6', referenceSockaddrIn6.size, 1, REFERENCE_AF_INET6);

export const referenceCreateId = packed(
  'rdma_ucm_create_id',
  {
    uid,
    response,
    // The document has int16_t, the driver's header uint16_t; no port space is negative.
    ps: about(enumOf(u16, PortSpace), 'port space'),
    reserved: bytes(6),
  },
  { size: 24 },
);

/** The document leaves out `id`; the driver has it. */
export const referenceBindAddr = packed(
  'rdma_ucm_bind_addr',
  { response, addr: about(address, 'own address and port'), id, reserved },
  { size: 48 },
);

export const referenceResolveAddr = packed(
  'rdma_ucm_resolve_addr',
  {
    src_addr: about(address, 'own address; none lets the kernel choose'),
    dst_addr: about(address, "the peer's address and port"),
    id,
    timeout_ms: timeoutMs,
  },
  { size: 72 },
);

export const referenceQueryRouteResp = packed(
  'rdma_ucm_query_route_resp',
  {
    node_guid: about(guid, 'node GUID of the device that the id is bound to'),
    ib_route: about(array(ibUserPathRec, 2), 'the path, and the alternate path'),
    src_addr: about(address, 'own address and port'),
    dst_addr: about(address, "the peer's address and port"),
    num_paths: about(u32, 'paths that hold'),
    port_num: about(u8, 'port of the device'),
    reserved: bytes(3),
  },
  { size: 208 },
);

export const referenceConnParam = packed(
  'rdma_ucm_conn_param',
  { qp_num: qpNum, reserved, ...connParamRest },
  { size: 272 },
);

export const referenceUdParam = packed(
  'rdma_ucm_ud_param',
  { ...udParamHead, reserved: bytes(7), reserved2: bytes(4) },
  { size: 308 },
);

export const referenceConnect = packed(
  'rdma_ucm_connect',
  { conn_param: referenceConnParam, id, reserved },
  { size: 280 },
);

export const referenceAccept = packed(
  'rdma_ucm_accept',
  { uid, conn_param: referenceConnParam, id, reserved },
  { size: 288 },
);

export const referenceReject = packed(
  'rdma_ucm_reject',
  { id, private_data_len: privateDataLen, reserved: bytes(3), private_data: privateData },
  { size: 264 },
);

export const referenceJoinMcast = packed(
  'rdma_ucm_join_mcast',
  { response, uid, addr: about(address, 'the group'), id, reserved },
  { size: 56 },
);

export const referenceEventResp = packed(
  'rdma_ucm_event_resp',
  {
    uid: about(hex(u64), "the program's number for the id; of a request, that of the listening id"),
    id: about(u32, "the kernel's number of the id; of a request, that of the new id"),
    event: about(enumOf(u32, CmEventType), 'the event'),
    status: eventStatus,
    param: about(
      union('rdma_ucm_event_param', { conn: referenceConnParam, ud: referenceUdParam }, { packed: true }),
      'ud where the port space has datagrams (UDP, IPOIB), else conn',
    ),
  },
  { size: 328 },
);
