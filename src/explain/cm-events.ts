/** Every event of the connection manager with every status that it can carry, in words. */
import { type CmEventName, CmEventType, type PortSpaceName } from '../abi/rdmacm-codes.ts';
import { TransportType } from '../abi/verbs-codes.ts';
import { type CodeExplanation, REJECT_REASONS } from './cm-reject-reasons.ts';
import { SIDR_STATUSES } from './cm-sidr-statuses.ts';
import { errnoName, errnoText, errnoValue } from './errno.ts';
import { Failure, type FailureCode } from './failure.ts';

/** An event and where it happened. */
export interface CmOccurrence {
  readonly event: number;
  /** A negative errno, 0, or a positive code of the transport. */
  readonly status: number;
  readonly portSpace: PortSpaceName;
  /** enum ibv_transport_type; null where no device is known yet. */
  readonly transport: number | null;
  readonly device: string | null;
  /** `10.9.0.1:40000`; null where it is not known. */
  readonly local: string | null;
  readonly peer: string | null;
}

/** What an event means. */
export interface CmExplanation {
  /** Whole C name, or `event 42`. */
  readonly event: string;
  /** The name of the status, null where it is 0. */
  readonly status: string | null;
  readonly meaning: string;
  readonly cause: string;
  readonly next: string;
  /** null: not a failure. */
  readonly code: FailureCode | null;
}

const isDatagram = (portSpace: PortSpaceName): boolean => portSpace === 'UDP' || portSpace === 'IPOIB';
const isIwarp = (transport: number | null): boolean => transport === TransportType.valueOf('IWARP');

interface Words {
  readonly meaning: string;
  readonly cause: string;
  readonly next: string;
}

const NO_DEVICE: Words = {
  meaning: 'there is no RDMA device behind that address here',
  cause:
    'the route to the peer leaves through a network device without RDMA (loopback too), a container lacks the device, or the device is an EFA, which has no connection manager',
  next: 'see which network devices have RDMA: rdmatool list; choose the source with --bind ADDR',
};
const IPOIB_ELSEWHERE: Words = {
  meaning: 'port space ipoib needs an InfiniBand port, and the address is behind another link layer',
  cause: 'the device is RoCE or iWARP',
  next: 'use --ps udp there; rdmatool list shows the link layers',
};
const NO_NEIGHBOUR: Words = {
  meaning: 'the neighbour on the way did not answer',
  cause:
    'no ARP or neighbour discovery answer: the peer is down, the address wrong, a VLAN or a cable missing',
  next: 'ping the address through the same network device (ping -I), and look at ip neigh; raise --timeout for a slow one',
};
const NO_ROUTE: Words = {
  meaning: 'the network has no way to that address',
  cause: 'no route, or the network device is down',
  next: 'ip route get ADDR, ip link',
};
const SILENT_PEER: Words = {
  meaning: 'the peer did not answer any of the requests',
  cause:
    'it is down, UDP port 4791 is filtered (RoCE v2), the path loses packets, or no connection manager runs there (module rdma_cm)',
  next: 'ping the peer; look for a firewall on UDP 4791; rdmatool list on the peer',
};
const unknownStatus = (what: string): Words => ({
  meaning: `${what}, with a status that has no usual cause`,
  cause: 'see the number',
  next: 'dmesg on both sides',
});

const ADDRESS_ERRORS: Readonly<Record<string, Words>> = {
  ENODEV: NO_DEVICE,
  ETIMEDOUT: NO_NEIGHBOUR,
  ENETUNREACH: NO_ROUTE,
  EHOSTUNREACH: NO_NEIGHBOUR,
  EADDRNOTAVAIL: {
    meaning: 'the source address is not one of this machine, or has no GID',
    cause: 'the address was removed, or the GID table of the port has no entry for it yet',
    next: 'rdmatool query-device shows the GIDs; ip addr the addresses',
  },
  EINVAL: {
    meaning: 'the two addresses do not go together',
    cause: 'different address families, a multicast address, or a link-local address without its scope',
    next: 'give both addresses in one family, a link-local one as ADDR%DEVICE',
  },
  // librdmacm's own -1: the event came and its device could not be opened.
  EPERM: {
    meaning: 'librdmacm could not open the device that the kernel chose',
    cause: 'its node /dev/infiniband/uverbsN is missing or may not be opened, or its node GUID is 0',
    next: 'rdmatool list says which device cannot be opened, and why',
  },
};

const ROUTE_ERRORS: Readonly<Record<string, Words>> = {
  ...ADDRESS_ERRORS,
  ETIMEDOUT: {
    meaning: 'no path to the peer was found in time',
    cause: 'InfiniBand: the subnet administrator does not answer; else the network is slow',
    next: 'sminfo, and the log of opensm; raise --timeout',
  },
  EHOSTUNREACH: {
    meaning: 'the subnet administrator knows no path to the peer',
    cause: 'the peer is not in this partition or subnet, or its port is down',
    next: 'compare the P_Keys of both ports: rdmatool query-device; ask the subnet manager',
  },
};

const CONNECT_ERRORS: Readonly<Record<string, Words>> = {
  ECONNREFUSED: {
    meaning: 'the peer refused the connection',
    cause: 'nobody listens on that port, or the application closed it',
    next: 'start the server, or look for its port there: rdma resource show cm_id',
  },
  ECONNRESET: {
    meaning: 'the connection was reset during the handshake',
    cause: 'over iWARP the application rejected, or the private data was longer than the driver takes',
    next: 'read the log of the application on the peer',
  },
  ETIMEDOUT: SILENT_PEER,
  ENODEV: NO_DEVICE,
  EINVAL: {
    meaning: 'the queue pair could not be moved to the state that the handshake needs',
    cause:
      'parameters beyond what the device can (--responder-resources, --initiator-depth), or a path that it does not take',
    next: 'dmesg; rdmatool query-device -v shows the limits; try smaller values',
  },
  ENOMEM: {
    meaning: 'memory or another resource ran out during the handshake',
    cause: 'the locked memory limit, or a limit of the device',
    next: 'ulimit -l; rdma resource',
  },
  EPERM: {
    meaning: 'librdmacm could not move the queue pair on after the answer of the peer',
    cause: 'parameters that the device does not take',
    next: 'dmesg; try smaller values of --responder-resources and --initiator-depth',
  },
};

const PLAIN: Readonly<Partial<Record<CmEventName, Words>>> = {
  ADDR_RESOLVED: {
    meaning: 'the address is resolved: device, port and source address are known',
    cause: '',
    next: 'resolve the route',
  },
  ROUTE_RESOLVED: { meaning: 'the path to the peer is known', cause: '', next: 'connect' },
  CONNECT_REQUEST: { meaning: 'a peer asks for a connection', cause: '', next: 'accept or reject it' },
  CONNECT_RESPONSE: {
    meaning: 'the peer accepted; the third message of the handshake is still to be sent',
    cause: '',
    next: 'establish',
  },
  ESTABLISHED: { meaning: 'the connection stands', cause: '', next: '' },
  DISCONNECTED: {
    meaning: 'the connection has ended',
    cause: 'one side disconnected, or its process ended',
    next: 'disconnect on this side too',
  },
  MULTICAST_JOIN: { meaning: 'the multicast group has been joined', cause: '', next: '' },
  ADDR_CHANGE: {
    meaning: 'the network address of this id moved to other hardware',
    cause: 'a bonding failover, or the MAC address was changed',
    next: 'connect again: this connection still uses the old path',
  },
  TIMEWAIT_EXIT: {
    meaning: 'the queue pair may be used again: no late packet of the old connection can come any more',
    cause: '',
    next: '',
  },
  ADDRINFO_RESOLVED: {
    meaning: 'the name of the service is resolved',
    cause: '',
    next: 'resolve the address',
  },
  USER: { meaning: 'the program sent this event to itself', cause: '', next: '' },
  INTERNAL: { meaning: 'an event that libraries send themselves', cause: '', next: '' },
};

/** Explains an event, whatever its number and status. */
export function explainCmEvent(occurrence: CmOccurrence): CmExplanation {
  const { event, status } = occurrence;
  const name = CmEventType.nameOf(event);
  const shown = name === null ? `event ${event}` : CmEventType.prefix + name;
  const statusText = statusName(occurrence);
  const result = (words: Words, code: FailureCode | null): CmExplanation => ({
    event: shown,
    status: statusText,
    ...words,
    code,
  });
  const byErrno = (table: Readonly<Record<string, Words>>, what: string): Words =>
    table[errnoName(-status)] ?? unknownStatus(what);
  switch (name) {
    case 'ADDR_ERROR':
      if (occurrence.portSpace === 'IPOIB' && errnoName(-status) === 'EINVAL') {
        return result(IPOIB_ELSEWHERE, 'CM_EVENT_FAILED');
      }
      return result(byErrno(ADDRESS_ERRORS, 'the address was not resolved'), codeOfErrno(status));
    case 'ROUTE_ERROR':
      return result(byErrno(ROUTE_ERRORS, 'the route was not resolved'), codeOfErrno(status));
    case 'CONNECT_ERROR':
      return result(byErrno(CONNECT_ERRORS, 'the connection failed'), codeOfErrno(status));
    case 'MULTICAST_ERROR':
      return result(
        {
          meaning: 'the multicast group was not joined, or was lost',
          cause: 'the subnet administrator refused or did not answer, or the port went down',
          next: 'look at the state of the port (rdmatool list) and at the subnet manager',
        },
        codeOfErrno(status),
      );
    case 'ADDRINFO_ERROR':
      return result(
        {
          meaning: 'the name of the service was not resolved',
          cause: 'the subnet administrator knows no such service, or does not answer',
          next: 'look at the subnet manager and its service records',
        },
        codeOfErrno(status),
      );
    case 'UNREACHABLE':
      if (status > 0) return result(positiveCode(SIDR_STATUSES, status), 'REJECTED');
      if (errnoName(-status) === 'ETIMEDOUT') return result(SILENT_PEER, 'UNREACHABLE');
      return result(byErrno(CONNECT_ERRORS, 'the peer cannot be reached'), 'UNREACHABLE');
    case 'REJECTED':
      return result(
        status < 0 || isIwarp(occurrence.transport)
          ? byErrno(CONNECT_ERRORS, 'the peer rejected')
          : positiveCode(REJECT_REASONS, status),
        'REJECTED',
      );
    case 'DEVICE_REMOVAL':
      return result(
        {
          meaning: 'the RDMA device behind this id is going away',
          cause:
            'its driver is being unloaded, the device was unplugged or reset, or rdma link del was called',
          next: 'see dmesg; rdmatool list shows what is left',
        },
        'DEVICE_REMOVED',
      );
    case 'DISCONNECTED':
      if (errnoName(-status) === 'ETIMEDOUT') {
        return result(
          {
            meaning: 'the connection has ended without an answer of the peer to the goodbye',
            cause: 'the peer has not disconnected on its side, or is gone',
            next: 'nothing: the connection is gone; the peer should call rdma_disconnect too',
          },
          null,
        );
      }
      break;
    case null:
      return result(unknownStatus(`event ${event} is not known to this rdmatool`), null);
    default:
      break;
  }
  const words = PLAIN[name] ?? unknownStatus('an event');
  return result(words, status === 0 ? null : 'CM_EVENT_FAILED');
}

function positiveCode(table: ReadonlyMap<number, CodeExplanation>, status: number): Words {
  return table.get(status) ?? unknownStatus('the peer refused');
}

/** `INVALID_SERVICE_ID` for a reason, `ENODEV` for a negative status, null for 0. */
export function statusName({ event, status, portSpace }: CmOccurrence): string | null {
  if (status === 0) return null;
  if (status < 0) return errnoName(-status);
  const name = CmEventType.nameOf(event);
  const table = name === 'UNREACHABLE' || isDatagram(portSpace) ? SIDR_STATUSES : REJECT_REASONS;
  return table.get(status)?.name ?? null;
}

function codeOfErrno(status: number): FailureCode {
  switch (errnoName(-status)) {
    case 'ENODEV':
      return 'NO_DEVICE';
    case 'ETIMEDOUT':
      return 'TIMED_OUT';
    case 'ENETUNREACH':
    case 'EHOSTUNREACH':
      return 'NO_ROUTE';
    default:
      return 'CM_EVENT_FAILED';
  }
}

/** `10.9.0.1:40000 (rxe0) to 10.9.1.1:7174`, as far as it is known. */
export function connectionText({
  local,
  peer,
  device,
}: Pick<CmOccurrence, 'local' | 'peer' | 'device'>): string {
  const here = `${local ?? 'this machine'}${device === null ? '' : ` (${device})`}`;
  return peer === null ? here : `${here} to ${peer}`;
}

/** The failure that an event is, null where it is none. */
export function cmEventFailure(occurrence: CmOccurrence): Failure | null {
  const explained = explainCmEvent(occurrence);
  if (explained.code === null) return null;
  const status =
    occurrence.status < 0
      ? errnoText(-occurrence.status)
      : `${occurrence.event === CmEventType.valueOf('REJECTED') ? 'reason' : 'status'} ${occurrence.status}${explained.status === null ? '' : ` ${explained.status}`}`;
  return new Failure(
    explained.code,
    `${connectionText(occurrence)}: ${explained.event} (${occurrence.event}), ${status}: ${explained.meaning}`,
    [explained.cause && `likely: ${explained.cause}`, explained.next].filter(Boolean).join('. '),
    { errno: occurrence.status < 0 ? errnoValue(-occurrence.status) : null },
  );
}
