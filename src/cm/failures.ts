/** Calls of the connection manager that failed at once: what failed, why, and what to do next. */
import { constants } from 'node:os';
import type { PortSpaceName } from '../abi/rdmacm-codes.ts';
import type { SocketAddress } from '../abi/sockaddr.ts';
import { CGROUP_LIMIT } from '../explain/cgroup-limit.ts';
import { connectionText } from '../explain/cm-events.ts';
import { errnoName, errnoText, errnoValue } from '../explain/errno.ts';
import { Failure, type FailureCode } from '../explain/failure.ts';
import { MissingLibraryError, MissingSymbolError, NativeCallError } from '../native/errors.ts';
import type { Machine } from '../system/machine.ts';
import { DeadlineError } from '../waiting/deadline.ts';
import { endpointText, isLoopback } from './address.ts';
import { closedDevices, noLibrary } from './availability.ts';
import { refusalOf } from './kernel/refusals.ts';

const {
  EACCES,
  EAGAIN,
  EADDRINUSE,
  EADDRNOTAVAIL,
  EAFNOSUPPORT,
  ECONNREFUSED,
  EHOSTUNREACH,
  EINVAL,
  EMFILE,
  ENETUNREACH,
  ENODEV,
  ENOMEM,
  EPERM,
} = constants.errno;

/** The kernel's own, which rdma_join_multicast lets out. */
const ENOTSUPP = 524;

/** Where a call was made, as far as it is known. */
export interface Place {
  readonly step: string;
  readonly portSpace: PortSpaceName;
  readonly local: SocketAddress | null;
  readonly peer: SocketAddress | null;
  readonly device: string | null;
  readonly machine: Machine;
}

interface Words {
  readonly code: FailureCode;
  readonly meaning: string;
  readonly next: string;
}

/** The failure of a call. What is not the connection manager's is thrown on as it is. */
export function callFailed(error: unknown, place: Place): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof MissingLibraryError) return noLibrary(place.machine, error);
  if (error instanceof MissingSymbolError) {
    return new Failure(
      'NO_SYMBOL',
      `${place.step}: ${error.message}`,
      'update rdma-core (librdmacm), or do without this step',
      { cause: error },
    );
  }
  if (error instanceof DeadlineError) {
    return new Failure(
      'TIMED_OUT',
      `${where(place)}: ${error.message}`,
      'the driver or the kernel does not answer: see dmesg; raise --timeout for a slow one',
      { cause: error },
    );
  }
  if (!(error instanceof NativeCallError)) throw error;
  const refusal = refusalOf(error.call, error.errno);
  const { code, meaning, next } = refusal
    ? { code: 'CM_CALL_FAILED' as const, ...refusal }
    : wordsOf(error, place);
  return new Failure(
    code,
    `${where(place)}: ${error.call} failed: ${errnoText(error.errno)}${meaning === '' ? '' : `: ${meaning}`}`,
    next,
    { errno: errnoValue(error.errno), cause: error },
  );
}

const where = ({ local, peer, device }: Place): string =>
  connectionText({ local: local && endpointText(local), peer: peer && endpointText(peer), device });

function wordsOf({ call, errno }: NativeCallError, place: Place): Words {
  const { step, local, peer, machine } = place;
  const here = local === null ? 'the address' : local.address;
  switch (errno) {
    case EADDRNOTAVAIL:
      if (step === 'leave_mcast') {
        return {
          code: 'CM_CALL_FAILED',
          meaning: 'the id has not joined that group',
          next: 'leave the group that was joined, with the address that it was joined with',
        };
      }
      return {
        code: 'ADDRESS_NOT_LOCAL',
        meaning: `${here} is not an address of this machine`,
        next: 'ip addr shows the addresses; rdmatool query-device those that an RDMA device has as GIDs',
      };
    case EADDRINUSE:
      return {
        code: 'ADDRESS_IN_USE',
        meaning: `something here holds ${local === null ? 'it' : endpointText(local)} in port space ${place.portSpace.toLowerCase()} already`,
        next: 'rdma resource show cm_id names the process; use another port, or --reuse-addr where both sides set it',
      };
    case ENODEV: {
      const asked = step === 'bind_addr' ? local : (peer ?? local);
      // The unspecified address leads to loopback, too.
      const loopback = [asked, local].find((address) => address !== null && isLoopback(address)) ?? null;
      // The kernel itself does not ask who may open what.
      const ofLibrary = call.startsWith('rdma_');
      const closed = loopback === null && ofLibrary ? closedWords(machine) : null;
      if (closed)
        return {
          ...closed,
          meaning: `${closed.meaning}, and librdmacm leaves such devices out`,
        };
      return {
        code: 'NO_DEVICE',
        meaning: loopback
          ? `${loopback.address} is a loopback address, and no RDMA device serves those`
          : `no RDMA device here has ${asked === null ? 'that address' : asked.address}, or leads there`,
        next: loopback
          ? 'use the address of a network device that has RDMA, for both sides: rdmatool list, ip addr'
          : 'see which network devices have RDMA: rdmatool list; choose the source with --bind ADDR',
      };
    }
    case ENETUNREACH:
    case EHOSTUNREACH:
      return {
        code: 'NO_ROUTE',
        meaning: `the network has no way to ${peer === null ? 'the peer' : peer.address}`,
        next: 'ip route get ADDR, ip link',
      };
    case EACCES:
    case EPERM: {
      const closed = step === 'create_qp' ? closedWords(machine) : null;
      if (closed) return closed;
      return {
        code: 'NO_PERMISSION',
        meaning:
          step === 'bind_addr' && local !== null && local.port > 0 && local.port < 1024
            ? 'ports below 1024 are for root (CAP_NET_BIND_SERVICE)'
            : '',
        next: 'run as root, or use a port from 1024 on; ls -l /dev/infiniband',
      };
    }
    case ENOMEM:
      if (step === 'create_qp' || step === 'reg_mr') {
        return {
          code: 'MEMLOCK_LIMIT',
          meaning: `${step === 'reg_mr' ? 'registered memory is locked' : 'a queue pair locks memory'}, and this process may lock ${lockedMemoryLimit(machine)} (ulimit -l)`,
          next: 'raise the limit: ulimit -l unlimited; for a service LimitMEMLOCK=infinity; for users memlock in /etc/security/limits.conf. If it is high enough, the device is out of queue pairs: rdma resource',
        };
      }
      break;
    case EAGAIN:
      if (step !== 'create_qp' && step !== 'reg_mr') break;
      return { code: 'CM_CALL_FAILED', ...CGROUP_LIMIT };
    case ENOTSUPP:
      if (step !== 'join_multicast') break;
      return {
        code: 'CM_CALL_FAILED',
        meaning: 'the kernel does not join this group on such a port',
        next: 'on RoCE v1 and in older kernels groups of IPv6 are not to be had on every port: use an IPv4 group (239.0.0.0/8)',
      };
    case EMFILE:
      return { code: 'CM_CALL_FAILED', meaning: '', next: 'raise the limit: ulimit -n' };
    case EAFNOSUPPORT:
    case EINVAL:
      return {
        code: 'CM_CALL_FAILED',
        ...invalidArgument(place),
      };
    case ECONNREFUSED:
      return {
        code: 'REJECTED',
        meaning: 'nobody listens on that port at the peer',
        next: 'start the server, or look for its port there: rdma resource show cm_id',
      };
    default:
      break;
  }
  return { code: 'CM_CALL_FAILED', meaning: '', next: 'see dmesg for what the kernel says' };
}

/** Devices whose verbs node cannot be opened; null where there are none. */
function closedWords(machine: Machine): Words | null {
  const closed = closedDevices(machine);
  if (closed.length === 0) return null;
  const list = closed.map(({ device, node, errno }) => `${device} (${node}: ${errnoName(errno)})`);
  return {
    code: closed.every(({ errno }) => errno === constants.errno.ENOENT) ? 'NO_NODE' : 'NO_PERMISSION',
    meaning: `this process cannot open ${list.join(', ')}`,
    next: "run as root, or let this user read and write the nodes: rdma-core's udev rules make them mode 0666; in a container, pass them in",
  };
}

/** What EINVAL and EAFNOSUPPORT mean of a call. */
function invalidArgument({ step, portSpace, local, peer }: Place): Pick<Words, 'meaning' | 'next'> {
  if (step === 'connect' || step === 'accept') {
    return {
      meaning: 'a parameter is beyond what the device or the message can',
      next: 'try smaller values of --responder-resources and --initiator-depth: rdmatool query-device -v shows the limits (max_qp_rd_atom, max_qp_init_rd_atom)',
    };
  }
  if (step === 'set_option ACK_TIMEOUT') {
    return {
      meaning: `the ACK timeout is for reliable connections, which port space ${portSpace.toLowerCase()} does not have`,
      next: 'leave --ack-timeout away, or use --ps tcp',
    };
  }
  const next = 'give both addresses in one family, a link-local one as ADDR%DEVICE';
  if (local !== null && peer !== null && local.family !== peer.family) {
    return { meaning: 'the source and the destination are of different address families', next };
  }
  const linkLocal = [local, peer].find(
    (address) => address !== null && /^fe[89ab]/i.test(address.address) && address.scopeId === 0,
  );
  if (linkLocal) return { meaning: `${linkLocal.address} is link-local and needs its interface`, next };
  if (portSpace === 'IPOIB' && (step === 'bind_addr' || step === 'resolve_addr')) {
    return {
      meaning: 'port space ipoib needs an InfiniBand port, and the address is behind another link layer',
      next: 'use --ps udp there; rdmatool list shows the link layers',
    };
  }
  return { meaning: '', next };
}

/** The soft limit of locked memory, as proc(5) tells. */
function lockedMemoryLimit(machine: Machine): string {
  const limit = machine.lockedMemoryLimit();
  return limit === null
    ? 'an unknown amount'
    : limit === Number.POSITIVE_INFINITY
      ? 'any amount'
      : `${limit} bytes`;
}
