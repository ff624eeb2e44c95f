/** Why a peer rejects: the reasons of the InfiniBand CM's REJ message (IBTA, volume 1, chapter 12). */

/** A code with what a person needs to know of it. */
export interface CodeExplanation {
  readonly name: string;
  readonly meaning: string;
  /** What it most often comes from. */
  readonly cause: string;
  /** What to do next. */
  readonly next: string;
}

const RETRY = 'try again; if it stays, look at the peer and at the path between (rdmatool cm resolve)';
const FABRIC =
  'the path that was resolved does not suit the peer: look at its device (rdmatool query-device there) and at the subnet manager';
const COMPARE = 'compare both devices with rdmatool query-device';

const reason = (name: string, meaning: string, cause: string, next: string): CodeExplanation => ({
  name,
  meaning,
  cause,
  next,
});

const invalidPathValue = (what: string, alternate = false): CodeExplanation =>
  reason(
    `INVALID_${alternate ? 'ALT_' : ''}${what.toUpperCase().replaceAll(' ', '_')}`,
    `the peer does not accept the ${what} of the ${alternate ? 'alternate ' : ''}path`,
    'the path record or the GID table has changed, or a switch or router between changes the value',
    FABRIC,
  );

/** By number; 34 is not assigned. */
export const REJECT_REASONS: ReadonlyMap<number, CodeExplanation> = new Map([
  [
    1,
    reason(
      'NO_QP',
      'the peer has no queue pair left',
      'the limit of queue pairs of its device or process is reached',
      'end what holds queue pairs there: rdma resource show qp; the limit is max_qp of rdmatool query-device -v',
    ),
  ],
  [
    2,
    reason('NO_EEC', 'the peer has no end-to-end context left', 'reliable datagrams are not in use', RETRY),
  ],
  [
    3,
    reason(
      'NO_RESOURCES',
      'the peer lacks a resource',
      'memory, the locked memory limit, or a limit of its device',
      'look at dmesg, ulimit -l and rdma resource on the peer',
    ),
  ],
  [
    4,
    reason(
      'TIMEOUT',
      'the peer waited in vain for the rest of the handshake',
      'messages are lost on the way, or this side was too slow',
      RETRY,
    ),
  ],
  [
    5,
    reason(
      'UNSUPPORTED',
      'the peer does not support what was asked for',
      'a feature or transport type that its device lacks',
      COMPARE,
    ),
  ],
  [
    6,
    reason(
      'INVALID_COMM_ID',
      'the peer does not know the communication ID',
      'one side restarted in the middle of the handshake',
      RETRY,
    ),
  ],
  [
    7,
    reason(
      'INVALID_COMM_INSTANCE',
      'the pair of communication IDs is not one that the peer knows',
      'one side restarted in the middle of the handshake',
      RETRY,
    ),
  ],
  [
    8,
    reason(
      'INVALID_SERVICE_ID',
      'nobody listens on that port at the peer, in that port space',
      'the server is not running, listens on another port, another address or in another port space (--ps)',
      'start the server, or look for its port there: rdma resource show cm_id',
    ),
  ],
  [
    9,
    reason(
      'INVALID_TRANSPORT_TYPE',
      'the peer does not serve that transport type',
      'one side asks for RC where the other has another type of queue pair',
      'use the same port space (--ps) on both sides',
    ),
  ],
  [
    10,
    reason(
      'STALE_CONN',
      'the peer still has a connection with this queue pair number',
      'an earlier process here ended without a goodbye, and the peer has not noticed',
      'try again: the peer drops the old connection now; if it stays, restart the server',
    ),
  ],
  [
    11,
    reason(
      'RDC_NOT_EXIST',
      'the reliable datagram channel does not exist',
      'reliable datagrams are not in use',
      RETRY,
    ),
  ],
  [12, invalidPathValue('GID')],
  [13, invalidPathValue('LID')],
  [14, invalidPathValue('SL')],
  [15, invalidPathValue('traffic class')],
  [16, invalidPathValue('hop limit')],
  [17, invalidPathValue('packet rate')],
  [18, invalidPathValue('GID', true)],
  [19, invalidPathValue('LID', true)],
  [20, invalidPathValue('SL', true)],
  [21, invalidPathValue('traffic class', true)],
  [22, invalidPathValue('hop limit', true)],
  [23, invalidPathValue('packet rate', true)],
  [
    24,
    reason(
      'PORT_CM_REDIRECT',
      'the connection manager of another port shall be asked',
      'the peer is a gateway, or has several ports',
      'connect to the address of the other port',
    ),
  ],
  [
    25,
    reason(
      'PORT_REDIRECT',
      'the connection shall go to another port',
      'the peer is a gateway, or has several ports',
      'connect to the address of the other port',
    ),
  ],
  [
    26,
    reason(
      'INVALID_MTU',
      'the peer does not accept the MTU of the path',
      'the MTU is larger than what the port of the peer has in force',
      'compare active_mtu on both sides: rdmatool query-device; set the same MTU on both links',
    ),
  ],
  [
    27,
    reason(
      'INSUFFICIENT_RESP_RESOURCES',
      'the peer has too few responder resources',
      'more RDMA reads under way are asked for than it can answer',
      'ask for less: --initiator-depth; the limit is max_qp_rd_atom of rdmatool query-device -v there',
    ),
  ],
  [
    28,
    reason(
      'CONSUMER_DEFINED',
      'the application on the other side said no',
      'its own decision (see its private data), or its accept failed: private data too long, more resources than its device has',
      'read the log of the application on the peer',
    ),
  ],
  [
    29,
    reason(
      'INVALID_RNR_RETRY',
      'the peer does not accept the RNR retry count',
      'its device cannot retry that often',
      'try another --rnr-retry-count, 0 to 7',
    ),
  ],
  [
    30,
    reason(
      'DUPLICATE_LOCAL_COMM_ID',
      'the peer has a connection with that communication ID',
      'a message came twice, or an earlier connection is not over yet',
      RETRY,
    ),
  ],
  [
    31,
    reason(
      'INVALID_CLASS_VERSION',
      'the peer speaks another version of the connection manager',
      'an old or foreign implementation on the other side',
      'compare the kernels of both machines',
    ),
  ],
  [32, invalidPathValue('flow label')],
  [33, invalidPathValue('flow label', true)],
  [
    35,
    reason(
      'VENDOR_OPTION_NOT_SUPPORTED',
      'the peer does not support the enhanced connection options (ECE)',
      'devices of different vendors or firmware, or an application that used rdma_reject_ece',
      'compare vendor and firmware on both sides: rdmatool query-device',
    ),
  ],
]);
