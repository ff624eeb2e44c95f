/** The commands of Linux: number, structures in and out, and the sizes that older kernels and programs have. */
import type { Fields, Struct } from '../../layout/struct.ts';
import { ibvPathData } from '../rdmacm.ts';
import { ibUverbsQpAttr } from '../verbs-qp.ts';
import { idOnly, parameters } from './briefs.ts';
import { UcmaCommandNumber, UcmaQueryOption } from './codes.ts';
import {
  command,
  endingAt,
  type UcmaAnswers,
  type UcmaCommand,
  type UcmaForm,
  type UcmaParts,
  whole,
  withList,
} from './command.ts';
import * as linux from './linux.ts';
import * as shared from './shared.ts';

export type UcmaCommandName = Parameters<typeof UcmaCommandNumber.valueOf>[0];

const named = <Q extends Fields, R extends Fields>(
  name: UcmaCommandName,
  meaning: string,
  parts: UcmaParts<Q, R>,
): UcmaCommand<Q, R> => command(UcmaCommandNumber.valueOf(name), name, meaning, parts);

const upTo = <F extends Fields>(layout: Struct<F>, ...names: (keyof F & string)[]): UcmaForm<F> =>
  endingAt(layout, ...names.map((name) => layout.offsetOf(name)));

const addresses = upTo(linux.rdmaUcmQueryAddrResp, 'ibdev_index');

const queryAnswers: UcmaAnswers = {
  member: 'option',
  byValue: new Map<number, UcmaForm>([
    [UcmaQueryOption.valueOf('ADDR'), addresses],
    [
      UcmaQueryOption.valueOf('PATH'),
      withList(linux.rdmaUcmQueryPathResp, 'path_data', 'num_paths', ibvPathData),
    ],
    [UcmaQueryOption.valueOf('GID'), addresses],
    [
      UcmaQueryOption.valueOf('IB_SERVICE'),
      withList(linux.rdmaUcmQueryIbServiceResp, 'recs', 'num_service_recs', linux.ibUserServiceRec),
    ],
  ]),
};

const WITH_AF_IB = 'Linux 3.11';
const OF_2025 = 'a kernel of late 2025';

export const LINUX = {
  CREATE_ID: named('CREATE_ID', 'makes an id', {
    request: whole(linux.rdmaUcmCreateId),
    response: whole(shared.rdmaUcmCreateIdResp),
    brief: (field) => `port space ${field('ps')}`,
  }),
  DESTROY_ID: named('DESTROY_ID', 'destroys an id', {
    request: whole(shared.rdmaUcmDestroyId),
    response: whole(shared.rdmaUcmDestroyIdResp),
    brief: idOnly,
  }),
  BIND_IP: named('BIND_IP', 'binds an id to an IP address and a port', {
    request: whole(linux.rdmaUcmBindIp),
    brief: (field) => `id=${field('id')} ${field('addr')}`,
  }),
  RESOLVE_IP: named('RESOLVE_IP', 'starts the resolution of an IP address', {
    request: whole(linux.rdmaUcmResolveIp),
    brief: (field) =>
      `id=${field('id')} ${field('src_addr')} -> ${field('dst_addr')} timeout ${field('timeout_ms')} ms`,
  }),
  RESOLVE_ROUTE: named('RESOLVE_ROUTE', 'starts the resolution of the route', {
    request: whole(shared.rdmaUcmResolveRoute),
    brief: (field) => `id=${field('id')} timeout ${field('timeout_ms')} ms`,
  }),
  QUERY_ROUTE: named('QUERY_ROUTE', 'asks for addresses, device and paths of an id', {
    request: whole(shared.rdmaUcmQueryRoute),
    response: upTo(linux.rdmaUcmQueryRouteResp, 'ibdev_index'),
    brief: idOnly,
  }),
  CONNECT: named('CONNECT', 'sends the request for a connection, or asks for the queue pair of a service', {
    request: upTo(linux.rdmaUcmConnect, 'ece'),
    brief: parameters,
  }),
  LISTEN: named('LISTEN', 'makes an id take requests', {
    request: whole(shared.rdmaUcmListen),
    brief: (field) => `id=${field('id')} backlog ${field('backlog')}`,
  }),
  ACCEPT: named('ACCEPT', 'accepts a request; with valid 0, the last step of a client', {
    request: upTo(linux.rdmaUcmAccept, 'ece'),
    brief: parameters,
  }),
  REJECT: named('REJECT', 'rejects a request', {
    request: whole(linux.rdmaUcmReject),
    brief: (field) =>
      `id=${field('id')} reason ${field('reason')} private data ${field('private_data_len')} bytes`,
  }),
  DISCONNECT: named('DISCONNECT', 'ends a connection, or answers that the peer ends it', {
    request: whole(shared.rdmaUcmDisconnect),
    brief: idOnly,
  }),
  INIT_QP_ATTR: named('INIT_QP_ATTR', 'asks for the attributes that move a queue pair on', {
    request: whole(shared.rdmaUcmInitQpAttr),
    response: whole(ibUverbsQpAttr),
    brief: (field) => `id=${field('id')} to ${field('qp_state')}`,
  }),
  GET_EVENT: named('GET_EVENT', 'takes an event; waits for one unless the descriptor is non-blocking', {
    request: whole(shared.rdmaUcmGetEvent),
    response: upTo(linux.rdmaUcmEventResp, 'reserved', 'ece'),
  }),
  GET_OPTION: named('GET_OPTION', 'has a number and nothing behind it: every kernel answers ENOSYS', {}),
  SET_OPTION: named('SET_OPTION', 'sets an option of an id', {
    request: whole(shared.rdmaUcmSetOption),
    brief: (field) =>
      `id=${field('id')} level ${field('level')} option ${field('optname')} ${field('optlen')} bytes`,
  }),
  NOTIFY: named('NOTIFY', 'tells of an event that the queue pair has had', {
    request: whole(shared.rdmaUcmNotify),
    brief: (field) => `id=${field('id')} event ${field('event')}`,
  }),
  JOIN_IP_MCAST: named('JOIN_IP_MCAST', 'starts to join a multicast group by an IP address', {
    request: whole(linux.rdmaUcmJoinIpMcast),
    response: whole(shared.rdmaUcmCreateIdResp),
    brief: (field) => `id=${field('id')} ${field('addr')}`,
  }),
  LEAVE_MCAST: named('LEAVE_MCAST', 'leaves a multicast group; its id is the number that the join answered', {
    request: whole(shared.rdmaUcmDestroyId),
    response: whole(shared.rdmaUcmDestroyIdResp),
    brief: idOnly,
  }),
  MIGRATE_ID: named('MIGRATE_ID', 'takes an id over from another descriptor', {
    request: whole(linux.rdmaUcmMigrateId),
    response: whole(linux.rdmaUcmMigrateResp),
    brief: (field) => `id=${field('id')} from fd ${field('fd')}`,
  }),
  QUERY: named('QUERY', 'asks for addresses, paths, GIDs or services of an id', {
    since: WITH_AF_IB,
    request: whole(linux.rdmaUcmQuery),
    answers: queryAnswers,
    brief: (field) => `id=${field('id')} ${field('option')}`,
  }),
  BIND: named('BIND', 'binds an id to an address of any family', {
    since: WITH_AF_IB,
    request: whole(linux.rdmaUcmBind),
    brief: (field) => `id=${field('id')} ${field('addr')}`,
  }),
  RESOLVE_ADDR: named('RESOLVE_ADDR', 'starts the resolution of an address of any family', {
    since: WITH_AF_IB,
    request: whole(linux.rdmaUcmResolveAddr),
    brief: (field) =>
      `id=${field('id')} ${field('src_addr')} -> ${field('dst_addr')} timeout ${field('timeout_ms')} ms`,
  }),
  JOIN_MCAST: named('JOIN_MCAST', 'starts to join a multicast group by an address of any family', {
    since: WITH_AF_IB,
    request: whole(linux.rdmaUcmJoinMcast),
    response: whole(shared.rdmaUcmCreateIdResp),
    brief: (field) => `id=${field('id')} ${field('addr')} ${field('join_flags')}`,
  }),
  RESOLVE_IB_SERVICE: named('RESOLVE_IB_SERVICE', 'starts to look up a service with subnet administration', {
    since: OF_2025,
    request: whole(linux.rdmaUcmResolveIbService),
    brief: (field) => `id=${field('id')} service ${field('ibs.service_id')}`,
  }),
  WRITE_CM_EVENT: named('WRITE_CM_EVENT', 'puts an event of the program into its own queue', {
    since: OF_2025,
    request: whole(linux.rdmaUcmWriteCmEvent),
    brief: (field) => `id=${field('id')} ${field('event')}`,
  }),
} as const satisfies Readonly<Record<UcmaCommandName, UcmaCommand>>;
