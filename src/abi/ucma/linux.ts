/**
 * Linux's edition of the commands on /dev/infiniband/rdma_cm (<rdma/rdma_user_cm.h>), as far as it is not the
 * other's: natural alignment, and members at the ends that older kernels and programs do not have.
 */
import { about } from '../../layout/codec.ts';
import { enumOf } from '../../layout/enumeration.ts';
import { flagsOf } from '../../layout/flags.ts';
import { be16, be32, be64, bytes, hex, text, u8, u16, u32, u64 } from '../../layout/scalar.ts';
import { array, struct, union } from '../../layout/struct.ts';
import { gid, guid } from '../ib-types.ts';
import { CmEventType, JoinMulticastFlag, PortSpace } from '../rdmacm-codes.ts';
import { sockaddrIn6, sockaddrRoom } from '../sockaddr.ts';
import { QpType } from '../verbs-codes.ts';
import { UcmaIbServiceFlag, UcmaQueryOption } from './codes.ts';
import {
  connParamRest,
  eventStatus,
  privateData,
  privateDataLen,
  qkey,
  qpNum,
  udParamHead,
} from './parameters.ts';
import { ibUserPathRec, id, reserved, response, timeoutMs, uid } from './shared.ts';

const ipAddress = sockaddrRoom('struct sockaddr_in6', sockaddrIn6.size, 4);
const anyAddress = sockaddrRoom('struct __kernel_sockaddr_storage', 128, 8);

const source = 'own address; none lets the kernel choose';
const destination = "the peer's address and port";
const nodeGuid = about(
  guid,
  'node GUID of the device that the id is bound to; 0 is none, or a device without one',
);
const portNum = about(u8, 'port of the device; 0 before the id is bound to one');
const ibdevIndex = about(
  u32,
  "the kernel's number of the device, which tells devices of the same GUID apart",
);

export const rdmaUcmCreateId = struct(
  'rdma_ucm_create_id',
  {
    uid,
    response,
    ps: about(enumOf(u16, PortSpace), 'port space'),
    qp_type: about(enumOf(u8, QpType), 'type of the queue pair; it counts for the port space IB'),
    reserved: bytes(5),
  },
  { size: 24 },
);

export const rdmaUcmBindIp = struct(
  'rdma_ucm_bind_ip',
  { response, addr: about(ipAddress, 'own address and port, IPv4 or IPv6'), id },
  { size: 40 },
);

export const rdmaUcmBind = struct(
  'rdma_ucm_bind',
  {
    id,
    addr_size: about(u16, 'bytes of the address that count'),
    reserved: about(u16, 'reserved, 0'),
    addr: about(anyAddress, 'own address and port'),
  },
  { size: 136 },
);

export const rdmaUcmResolveIp = struct(
  'rdma_ucm_resolve_ip',
  { src_addr: about(ipAddress, source), dst_addr: about(ipAddress, destination), id, timeout_ms: timeoutMs },
  { size: 64 },
);

export const rdmaUcmResolveAddr = struct(
  'rdma_ucm_resolve_addr',
  {
    id,
    timeout_ms: timeoutMs,
    src_size: about(u16, 'bytes of src_addr that count; 0: the kernel chooses'),
    dst_size: about(u16, 'bytes of dst_addr that count'),
    reserved,
    src_addr: about(anyAddress, source),
    dst_addr: about(anyAddress, destination),
  },
  { size: 272 },
);

export const rdmaUcmQuery = struct(
  'rdma_ucm_query',
  {
    response,
    id,
    option: about(enumOf(u32, UcmaQueryOption), 'what is asked for'),
  },
  { size: 16 },
);

/** Kernels before 5.8 end it at reserved. */
export const rdmaUcmQueryRouteResp = struct(
  'rdma_ucm_query_route_resp',
  {
    node_guid: nodeGuid,
    ib_route: about(array(ibUserPathRec, 2), 'the path, and the alternate path'),
    src_addr: about(ipAddress, 'own address and port'),
    dst_addr: about(ipAddress, destination),
    num_paths: about(u32, 'paths that hold; with 0 the first has GIDs and P_Key alone'),
    port_num: portNum,
    reserved: bytes(3),
    ibdev_index: ibdevIndex,
    reserved1: reserved,
  },
  { size: 208 },
);

/** Answers QUERY with ADDR, and with GID: then the addresses are sockaddr_ib. Kernels before 5.8 end it at dst_addr. */
export const rdmaUcmQueryAddrResp = struct(
  'rdma_ucm_query_addr_resp',
  {
    node_guid: nodeGuid,
    port_num: portNum,
    reserved: about(u8, 'reserved, 0'),
    pkey: about(hex(be16), 'P_Key; without meaning on RoCE'),
    src_size: about(u16, 'bytes of src_addr that count'),
    dst_size: about(u16, 'bytes of dst_addr that count'),
    src_addr: about(anyAddress, 'own address and port; with GID the own GID and the service ID'),
    dst_addr: about(anyAddress, "the peer's address and port; with GID its GID and the service ID"),
    ibdev_index: ibdevIndex,
    reserved1: reserved,
  },
  { size: 280 },
);

/** num_paths times ibv_path_data (the header's ib_path_rec_data) follow, as far as there is room. */
export const rdmaUcmQueryPathResp = struct('rdma_ucm_query_path_resp', {
  num_paths: about(u32, 'paths that there are'),
  reserved,
});

export const ibUserServiceRec = struct(
  'ib_user_service_rec',
  {
    id: about(hex(be64), 'service ID'),
    gid: about({ ...gid, align: 1 }, 'GID of the port that offers the service'),
    pkey: about(hex(be16), 'P_Key'),
    reserved: bytes(2),
    lease: about(be32, 'how long it is registered for, s; 4294967295 is for ever'),
    key: about(bytes(16), 'service key'),
    name: about(text(64), 'name of the service'),
    data_8: about(bytes(16), 'data of the service, bytes'),
    data_16: about(array(be16, 8), 'data of the service, 16 bits each'),
    data_32: about(array(be32, 4), 'data of the service, 32 bits each'),
    data_64: about(array(be64, 2), 'data of the service, 64 bits each'),
  },
  { size: 176 },
);

/** num_service_recs times ib_user_service_rec follow. */
export const rdmaUcmQueryIbServiceResp = struct('rdma_ucm_query_ib_service_resp', {
  num_service_recs: about(u32, 'service records that there are'),
  reserved,
});

export const rdmaUcmConnParam = struct(
  'rdma_ucm_conn_param',
  { qp_num: qpNum, qkey, ...connParamRest },
  { size: 272 },
);

export const rdmaUcmUdParam = struct(
  'rdma_ucm_ud_param',
  { ...udParamHead, reserved: bytes(7) },
  { size: 304 },
);

/** Enhanced connection establishment: what the devices of both ends have agreed on. */
export const rdmaUcmEce = struct('rdma_ucm_ece', {
  vendor_id: about(hex(u32), 'vendor of the device, 0: no enhanced connection establishment'),
  attr_mod: about(hex(u32), "options, in that vendor's meaning"),
});

const ece = about(rdmaUcmEce, 'enhanced connection establishment');

/** Programs that do not know ECE (headers before 5.8) end it at reserved. */
export const rdmaUcmConnect = struct(
  'rdma_ucm_connect',
  { conn_param: rdmaUcmConnParam, id, reserved, ece },
  { size: 288 },
);

/** Programs that do not know ECE (headers before 5.8) end it at reserved. */
export const rdmaUcmAccept = struct(
  'rdma_ucm_accept',
  { uid, conn_param: rdmaUcmConnParam, id, reserved, ece },
  { size: 296 },
);

export const rdmaUcmReject = struct(
  'rdma_ucm_reject',
  {
    id,
    private_data_len: privateDataLen,
    reason: about(u8, 'reason to give: 0 or 28 consumer defined, 35 vendor option not supported'),
    reserved: bytes(2),
    private_data: privateData,
  },
  { size: 264 },
);

export const rdmaUcmJoinIpMcast = struct(
  'rdma_ucm_join_ip_mcast',
  { response, uid, addr: about(ipAddress, 'the group, IPv4 or IPv6'), id },
  { size: 48 },
);

export const rdmaUcmJoinMcast = struct(
  'rdma_ucm_join_mcast',
  {
    response,
    uid,
    id,
    addr_size: about(u16, 'bytes of the address that count'),
    join_flags: about(enumOf(u16, JoinMulticastFlag), 'kind of membership'),
    addr: about(anyAddress, 'the group'),
  },
  { size: 152 },
);

const eventParam = union('rdma_ucm_event_param', {
  conn: about(rdmaUcmConnParam, 'of a connection'),
  ud: about(rdmaUcmUdParam, 'of datagrams'),
  arg32: about(array(u32, 2), 'argument of an event that a program wrote'),
});

/** Kernels before 5.8 end it at param; their answer has 324 or 328 bytes. */
export const rdmaUcmEventResp = struct(
  'rdma_ucm_event_resp',
  {
    uid: about(hex(u64), "the program's number for the id; of a request, that of the listening id"),
    id: about(u32, "the kernel's number of the id; of a request, that of the new id"),
    event: about(enumOf(u32, CmEventType), 'the event'),
    status: eventStatus,
    param: about(eventParam, 'ud where the port space has datagrams (UDP, IPOIB), else conn'),
    reserved,
    ece,
  },
  { size: 336 },
);

export const rdmaUcmMigrateId = struct(
  'rdma_ucm_migrate_id',
  { response, id, fd: about(u32, 'descriptor that the id comes from') },
  { size: 16 },
);

export const rdmaUcmMigrateResp = struct('rdma_ucm_migrate_resp', {
  events_reported: about(u32, 'events of the id that the program has been given'),
});

export const rdmaUcmIbService = struct(
  'rdma_ucm_ib_service',
  {
    service_id: about(hex(u64), 'service ID'),
    service_name: about(bytes(64), 'name of the service, ending in 0'),
    flags: about(flagsOf(u32, UcmaIbServiceFlag), 'what is asked by: service ID, name, or both'),
    reserved,
  },
  { size: 80 },
);

export const rdmaUcmResolveIbService = struct(
  'rdma_ucm_resolve_ib_service',
  { id, reserved, ibs: rdmaUcmIbService },
  { size: 88 },
);

export const rdmaUcmWriteCmEvent = struct(
  'rdma_ucm_write_cm_event',
  {
    id,
    reserved,
    event: about(enumOf(u32, CmEventType), 'event to put into the queue of the id: USER or INTERNAL'),
    status: eventStatus,
    param: union('rdma_ucm_write_cm_event_param', {
      conn: rdmaUcmConnParam,
      ud: rdmaUcmUdParam,
      arg: about(hex(u64), 'argument that comes back with the event'),
    }),
  },
  { size: 320 },
);
