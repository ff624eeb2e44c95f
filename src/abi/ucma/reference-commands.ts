/** The commands of the reference edition, by the names of its document. */
import { ibUverbsQpAttr } from '../verbs-qp.ts';
import { idOnly, parameters } from './briefs.ts';
import { command, type UcmaCommand, whole } from './command.ts';
import * as reference from './reference.ts';
import * as shared from './shared.ts';

/**
 * The same number is not the same name as in Linux: BIND_ADDR, RESOLVE_ADDR and JOIN_MCAST have the numbers of
 * Linux's BIND_IP, RESOLVE_IP and JOIN_IP_MCAST.
 */
export const REFERENCE: readonly UcmaCommand[] = [
  command(0, 'CREATE_ID', 'makes an id', {
    request: whole(reference.referenceCreateId),
    response: whole(shared.rdmaUcmCreateIdResp),
    brief: (field) => `port space ${field('ps')}`,
  }),
  command(1, 'DESTROY_ID', 'destroys an id', {
    request: whole(shared.rdmaUcmDestroyId),
    response: whole(shared.rdmaUcmDestroyIdResp),
    brief: idOnly,
  }),
  command(2, 'BIND_ADDR', 'binds an id to an address and a port', {
    request: whole(reference.referenceBindAddr),
    brief: (field) => `id=${field('id')} ${field('addr')}`,
  }),
  command(3, 'RESOLVE_ADDR', 'starts the resolution of an address', {
    request: whole(reference.referenceResolveAddr),
    brief: (field) =>
      `id=${field('id')} ${field('src_addr')} -> ${field('dst_addr')} timeout ${field('timeout_ms')} ms`,
  }),
  command(4, 'RESOLVE_ROUTE', 'starts the resolution of the route', {
    request: whole(shared.rdmaUcmResolveRoute),
    brief: (field) => `id=${field('id')} timeout ${field('timeout_ms')} ms`,
  }),
  command(5, 'QUERY_ROUTE', 'asks for addresses, device and paths of an id', {
    request: whole(shared.rdmaUcmQueryRoute),
    response: whole(reference.referenceQueryRouteResp),
    brief: idOnly,
  }),
  command(6, 'CONNECT', 'sends the request for a connection, or asks for the queue pair of a service', {
    request: whole(reference.referenceConnect),
    brief: parameters,
  }),
  command(7, 'LISTEN', 'makes an id take requests', {
    request: whole(shared.rdmaUcmListen),
    brief: (field) => `id=${field('id')} backlog ${field('backlog')}`,
  }),
  command(8, 'ACCEPT', 'accepts a request; with valid 0, the last step of a client', {
    request: whole(reference.referenceAccept),
    brief: parameters,
  }),
  command(9, 'REJECT', 'rejects a request', {
    request: whole(reference.referenceReject),
    brief: (field) => `id=${field('id')} private data ${field('private_data_len')} bytes`,
  }),
  command(10, 'DISCONNECT', 'ends a connection, or answers that the peer ends it', {
    request: whole(shared.rdmaUcmDisconnect),
    brief: idOnly,
  }),
  command(11, 'INIT_QP_ATTR', 'asks for the attributes that move a queue pair on', {
    request: whole(shared.rdmaUcmInitQpAttr),
    response: whole(ibUverbsQpAttr),
    brief: (field) => `id=${field('id')} to ${field('qp_state')}`,
  }),
  command(12, 'GET_EVENT', 'takes an event', {
    request: whole(shared.rdmaUcmGetEvent),
    response: whole(reference.referenceEventResp),
  }),
  command(13, 'GET_OPTION', 'has a number in the header and no structure in the document', {}),
  command(14, 'SET_OPTION', 'sets an option of an id', {
    request: whole(shared.rdmaUcmSetOption),
    brief: (field) =>
      `id=${field('id')} level ${field('level')} option ${field('optname')} ${field('optlen')} bytes`,
  }),
  command(15, 'NOTIFY', 'tells of an event that the queue pair has had', {
    request: whole(shared.rdmaUcmNotify),
    brief: (field) => `id=${field('id')} event ${field('event')}`,
  }),
  command(16, 'JOIN_MCAST', 'starts to join a multicast group', {
    request: whole(reference.referenceJoinMcast),
    response: whole(shared.rdmaUcmCreateIdResp),
    brief: (field) => `id=${field('id')} ${field('addr')}`,
  }),
  command(17, 'LEAVE_MCAST', 'leaves a multicast group; its id is the number that the join answered', {
    request: whole(shared.rdmaUcmDestroyId),
    response: whole(shared.rdmaUcmDestroyIdResp),
    brief: idOnly,
  }),
];
