/** Why a device, or all of them, cannot be queried: each failure with what to do next. */
import { constants } from 'node:os';
import { errnoText, errnoValue } from '../explain/errno.ts';
import { Failure } from '../explain/failure.ts';
import { nearest } from '../explain/nearest.ts';
import { installCommand } from '../explain/packages.ts';
import type { SysfsDevice } from '../model/query-device.ts';
import { MissingLibraryError, MissingSymbolError, NativeCallError } from '../native/errors.ts';
import type { Machine } from '../system/machine.ts';
import { DeadlineError } from '../waiting/deadline.ts';

const { EPERM, EACCES } = constants.errno;

/** How to look at rdmatool's work without hardware. */
export const TRY_A_LAB = 'without RDMA hardware, try: rdmatool lab run efa -- rdmatool query-device';

export function noLibrary(machine: Machine, error: MissingLibraryError): Failure {
  return new Failure(
    'NO_LIBRARY',
    `${error.library} cannot be loaded: ${error.reason}`,
    `${installCommand(machine.osIds(), 'libibverbs', 'providers')}; ${TRY_A_LAB}`,
    { cause: error },
  );
}

/** No RDMA device at all: the nearest cause that sysfs shows. */
export function noDevice(machine: Machine): Failure {
  const card = unservedCard(machine);
  if (card) {
    return new Failure(
      'NO_MODULE',
      `no RDMA device: PCI ${card.address} is ${card.what}, but its kernel module ${card.module} is not loaded`,
      `modprobe ${card.module} (as root, on the host if this is a container); then: rdmatool list`,
    );
  }
  if (machine.sysfs.list('class/infiniband') === null) {
    return new Failure(
      'NO_DEVICE',
      "no RDMA device: the kernel's RDMA core (module ib_core) is not loaded",
      `load the module of your card (efa, mlx5_ib, irdma, bnxt_re …); ${TRY_A_LAB}`,
    );
  }
  return new Failure(
    'NO_DEVICE',
    'no RDMA device: the RDMA core is loaded, and the kernel shows no device',
    `look for the card with lspci and load its module; in a container, the network namespace may hide it (rdma system); ${TRY_A_LAB}`,
  );
}

/** libibverbs could not list devices: ENOSYS means that ib_uverbs is missing. */
export function listFailed(machine: Machine, errno: number, names: readonly string[]): Failure {
  if (names.length === 0) return noDevice(machine);
  return noUverbs(names.join(', '), errno);
}

export function noUverbs(names: string, errno: number | null = null): Failure {
  return new Failure(
    'NO_MODULE',
    `${names}: the kernel has the device, but its verbs are not offered: module ib_uverbs is not loaded`,
    'modprobe ib_uverbs (as root, on the host if this is a container)',
    { errno: errno === null ? null : errnoValue(errno) },
  );
}

export function unknownDevice(name: string, known: readonly string[]): Failure {
  const near = nearest(name, known);
  return new Failure(
    'UNKNOWN_DEVICE',
    `${name}: there is no RDMA device of that name`,
    near.length > 0
      ? `did you mean ${near.join(' or ')}? rdmatool list shows all ${known.length}`
      : known.length > 0
        ? `the devices are: ${known.slice(0, 8).join(', ')}${known.length > 8 ? ' …' : ''}`
        : TRY_A_LAB,
  );
}

export function noSuchPort(name: string, port: number, count: number): Failure {
  return new Failure(
    'NO_SUCH_PORT',
    `${name}: there is no port ${port}`,
    count === 1 ? 'the device has one port, 1' : `the device has ports 1 to ${count}`,
  );
}

/** The kernel shows the device, libibverbs leaves it out: the node, or the provider, is missing. */
export function notListed(machine: Machine, name: string, sysfs: SysfsDevice): Failure {
  if (sysfs.uverbs === null || sysfs.uverbs_node === null) return noUverbs(name);
  if (sysfs.uverbs_node.mode === null) {
    return new Failure(
      'NO_NODE',
      `${name}: its node ${sysfs.uverbs_node.path} does not exist`,
      `in a container, pass it in (docker run --device=${sysfs.uverbs_node.path}, or the RDMA device plugin of Kubernetes); on the host: udevadm trigger --subsystem-match=infiniband_verbs`,
    );
  }
  return new Failure(
    'NO_PROVIDER',
    `${name}: libibverbs has no provider for it (driver ${sysfs.driver ?? 'unknown'}), though the kernel shows the device`,
    `${installCommand(machine.osIds(), 'providers')}; if it is installed, it is older than the card, or its file in /etc/libibverbs.d is missing`,
  );
}

const NODE_RULE = "rdma-core's udev rules make it mode 0666";

/** The node is there and may not be opened. Found before ibv_open_device, which would wait 5 s for it. */
export function nodeRefused(name: string, sysfs: SysfsDevice, errno: number): Failure {
  const node = sysfs.uverbs_node;
  const file = node === null ? 'its device node' : node.path;
  const rights = node === null ? '' : `; mode ${node.mode}, owner ${node.owner}:${node.group}`;
  return new Failure(
    'NO_PERMISSION',
    `${name}: ${file} may not be opened: ${errnoText(errno)}${rights}`,
    `run as root, or let this user read and write the node: ${NODE_RULE}`,
    { errno: errnoValue(errno) },
  );
}

/** ibv_open_device failed. */
export function openFailed(name: string, sysfs: SysfsDevice, error: unknown): Failure {
  if (error instanceof DeadlineError) {
    return new Failure(
      'TIMED_OUT',
      `${name}: ibv_open_device did not end within ${error.milliseconds} ms`,
      'the driver or its firmware does not answer: see dmesg',
    );
  }
  if (!(error instanceof NativeCallError)) throw error;
  if (error.errno === EACCES) return nodeRefused(name, sysfs, error.errno);
  if (error.errno === EPERM) {
    return new Failure(
      'NO_PERMISSION',
      `${name}: ${sysfs.uverbs_node?.path ?? 'its node'} may not be opened: ${errnoText(EPERM)}, though its mode allows it`,
      `the device cgroup of a container refuses it: pass the node in (docker run --device=${sysfs.uverbs_node?.path ?? '/dev/infiniband/uverbsN'})`,
      { errno: errnoValue(EPERM) },
    );
  }
  return new Failure(
    'OPEN_FAILED',
    `${name}: ${sysfs.uverbs_node?.path ?? 'the device'} cannot be opened: ${errnoText(error.errno)}`,
    'see dmesg for what the driver says; rdmatool list shows which devices work',
    { errno: errnoValue(error.errno) },
  );
}

/** A query call failed on an open device. `what` names the device and, where there is one, the port. */
export function queryFailed(what: string, error: unknown): Failure {
  if (error instanceof DeadlineError) {
    return new Failure(
      'TIMED_OUT',
      `${what}: ${error.message}`,
      'the driver or its firmware does not answer: see dmesg',
    );
  }
  if (!(error instanceof NativeCallError)) throw error;
  return new Failure(
    'QUERY_FAILED',
    `${what}: ${error.call} failed: ${errnoText(error.errno)}`,
    'see dmesg for what the driver says',
    { errno: errnoValue(error.errno) },
  );
}

/** A sentence for `unavailable`, where a part of the answer is missing and the rest stands. */
export function reasonOf(error: unknown): string {
  if (error instanceof NativeCallError) return `${error.call}: ${errnoText(error.errno)}`;
  if (
    error instanceof MissingSymbolError ||
    error instanceof MissingLibraryError ||
    error instanceof DeadlineError
  ) {
    return error.message;
  }
  throw error;
}

/** PCI functions that are RDMA cards for certain, and the module that serves them. */
const CARDS = [
  { vendor: '0x1d0f', device: /^0xefa[0-9a-f]$/, module: 'efa', what: 'an Elastic Fabric Adapter' },
  { vendor: '0x15b3', device: /^0x10(0[3-7])$/, module: 'mlx4_ib', what: 'a ConnectX-3 card' },
  { vendor: '0x15b3', device: /^0x10(1[1-9a-f]|2[0-9a-f])$/, module: 'mlx5_ib', what: 'a ConnectX card' },
] as const;

function unservedCard(machine: Machine): { address: string; module: string; what: string } | null {
  const { sysfs } = machine;
  for (const address of sysfs.list('bus/pci/devices') ?? []) {
    const vendor = sysfs.read(`bus/pci/devices/${address}/vendor`);
    const device = sysfs.read(`bus/pci/devices/${address}/device`) ?? '';
    const card = CARDS.find((known) => known.vendor === vendor && known.device.test(device));
    if (card && sysfs.list(`module/${card.module}`) === null) {
      return { address, module: card.module, what: card.what };
    }
  }
  return null;
}
