/** Why a device, or all of them, cannot be queried: each failure with what to do next. */
import { constants } from 'node:os';
import { CGROUP_LIMIT } from '../explain/cgroup-limit.ts';
import { errnoText, errnoValue } from '../explain/errno.ts';
import { Failure } from '../explain/failure.ts';
import { nearest } from '../explain/nearest.ts';
import { installCommand, libraryRepair } from '../explain/packages.ts';
import { rdmaCard } from '../explain/rdma-cards.ts';
import type { SysfsDevice } from '../model/query-device.ts';
import { MissingLibraryError, MissingSymbolError, NativeCallError } from '../native/errors.ts';
import type { Machine } from '../system/machine.ts';
import { pciFunctions } from '../system/pci.ts';
import { SYSFS } from '../system/sysfs.ts';
import { DeadlineError } from '../waiting/deadline.ts';
import { isAtLeast } from './release.ts';
import { hasUverbs, readSysfsDevice } from './sysfs-device.ts';

const { EPERM, EACCES, ENOENT, ENXIO, ENODEV, ENOMEM, ENOSYS, EAGAIN } = constants.errno;

/** How to look at rdmatool's work without hardware. */
export const TRY_A_LAB = 'without RDMA hardware, try: rdmatool lab run efa -- rdmatool query-device';

const SEE_DMESG = 'see dmesg for what the driver says';

/** Where to look after a call that failed. */
function afterErrno(errno: number): string {
  if (errno === EAGAIN) return `${CGROUP_LIMIT.meaning}: ${CGROUP_LIMIT.next}`;
  if (errno !== ENOMEM) return SEE_DMESG;
  return `raise the limit of locked memory (ulimit -l unlimited; in a container: --ulimit memlock=-1); if that is not it: ${SEE_DMESG}`;
}
const ON_THE_HOST = 'as root, on the host if this is a container';

/** A name as a user can type it again. */
const quoted = (name: string): string => (/^[\w.:@-]+$/.test(name) ? name : JSON.stringify(name));

// ------------------------------------------------------------------------------------------------- libraries

/** @param hasDevices whether the kernel shows any */
export function noLibrary(machine: Machine, error: MissingLibraryError, hasDevices: boolean): Failure {
  const repair = libraryRepair(machine.osIds(), error.reason, 'libibverbs', 'providers');
  return new Failure(
    'NO_LIBRARY',
    `${error.library} cannot be loaded: ${error.reason}`,
    hasDevices ? repair : `${repair}; ${TRY_A_LAB}`,
    { cause: error },
  );
}

export function noSymbol(machine: Machine, error: MissingSymbolError): Failure {
  return new Failure(
    'NO_SYMBOL',
    `${error.library} has no ${error.symbol}`,
    `it is not rdma-core's, or far too old: ${installCommand(machine.osIds(), 'libibverbs', 'providers')}`,
    { cause: error },
  );
}

/**
 * libibverbs could not list the devices.
 * @param name the device that this is said of; null: of all
 */
export function listFailed(machine: Machine, error: unknown, name: string | null): Failure {
  if (error instanceof MissingSymbolError) return noSymbol(machine, error);
  if (error instanceof NativeCallError && error.errno === ENOSYS && !hasUverbs(machine)) {
    return name === null ? noDevice(machine) : noUverbs(name, ENOSYS);
  }
  return queryFailed(machine, name ?? 'libibverbs', error);
}

// ------------------------------------------------------------------------------------------------- no device

/**
 * No RDMA device at all: the nearest cause that sysfs shows.
 * @param tryLab how to see the command at work without hardware
 */
export function noDevice(machine: Machine, tryLab = TRY_A_LAB): Failure {
  const { sysfs } = machine;
  if (sysfs.list('class') === null) {
    return sysfs.root === SYSFS
      ? new Failure(
          'NO_DEVICE',
          'no RDMA device: there is no sysfs at /sys',
          'mount -t sysfs sysfs /sys (as root); into a container, pass /sys in',
        )
      : new Failure(
          'NO_DEVICE',
          `no RDMA device: SYSFS_PATH is ${quoted(sysfs.root)}, and there is no sysfs`,
          'unset SYSFS_PATH, or set it to the root of a sysfs tree',
        );
  }
  const card = findCard(machine);
  if (card && !card.hasModule) {
    return new Failure(
      'NO_MODULE',
      `no RDMA device: PCI ${card.address} is ${card.what}, but its kernel module ${card.module} is not loaded`,
      `modprobe ${card.module} (${ON_THE_HOST}); then: rdmatool doctor`,
    );
  }
  if (card) {
    const driver = card.driver === null ? 'no driver' : `the driver ${card.driver}`;
    return new Failure(
      'NO_DEVICE',
      `no RDMA device: PCI ${card.address} is ${card.what} and has ${driver}, and the kernel shows no device`,
      `rdmatool doctor; dmesg | grep ${card.address}`,
    );
  }
  if (sysfs.list('class/infiniband') === null) {
    return new Failure(
      'NO_DEVICE',
      "no RDMA device: the kernel's RDMA core (module ib_core) is not loaded",
      `rdmatool doctor looks for the card and names its module; ${tryLab}`,
    );
  }
  return new Failure(
    'NO_DEVICE',
    'no RDMA device: the RDMA core is loaded, and the kernel shows no device',
    `rdmatool doctor looks for the card, its driver and its network namespace; ${tryLab}`,
  );
}

export function noUverbs(name: string, errno: number | null = null): Failure {
  const said = errno === null ? '' : `; ibv_get_device_list: ${errnoText(errno)}`;
  return new Failure(
    'NO_MODULE',
    `${name}: the kernel has the device, but not its verbs: module ib_uverbs is not loaded${said}`,
    `modprobe ib_uverbs (${ON_THE_HOST})`,
    { errno: errno === null ? null : errnoValue(errno) },
  );
}

interface Card {
  readonly address: string;
  readonly module: string;
  readonly what: string;
  readonly hasModule: boolean;
  readonly driver: string | null;
}

/** The first RDMA card on the PCI bus; one without its module before one with it. */
function findCard(machine: Machine): Card | null {
  let found: Card | null = null;
  for (const { address, vendor, device, pciClass, driver } of pciFunctions(machine) ?? []) {
    const known = rdmaCard(vendor, device, pciClass);
    if (known === null || !known.isCertain || known.module === null) continue;
    const { module, what } = known;
    const hasModule = machine.sysfs.list(`module/${module}`) !== null;
    if (hasModule && found !== null) continue;
    found = { address, module, what, hasModule, driver };
    if (!hasModule) return found;
  }
  return found;
}

// ------------------------------------------------------------------------------------------ a device by name

/** @param failure why libibverbs serves no device, or null */
export function unknownDevice(
  machine: Machine,
  name: string,
  known: readonly string[],
  failure: Failure | null,
): Failure {
  if (known.length === 0) {
    const cause = failure ?? noDevice(machine);
    return new Failure(cause.code, `${quoted(name)}: ${cause.message}`, cause.hint);
  }
  return new Failure(
    'UNKNOWN_DEVICE',
    `${quoted(name)}: there is no RDMA device of that name`,
    nameHint(machine, name, known),
  );
}

const MOST_NAMES = 8;

function nameHint(machine: Machine, name: string, known: readonly string[]): string {
  for (const device of known) {
    const { uverbs, pci_address, netdevs } = readSysfsDevice(machine, device);
    const is =
      name.split('/').at(-1) === uverbs
        ? 'the device node'
        : name === pci_address
          ? 'the PCI address'
          : netdevs.includes(name)
            ? 'a network device'
            : null;
    if (is !== null) return `${name} is ${is} of ${device}: use that name`;
  }
  const list = known.slice(0, MOST_NAMES).join(', ');
  const all = known.length > MOST_NAMES ? `${list} … (rdmatool list shows all ${known.length})` : list;
  const near = nearest(name, known);
  if (near.length === 0) return known.length === 1 ? `the only device is ${all}` : `the devices are: ${all}`;
  return `did you mean ${near.join(' or ')}?${known.length > near.length ? ` rdmatool list shows all ${known.length}` : ''}`;
}

export function noSuchPort(name: string, port: number, count: number): Failure {
  const has =
    count === 0
      ? 'the device has no port'
      : count === 1
        ? 'the device has one port, 1'
        : `the device has ports 1 to ${count}`;
  return new Failure('NO_SUCH_PORT', `${name}: there is no port ${port}`, has);
}

// ------------------------------------------------------------------------------- what libibverbs leaves out

/**
 * The first release of rdma-core whose libefa has a PCI device id in its table. The table matters where the kernel
 * does not name the driver of a device over netlink, as before Linux 5.1.
 */
const EFA_SERVED_SINCE: Readonly<Record<string, number>> = {
  '0xefa0': 24,
  '0xefa1': 31,
  '0xefa2': 43,
  '0xefa3': 53,
  '0xefa4': 64,
};

/**
 * The kernel shows the device, libibverbs leaves it out: the node, or the provider, is missing.
 * @param efaRelease of the libefa that libibverbs has loaded, and found no device for; null: not known, or none
 */
export function notListed(
  machine: Machine,
  name: string,
  sysfs: SysfsDevice,
  efaRelease: string | null,
): Failure {
  if (sysfs.uverbs === null || sysfs.uverbs_node === null) {
    if (!hasUverbs(machine)) return noUverbs(name);
    return new Failure(
      'NO_NODE',
      `${name}: the kernel gives it no verbs device, though module ib_uverbs is loaded`,
      SEE_DMESG,
    );
  }
  const { path, mode } = sysfs.uverbs_node;
  if (mode === null) {
    const { accessErrno } = machine.nodes.node(sysfs.uverbs);
    if (accessErrno !== ENOENT && accessErrno !== 0) return nodeRefused(name, sysfs, accessErrno);
    return new Failure(
      'NO_NODE',
      `${name}: its node ${path} does not exist`,
      `in a container, pass it in (docker run --device=${path}, or the RDMA device plugin of Kubernetes); on the host: udevadm trigger --subsystem-match=infiniband_verbs`,
    );
  }
  const part = machine.sysfs.read(`class/infiniband/${name}/device/device`);
  const needed = sysfs.driver === 'efa' && part !== null ? EFA_SERVED_SINCE[part] : undefined;
  if (needed !== undefined && isAtLeast(efaRelease, needed) === false) {
    return new Failure(
      'NO_PROVIDER',
      `${name}: the installed libefa does not know this card: ${part} needs rdma-core ${needed}, this is ${efaRelease}`,
      "install rdma-core from a newer release of the distribution, or with AWS's EFA installer",
    );
  }
  return new Failure(
    'NO_PROVIDER',
    `${name}: libibverbs has no provider for it (driver ${sysfs.driver ?? 'unknown'}), though the kernel shows the device`,
    `${installCommand(machine.osIds(), 'providers')}; if it is installed, it is older than the card, or its file in /etc/libibverbs.d is missing`,
  );
}

// --------------------------------------------------------------------------------------------- open and query

/** The node may not be opened. */
export function nodeRefused(name: string, sysfs: SysfsDevice, errno: number): Failure {
  const node = sysfs.uverbs_node;
  const path = node?.path ?? 'its device node';
  const rights =
    node === null || node.mode === null ? '' : `; mode ${node.mode}, owner ${node.owner}:${node.group}`;
  return new Failure(
    'NO_PERMISSION',
    `${name}: ${path} may not be opened: ${errnoText(errno)}${rights}`,
    errno === EPERM
      ? `the device cgroup of a container refuses it: pass the node in (docker run --device=${path})`
      : permissionHint(node),
    { errno: errnoValue(errno) },
  );
}

function permissionHint(node: SysfsDevice['uverbs_node']): string {
  const groupMay = node?.mode !== null && node !== null && (Number.parseInt(node.mode, 8) & 0o060) === 0o060;
  return groupMay && node.group !== 'root'
    ? `run as root, or join the group ${node.group}: usermod -aG ${node.group} USER`
    : "run as root, or set mode 0666, as rdma-core's udev rules do; if root is refused too: SELinux or AppArmor";
}

/** The node, or the device behind it, cannot be opened. */
export function openFailed(machine: Machine, name: string, sysfs: SysfsDevice, error: unknown): Failure {
  if (!(error instanceof NativeCallError)) return queryFailed(machine, name, error);
  const { errno } = error;
  if (errno === EACCES || errno === EPERM) return nodeRefused(name, sysfs, errno);
  const node = sysfs.uverbs_node?.path ?? 'the device';
  const isGone = errno === ENOENT || errno === ENXIO || errno === ENODEV;
  return new Failure(
    'OPEN_FAILED',
    `${name}: ${node} cannot be opened: ${error.call === 'open' ? errnoText(errno) : callText(error)}`,
    isGone ? 'the device went away since it was listed (reset, or removed): see dmesg' : afterErrno(errno),
    { errno: errno === 0 ? null : errnoValue(errno) },
  );
}

/** `ibv_open_device: EIO (5), input/output error …`. */
const callText = ({ call, errno }: NativeCallError): string =>
  `${call}: ${errno === 0 ? 'it leaves no errno' : errnoText(errno)}`;

/** A query call failed on an open device. `what` names the device and, where there is one, the port. */
export function queryFailed(machine: Machine, what: string, error: unknown): Failure {
  if (error instanceof MissingSymbolError) return noSymbol(machine, error);
  if (error instanceof DeadlineError) {
    return new Failure('TIMED_OUT', error.message, 'the driver or its firmware does not answer: see dmesg');
  }
  if (!(error instanceof NativeCallError)) throw error;
  return new Failure('QUERY_FAILED', `${what}: ${callText(error)}`, afterErrno(error.errno), {
    errno: error.errno === 0 ? null : errnoValue(error.errno),
  });
}

/** No thread is left to call into C: calls on other devices have not come back. */
export const notAsked = (name: string): Failure =>
  new Failure(
    'TIMED_OUT',
    `${name}: not asked: calls on other devices hang`,
    `rdmatool query-device ${name}, or without the devices that hang`,
  );

/** A mistake of ours, kept to the device that it happened on. */
export function internalFault(name: string, error: unknown): Failure {
  const cause = error instanceof Error ? error : new Error(String(error));
  return new Failure('INTERNAL', `${name}: a fault of rdmatool itself: ${cause.message}`, 'report it', {
    cause,
  });
}

/** libefa cannot tell what an EFA card can do. */
export function efaFailed(machine: Machine, name: string, error: unknown): Failure {
  const unknown = `${name}: its EFA capabilities are unknown`;
  if (error instanceof MissingLibraryError) {
    const repair = libraryRepair(machine.osIds(), error.reason, 'libefa');
    return new Failure('NO_LIBRARY', `${unknown}: ${reasonOf(error)}`, repair, { cause: error });
  }
  if (error instanceof MissingSymbolError) {
    return new Failure(
      'NO_SYMBOL',
      `${unknown}: ${reasonOf(error)}`,
      `libefa before rdma-core 26: ${installCommand(machine.osIds(), 'libefa')}`,
      {
        cause: error,
      },
    );
  }
  if (!(error instanceof NativeCallError)) throw error;
  return new Failure(
    'QUERY_FAILED',
    `${unknown}: ${reasonOf(error)}`,
    'is there a second copy of libefa, of another rdma-core? ldconfig -p | grep libefa',
    { errno: errnoValue(error.errno) },
  );
}

/** A sentence for `unavailable`, where a part of the answer is missing and the rest stands. */
export function reasonOf(error: unknown): string {
  if (error instanceof NativeCallError) return callText(error);
  if (error instanceof MissingLibraryError) return `${error.library} cannot be loaded: ${error.reason}`;
  if (error instanceof MissingSymbolError || error instanceof DeadlineError) return error.message;
  throw error;
}
