/** Operations that make and end connections and multicast memberships. */
import { CmEventType } from '../../abi/rdmacm-codes.ts';
import { EventType } from '../../abi/verbs-codes.ts';
import { Failure } from '../../explain/failure.ts';
import { DEFAULT_PORT } from '../address.ts';
import { checkPrivateData } from '../private-data.ts';
import { REASON_CONSUMER, SENDABLE_REASONS } from '../reject-reasons.ts';
import { operation } from './operation.ts';
import {
  ADDRESS,
  DATA,
  DURATION,
  enumerated,
  ID,
  INTEGER_64,
  integer,
  one,
  option,
  optional,
  optionOr,
  type Parameter,
  text,
  toggle,
  WordError,
} from './parameters.ts';
import type { Stage } from './stage.ts';

/** Time for the address and for the route, as rping, ucmatose and cmtime give them. */
const RESOLVE_MS = 2000;
const LARGEST_QP_NUM = 0xffffff;
const BYTE = integer(0, 255);

export const resolveAddr = operation({
  name: 'resolve-addr',
  does: `find device and neighbour of an address (rdma_resolve_addr); ends in ADDR_RESOLVED; port ${DEFAULT_PORT} unless given`,
  positional: { id: one(ID), address: one(ADDRESS) },
  options: { from: option('--from', ADDRESS), timeout: optionOr('--timeout', DURATION, RESOLVE_MS) },
  async run({ id, address, from, timeout }, stage) {
    const peer = await stage.address(address, DEFAULT_PORT);
    const source = from && (await stage.address(from, 0, peer));
    await stage.id(id).resolveAddr(source, peer, timeout);
    return null;
  },
});

export const resolveRoute = operation({
  name: 'resolve-route',
  does: 'find the path to the peer (rdma_resolve_route); ends in ROUTE_RESOLVED',
  positional: { id: one(ID) },
  options: { timeout: optionOr('--timeout', DURATION, RESOLVE_MS) },
  async run({ id, timeout }, stage) {
    await stage.id(id).resolveRoute(timeout);
    return null;
  },
});

const HANDSHAKE = {
  data: option('--private-data', DATA),
  responderResources: option('--responder-resources', BYTE),
  initiatorDepth: option('--initiator-depth', BYTE),
  rnrRetryCount: optionOr('--rnr-retry-count', integer(0, 7), 7),
  qpNum: optionOr('--qp-num', integer(0, LARGEST_QP_NUM), 0),
  flowControl: toggle('--flow-control'),
  srq: toggle('--srq'),
};

const NO_DATA = new Uint8Array();

function checked(
  data: Uint8Array | null,
  message: 'connect' | 'accept' | 'reject',
  id: string,
  stage: Stage,
): Uint8Array {
  const found = stage.id(id);
  if (data === null || found.state === 'destroyed') return NO_DATA;
  checkPrivateData(data, message, found.portSpace, found.route().peer?.family ?? 'ipv4');
  return data;
}

export const connect = operation({
  name: 'connect',
  does: 'send the request (rdma_connect); ends in ESTABLISHED, without a queue pair in CONNECT_RESPONSE, or in REJECTED, UNREACHABLE, CONNECT_ERROR',
  positional: { id: one(ID) },
  options: { ...HANDSHAKE, retryCount: optionOr('--retry-count', integer(0, 7), 7) },
  async run({ id, data, ...values }, stage) {
    await stage.id(id).connect(
      {
        responder_resources: values.responderResources ?? 1,
        initiator_depth: values.initiatorDepth ?? 1,
        flow_control: values.flowControl ? 1 : 0,
        retry_count: values.retryCount,
        rnr_retry_count: values.rnrRetryCount,
        srq: values.srq ? 1 : 0,
        qp_num: values.qpNum,
      },
      checked(data, 'connect', id, stage),
    );
    return null;
  },
});

export const listen = operation({
  name: 'listen',
  does: 'wait for requests (rdma_listen); each comes as CONNECT_REQUEST',
  positional: { id: one(ID) },
  options: { backlog: optionOr('--backlog', integer(0, 0x7fffffff), 128) },
  async run({ id, backlog }, stage) {
    await stage.id(id).listen(backlog);
    return null;
  },
});

export const accept = operation({
  name: 'accept',
  does: 'answer a request with yes (rdma_accept); what is not given is as the peer asked',
  positional: { id: one(ID) },
  options: HANDSHAKE,
  async run({ id, data, ...values }, stage) {
    const found = stage.id(id);
    const asked = stage.request(found);
    await found.accept(
      {
        responder_resources: values.responderResources ?? asked?.responder_resources ?? 0,
        initiator_depth: values.initiatorDepth ?? asked?.initiator_depth ?? 0,
        flow_control: values.flowControl ? 1 : 0,
        retry_count: asked?.retry_count ?? 7,
        rnr_retry_count: values.rnrRetryCount,
        srq: values.srq ? 1 : 0,
        qp_num: values.qpNum,
      },
      checked(data, 'accept', id, stage),
    );
    return null;
  },
});

/** The kernel lets these two pass. */
const REASON: Parameter<number> = {
  placeholder: SENDABLE_REASONS.join('|'),
  parse(word) {
    if (SENDABLE_REASONS.some((reason) => String(reason) === word)) return Number(word);
    throw new WordError(`reason ${word} cannot be sent`, '28 is the application, 35 a vendor option');
  },
};

export const reject = operation({
  name: 'reject',
  does: 'answer a request with no (rdma_reject; reason 35 with rdma_reject_ece, rdma-core 31)',
  positional: { id: one(ID) },
  options: { reason: optionOr('--reason', REASON, REASON_CONSUMER), data: option('--private-data', DATA) },
  async run({ id, reason, data }, stage) {
    await stage.id(id).reject(reason, checked(data, 'reject', id, stage));
    return null;
  },
});

export const establish = operation({
  name: 'establish',
  does: 'send the third message, without a queue pair (rdma_establish, rdma-core 23)',
  positional: { id: one(ID) },
  options: {},
  async run({ id }, stage) {
    await stage.id(id).establish();
    return null;
  },
});

export const disconnect = operation({
  name: 'disconnect',
  does: 'end a connection (rdma_disconnect); both sides do; ends in DISCONNECTED',
  positional: { id: one(ID) },
  options: {},
  async run({ id }, stage) {
    await stage.id(id).disconnect();
    return null;
  },
});

export const notify = operation({
  name: 'notify',
  does: 'pass an event of the queue pair on, COMM_EST where data came before the third message (rdma_notify)',
  positional: { id: one(ID), event: one(enumerated(EventType, 'EVENT')) },
  options: {},
  async run({ id, event }, stage) {
    await stage.id(id).notify(event);
    return null;
  },
});

export const joinMcast = operation({
  name: 'join-mcast',
  does: 'join a multicast group (rdma_join_multicast; rdma_join_multicast_ex to send only); ends in MULTICAST_JOIN',
  positional: { id: one(ID), group: one(ADDRESS) },
  options: { sendOnly: toggle('--send-only') },
  async run({ id, group, sendOnly }, stage) {
    await stage.id(id).joinMulticast(await stage.address(group, 0), sendOnly);
    return null;
  },
});

export const leaveMcast = operation({
  name: 'leave-mcast',
  does: 'leave a multicast group (rdma_leave_multicast)',
  positional: { id: one(ID), group: one(ADDRESS) },
  options: {},
  async run({ id, group }, stage) {
    await stage.id(id).leaveMulticast(await stage.address(group, 0));
    return null;
  },
});

const WORD_32 = integer(0, 0xffffffff);
const hexadecimal = (value: number): string => `0x${value.toString(16)}`;

export const setLocalEce = operation({
  name: 'set-local-ece',
  does: "options of a vendor's own, for the handshake without a queue pair (rdma_set_local_ece, rdma-core 31)",
  positional: { id: one(ID) },
  options: {
    vendorId: optionOr('--vendor-id', integer(1, 0xffffffff), 0),
    options: optionOr('--options', WORD_32, 0),
  },
  async run({ id, vendorId, options }, stage) {
    if (vendorId === 0) {
      throw new Failure(
        'USAGE',
        'set-local-ece: there is no vendor',
        'give its number (IEEE OUI): --vendor-id N',
      );
    }
    await stage.id(id).setLocalEce({ vendor_id: vendorId, options });
    return { vendor_id: hexadecimal(vendorId), options: hexadecimal(options) };
  },
});

export const getRemoteEce = operation({
  name: 'get-remote-ece',
  does: 'what the peer sent of such options (rdma_get_remote_ece, rdma-core 31)',
  positional: { id: one(ID) },
  options: {},
  async run({ id }, stage) {
    const { vendor_id, options } = await stage.id(id).remoteEce();
    return { vendor_id: hexadecimal(vendor_id), options: hexadecimal(options) };
  },
});

export const resolveAddrinfo = operation({
  name: 'resolve-addrinfo',
  does: 'look up a name or an InfiniBand service (rdma_resolve_addrinfo: rdma-core 60, and a kernel of 2025 or newer); ends in ADDRINFO_RESOLVED',
  positional: { id: one(ID), node: one(text('NODE')), service: optional(text('SERVICE')) },
  options: {},
  async run({ id, node, service }, stage) {
    await stage.id(id).resolveAddrinfo(node, service);
    return null;
  },
});

export const writeCmEvent = operation({
  name: 'write-cm-event',
  does: "put an event of one's own into the channel (rdma_write_cm_event: rdma-core 60, and a kernel of 2025 or newer)",
  positional: { id: one(ID), event: one(enumerated(CmEventType, 'EVENT')) },
  options: {
    status: optionOr('--status', integer(-0x80000000, 0x7fffffff), 0),
    argument: optionOr('--argument', INTEGER_64, 0n),
  },
  async run({ id, event, status, argument }, stage) {
    await stage.id(id).writeCmEvent(event, status, argument);
    return null;
  },
});
