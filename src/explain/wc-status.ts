/** Completions that did not succeed, in words. ibv_poll_cq(3); IBTA volume 1, 10.10.3 and 11.6.2. */
import { WcStatus, type WcStatusName } from '../abi/verbs-work.ts';
import { Failure, type FailureCode } from './failure.ts';

interface Words {
  readonly meaning: string;
  readonly cause: string;
  readonly next: string;
}

/** What a status means. */
export interface WcStatusText extends Words {
  /** Whole C name; null for a number that is not known. */
  readonly name: string | null;
}

const NOT_USED = 'read the messages of the driver (dmesg), and update it and rdma-core';
const UNUSUAL = 'such requests or queue pairs are not in use today: a driver or a program has gone wrong';

const STATUSES: Readonly<Record<WcStatusName, Words>> = {
  SUCCESS: { meaning: 'done', cause: '', next: '' },
  LOC_LEN_ERR: {
    meaning: 'a message does not fit: what came is longer than the posted buffer, or what was sent too long',
    cause: 'the peer speaks another protocol or sends larger messages; a datagram is larger than the MTU',
    next: 'give both sides the same size (--size), and for datagrams no more than the active MTU (rdmatool query-device)',
  },
  LOC_QP_OP_ERR: {
    meaning: 'the device could not do the request on its queue pair',
    cause:
      'a kind of request that the queue pair does not do, or a fault inside the device; soft-RoCE says it too where it cannot send (the link is down, the route or the address gone), and where a message is longer than the posted buffer',
    next: 'look at the link and the route (ip link, ip route get ADDR); give both sides the same size and protocol; read the messages of the driver (dmesg)',
  },
  LOC_EEC_OP_ERR: {
    meaning: 'the end-to-end context (reliable datagrams) is inconsistent',
    cause: UNUSUAL,
    next: NOT_USED,
  },
  LOC_PROT_ERR: {
    meaning: 'the memory of the request is not registered for it on this side',
    cause:
      'wrong lkey or address, a length beyond the region, local write not allowed, or another protection domain; rping -s does this for a ping larger than its own -S',
    next: 'give rping -s at least the same size (-S)',
  },
  WR_FLUSH_ERR: {
    meaning: 'the request was given back undone, for the queue pair is in the error state',
    cause: 'an earlier request failed, or the connection has ended on one of the sides',
    next: 'look for the first failure, here or in the log of the peer; this one only follows from it',
  },
  MW_BIND_ERR: {
    meaning: 'a memory window was not bound',
    cause: 'the region does not allow windows, or the range is not within it',
    next: 'check the access flags of the region',
  },
  BAD_RESP_ERR: {
    meaning: 'an answer came that does not belong to the request',
    cause: 'the peer or the network is faulty, or two connections use the same queue pair number',
    next: 'look at the counters of both ports (rdmatool list, ip -s link), and update firmware and drivers',
  },
  LOC_ACCESS_ERR: {
    meaning: "the peer's write is not allowed by the memory on this side",
    cause: 'RDMA write with immediate data to a region without remote write',
    next: 'check the access flags of the region on this side',
  },
  REM_INV_REQ_ERR: {
    meaning: 'the peer found the request invalid',
    cause:
      'the message is longer than the buffer that the peer has posted, RDMA reads are not allowed (responder resources 0), or the queue pair does not do that',
    next: 'give both sides the same size; check --responder-resources and --initiator-depth',
  },
  REM_ACCESS_ERR: {
    meaning: "the peer's memory does not allow the RDMA read or write",
    cause:
      'a wrong rkey or address, a length beyond the region, or a region without remote read or write; a peer that speaks another protocol sent no memory address at all',
    next: 'make sure that the peer speaks the protocol of rping; read its log',
  },
  REM_OP_ERR: {
    meaning: 'the peer could not do the request',
    cause: 'a failure in its device or queue pair, such as a local protection error there',
    next: 'read the log of the peer and its dmesg; rping -s must have at least the same size (-S)',
  },
  RETRY_EXC_ERR: {
    meaning: 'the peer acknowledged none of the repeated packets',
    cause:
      'the peer or the link is down, the network loses packets, its address has moved, UDP 4791 is filtered (RoCE v2), or the paths differ in MTU or VLAN',
    next: 'ping the peer, look at the state of both ports (rdmatool list, ip link) and at switches and firewalls; --ack-timeout and --retry-count make it wait longer',
  },
  RNR_RETRY_EXC_ERR: {
    meaning: 'the peer had no receive buffer for the message, time and again',
    cause: 'the peer posts its receives too late or too few, or expects another protocol',
    next: 'raise --rnr-retry-count (7 is for ever); make sure that the peer speaks the same protocol',
  },
  LOC_RDD_VIOL_ERR: {
    meaning: 'the reliable datagram domains of queue pair and context differ',
    cause: UNUSUAL,
    next: NOT_USED,
  },
  REM_INV_RD_REQ_ERR: {
    meaning: 'the peer found a reliable datagram invalid',
    cause: UNUSUAL,
    next: NOT_USED,
  },
  REM_ABORT_ERR: {
    meaning: 'the peer aborted the request',
    cause: 'its application, or its device',
    next: 'read the log of the peer',
  },
  INV_EECN_ERR: { meaning: 'there is no such end-to-end context', cause: UNUSUAL, next: NOT_USED },
  INV_EEC_STATE_ERR: {
    meaning: 'the end-to-end context is not in a state for it',
    cause: UNUSUAL,
    next: NOT_USED,
  },
  FATAL_ERR: {
    meaning: 'the device reports a fatal error',
    cause: 'the device or its firmware has failed; it may have to be reset',
    next: 'read dmesg; unload and load its driver, or restart the machine',
  },
  RESP_TIMEOUT_ERR: {
    meaning: 'the answer did not come in time',
    cause: 'the peer or the network is too slow, or gone',
    next: 'ping the peer, and look at the state of both ports (rdmatool list)',
  },
  GENERAL_ERR: {
    meaning: 'a failure of another kind',
    cause: 'the vendor error code tells more, to the vendor',
    next: 'read dmesg, and look up the vendor error code',
  },
  TM_ERR: {
    meaning: 'a tag matching operation failed',
    cause: 'a tag list that is out of step or full',
    next: 'look at the tag matching limits (rdmatool query-device)',
  },
  TM_RNDV_INCOMPLETE: {
    meaning: 'a tagged message came, but its data is still to be fetched by software',
    cause: 'the device could not do the rendezvous by itself',
    next: 'nothing has failed: the application must fetch the data',
  },
};

/** @param status an ibv_wc_status */
export function wcStatusText(status: number): WcStatusText {
  const name = WcStatus.nameOf(status);
  if (name !== null) return { name: WcStatus.prefix + name, ...STATUSES[name] };
  return {
    name: null,
    meaning: 'a status that is not known here',
    cause: 'a library newer than this program',
    next: 'see ibv_poll_cq(3) of the library',
  };
}

/** Statuses that mean that nobody answered. */
const SILENCE: readonly (WcStatusName | null)[] = ['RETRY_EXC_ERR', 'RESP_TIMEOUT_ERR'];

/**
 * The failure of a completion.
 * @param what was asked for and where: `ping 3 of 10 to 10.9.1.1:7174: SEND`
 */
export function completionFailure(what: string, status: number, vendorError: number): Failure {
  const { name, meaning, cause, next } = wcStatusText(status);
  const code: FailureCode = SILENCE.includes(WcStatus.nameOf(status)) ? 'UNREACHABLE' : 'COMPLETION_FAILED';
  const vendor = vendorError === 0 ? '' : `, vendor error 0x${vendorError.toString(16)}`;
  return new Failure(
    code,
    `${what}: ${name ?? 'completion status'} (${status}${vendor}): ${meaning}`,
    `likely: ${cause}. ${next}`,
  );
}
