/** Why a datagram cannot be sent, or is not answered: each failure with what to do next. */
import { constants } from 'node:os';
import { gidText, ipv4OfGid } from '../abi/ib-types.ts';
import { ATTRIBUTES, type Attribute } from '../datagram/attributes.ts';
import { Method, MgmtClass } from '../datagram/classes.ts';
import { FieldValueError } from '../datagram/field.ts';
import { isSa } from '../datagram/headers.ts';
import { UnknownFieldError } from '../datagram/message.ts';
import { errnoText, errnoValue } from '../explain/errno.ts';
import { Failure } from '../explain/failure.ts';
import { madStatusText } from '../explain/mad-status.ts';
import { nearest } from '../explain/nearest.ts';
import { libraryRepair } from '../explain/packages.ts';
import { LayoutError } from '../layout/error.ts';
import { type MissingLibraryError, NativeCallError } from '../native/errors.ts';
import type { Machine } from '../system/machine.ts';
import { DeadlineError } from '../waiting/deadline.ts';
import type { GidEntry } from './backend.ts';
import { NoReplyError } from './engine.ts';
import { gidKind } from './gid-kind.ts';
import { type Target, targetText } from './target.ts';

const { EACCES, EPERM, ENOENT, EINVAL, EOPNOTSUPP, ENXIO, ENODEV, EIO, EPIPE, ECONNREFUSED, ENOTCONN } =
  constants.errno;

/** What a port that has gone leaves; a simulated one whose server has ended refuses the connection. */
export const GONE: ReadonlySet<number> = new Set([EIO, ENXIO, ENODEV, EPIPE, ECONNREFUSED, ENOTCONN]);

export const TRY_THE_LAB =
  'without InfiniBand hardware, try: rdmatool lab run ib -- rdmatool mad get NodeInfo 0,1';

export function noLibrary(machine: Machine, error: MissingLibraryError): Failure {
  return new Failure(
    'NO_LIBRARY',
    `${error.library} cannot be loaded: ${error.reason}`,
    `${libraryRepair(machine.osIds(), error.reason, 'libibumad')}; ${TRY_THE_LAB}`,
    { cause: error },
  );
}

export function noDevice(): Failure {
  return new Failure(
    'NO_DEVICE',
    'no RDMA device: the kernel shows none that can send management datagrams',
    `rdmatool doctor --for mad says what is missing; ${TRY_THE_LAB}`,
  );
}

/** There are devices, and none of them has a port for management datagrams. */
export function noUmadAtAll(names: readonly string[]): Failure {
  return new Failure(
    'NO_UMAD',
    `no management datagrams on ${names.join(', ')}: no port has a umad device`,
    `EFA and soft iWARP have none, whatever is loaded; for InfiniBand and RoCE: modprobe ib_umad; more: rdmatool doctor --for mad; ${TRY_THE_LAB}`,
  );
}

/** Quoted where it would not be seen for what it is: empty, or with blanks. */
const shown = (name: string): string => (/^[\w.:@-]+$/.test(name) ? name : JSON.stringify(name));

export function unknownDevice(name: string, known: readonly string[]): Failure {
  const near = nearest(name, known);
  return new Failure(
    'UNKNOWN_DEVICE',
    `${shown(name)}: there is no RDMA device of that name`,
    near.length > 0
      ? `did you mean ${near.join(' or ')}?`
      : known.length > 0
        ? `the devices are: ${known.join(', ')}`
        : TRY_THE_LAB,
  );
}

export function noSuchPort(name: string, port: number, count: number): Failure {
  return new Failure(
    'NO_SUCH_PORT',
    `${name}: there is no port ${port}`,
    count === 1 ? 'the device has one port, 1' : `the device has ports 1 to ${count}`,
  );
}

/** umadN of the port cannot be opened. */
export function openFailed(title: string, error: unknown): Failure {
  if (error instanceof DeadlineError) {
    return new Failure(
      'TIMED_OUT',
      `${title}: libibumad did not open it within ${error.milliseconds} ms`,
      'the driver does not answer: see dmesg; in a lab, its fabric has ended',
    );
  }
  if (!(error instanceof NativeCallError)) throw error;
  const { errno } = error;
  const options = { errno: errnoValue(errno), cause: error };
  if (error.call === 'umad_open_port' && errno === EOPNOTSUPP) {
    return new Failure(
      'NO_MODULE',
      `${title}: the kernel's user-MAD interface (module ib_umad) is not loaded`,
      'modprobe ib_umad (as root, on the host if this is a container)',
      options,
    );
  }
  if (error.call === 'umad_open_port' && (errno === EINVAL || errno === ENODEV)) {
    return new Failure(
      'NO_UMAD',
      `${title}: the port has no umad device`,
      `EFA and soft iWARP have none, whatever is loaded; for InfiniBand and RoCE: modprobe ib_umad; ${TRY_THE_LAB}`,
      options,
    );
  }
  if (errno === EACCES || errno === EPERM) {
    return new Failure(
      'NO_PERMISSION',
      `${title}: its umad device may not be opened: ${errnoText(errno)}`,
      'run as root: the nodes /dev/infiniband/umadN are mode 0600, for who writes to them can change the fabric. A udev rule can allow a group: KERNEL=="umad*", GROUP="rdma", MODE="0660"',
      options,
    );
  }
  if (errno === ENOENT) {
    return new Failure(
      'NO_NODE',
      `${title}: its node /dev/infiniband/umadN does not exist`,
      'in a container, pass it in (docker run --device=/dev/infiniband/umadN); on the host: udevadm trigger --subsystem-match=infiniband_mad',
      options,
    );
  }
  return new Failure(
    'OPEN_FAILED',
    `${title}: its umad device cannot be opened: ${errnoText(errno)}`,
    'see dmesg for what the driver says',
    options,
  );
}

/** libibumad cannot speak the old header. */
export const noOldHeaderInLibrary = (): Failure =>
  new Failure(
    'USAGE',
    'libibumad turns the new header on whenever it opens a port: the old one needs the device itself',
    '--header old goes with --transport device',
  );

/** Over Ethernet a GID is the only address. */
export function noRoceAddress(title: string, target: Target, gids: readonly GidEntry[]): Failure {
  const own = gids.map(({ gid }) => gidText(gid)).join(', ');
  return new Failure(
    'USAGE',
    `${title} is Ethernet (RoCE), where ${targetText(target)} is no address: a GID is`,
    `show_gids or rdmatool query-device on the other host shows its GIDs; those of this port are: ${own}`,
  );
}

export const noRoceManager = (title: string): Failure =>
  new Failure(
    'NO_SM',
    `${title} is Ethernet (RoCE), which has no subnet manager`,
    '--from asks another port, such as one where rdmatool mad serve runs',
  );

export function noLocalGid(title: string, gid: Uint8Array, gids: readonly GidEntry[]): Failure {
  return new Failure(
    'SEND_FAILED',
    `${title} has no ${gidKind(gid)} GID of its own to reach ${gidText(gid)} from`,
    `it has: ${gids.map(({ index, gid: own }) => `${index} ${gidText(own)}`).join(', ')}; --gid-index N chooses one all the same`,
  );
}

export function deviceGone(title: string, what: string, error: NativeCallError): Failure {
  return new Failure(
    'DEVICE_GONE',
    `${title}: the device went away in the middle of ${what} (${error.call}: ${errnoText(error.errno)})`,
    'the driver was removed or reset: see dmesg; in a lab, its fabric has ended',
    { errno: errnoValue(error.errno), cause: error },
  );
}

/** A request was not answered, or could not be sent. */
export function requestFailed(title: string, what: string, target: Target | null, error: unknown): Failure {
  if (error instanceof NoReplyError) {
    const to = target === null ? '' : ` from ${targetText(target)}`;
    return new Failure(
      'TIMED_OUT',
      `no answer${to} to ${what}: ${error.attempts} ${error.attempts === 1 ? 'attempt' : 'attempts'} of ${error.timeoutMs} ms (status 110)`,
      hintOfSilence(target),
      { errno: errnoValue(constants.errno.ETIMEDOUT), cause: error },
    );
  }
  if (error instanceof NativeCallError) {
    const { errno } = error;
    if (GONE.has(errno)) return deviceGone(title, what, error);
    return new Failure(
      'SEND_FAILED',
      `${title}: ${what} cannot be sent: ${errnoText(errno)}`,
      'check the LID, the GID index and the P_Key index; the kernel refuses addresses that cannot be',
      { errno: errnoValue(errno), cause: error },
    );
  }
  if (error instanceof LayoutError) {
    return new Failure(
      'BAD_REPLY',
      `${what}: the answer cannot be read: ${error.message}`,
      'mad send shows it in hexadecimal',
      {
        cause: error,
      },
    );
  }
  throw error;
}

/** What has come cannot be read. */
export function readingFailed(title: string, error: NativeCallError): Failure {
  if (GONE.has(error.errno)) return deviceGone(title, 'waiting for datagrams', error);
  const isShort = error.errno === EINVAL || error.errno === constants.errno.ENOSPC;
  return new Failure(
    'BAD_REPLY',
    isShort
      ? `${title}: the room to read into is shorter than the header and the first datagram of what has come (${error.call}: ${errnoText(error.errno)})`
      : `${title}: what has come cannot be read (${error.call}: ${errnoText(error.errno)})`,
    isShort ? 'it has to hold 256 bytes beside the header: --room' : 'see dmesg',
    { errno: errnoValue(error.errno), cause: error },
  );
}

/** Nothing came in the time that was given. */
export const nothingCame = (title: string, milliseconds: number, came: number): Failure =>
  new Failure(
    'TIMED_OUT',
    `${title}: ${came === 0 ? 'nothing' : 'nothing more'} came within ${milliseconds} ms`,
    'is it sent to this port, and to a class, version, OUI and method that were registered? the listening line shows them',
  );

function hintOfSilence(target: Target | null): string {
  switch (target?.kind) {
    case 'path':
      if (target.path.length <= 1)
        return 'the driver and firmware of this port answer what they know: NodeInfo and PortInfo always; another attribute may have no answer at all';
      return `is a cable in each port of the path? mad get PortInfo 0 --port-num N, then one hop more, shows where it ends; --timeout and --retries give it more time`;
    case 'lid':
      return 'is the LID in use (mad table NodeRecord)? --timeout and --retries give it more time; nobody may be listening for the class there';
    case 'gid':
      return ipv4OfGid(target.gid) === null
        ? 'does a program serve the class there (rdmatool mad serve)? --timeout and --retries give it more time'
        : 'the kernel does not match answers that come over IPv4: ask by an IPv6 GID of that port';
    default:
      return '--timeout and --retries give it more time';
  }
}

/** A MAD status other than 0. */
export function statusFailure(what: string, mgmtClass: number, status: number): Failure {
  const { name, meaning, hint } = madStatusText(status, isSa(mgmtClass));
  const hex = `0x${status.toString(16).padStart(4, '0')}`;
  return new Failure(
    'MAD_STATUS',
    `${what}: status ${hex}${name === null ? '' : ` ${name}`}: ${meaning}`,
    hint,
  );
}

export function noSubnetManager(title: string): Failure {
  return new Failure(
    'NO_SM',
    `${title}: no subnet manager has configured the port (sm_lid is 0)`,
    'is opensm running on the fabric, or a manager in a switch? a directed path (0,1) works without one',
  );
}

export function portDown(title: string, state: string): Failure {
  return new Failure(
    'PORT_DOWN',
    `${title}: the port is ${state}`,
    'is the cable in, and the other end powered? mad get PortInfo 0 asks the port itself',
  );
}

/** A name that no attribute has. */
export function unknownAttribute(name: string, among: readonly Attribute[] = ATTRIBUTES): Failure {
  const names = [...new Set(among.map((each) => each.name))];
  const near = nearest(name, names);
  return new Failure(
    'USAGE',
    `there is no attribute ${shown(name)}`,
    near.length > 0 ? `did you mean ${near.join(' or ')}?` : `known: ${names.join(', ')}`,
  );
}

/** What a person typed that means nothing: a field, a value, a target. */
export function usageFailure(error: unknown): Failure {
  if (error instanceof UnknownFieldError) {
    const near = nearest(error.field.toLowerCase(), error.known);
    return new Failure(
      'USAGE',
      error.message,
      near.length > 0 ? `did you mean ${near.join(' or ')}?` : `its fields: ${error.known.join(', ')}`,
      { cause: error },
    );
  }
  if (error instanceof FieldValueError || error instanceof LayoutError) {
    return new Failure(
      'USAGE',
      error.message,
      'rdmatool mad send --help, and those of get and table, show what is meant',
      {
        cause: error,
      },
    );
  }
  throw error;
}

/** `class 0x04 PERF`. */
export const classText = (mgmtClass: number): string =>
  `class 0x${mgmtClass.toString(16).padStart(2, '0')} ${MgmtClass.nameOf(mgmtClass) ?? ''}`.trimEnd();

export const methodText = (method: number): string =>
  Method.nameOf(method) ?? `method 0x${method.toString(16).padStart(2, '0')}`;
