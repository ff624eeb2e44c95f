/** Whether this machine has a connection manager to speak to: asked before librdmacm, which would wait or mislead. */
import { constants } from 'node:os';
import { noDevice } from '../devices/failures.ts';
import { errnoText, errnoValue } from '../explain/errno.ts';
import { Failure } from '../explain/failure.ts';
import { libraryRepair } from '../explain/packages.ts';
import type { MissingLibraryError } from '../native/errors.ts';
import type { Machine } from '../system/machine.ts';

const NODE = 'rdma_cm';
/** The lab of EFA has no connection manager. */
const TRY_LAB_ROCE =
  'without RDMA hardware, try: rdmatool lab run roce -- rdmatool cm resolve 10.9.1.1 --bind 10.9.0.1';

/** Throws Failure where the connection manager cannot be used at all: NO_DEVICE, NO_MODULE, NO_NODE, NO_PERMISSION. */
export function checkAvailable(machine: Machine): void {
  const devices = checkDevices(machine);
  if (onlyEfa(machine, devices)) throw efaHasNoCm(devices);
  const node = machine.nodes.node(NODE);
  if (node.accessErrno === 0) return;
  const isLoaded = machine.sysfs.list(`class/misc/${NODE}`) !== null;
  if (node.mode === null && !isLoaded) {
    throw new Failure(
      'NO_MODULE',
      `${node.path} does not exist: the connection manager is not offered, module rdma_ucm is not loaded`,
      'modprobe rdma_ucm (as root, on the host if this is a container)',
      { errno: errnoValue(constants.errno.ENOENT) },
    );
  }
  if (node.mode === null) {
    throw new Failure(
      'NO_NODE',
      `${node.path} does not exist, though the module rdma_ucm is loaded`,
      `in a container, pass the node in (docker run --device=${node.path}); on the host: udevadm trigger`,
      { errno: errnoValue(constants.errno.ENOENT) },
    );
  }
  throw new Failure(
    'NO_PERMISSION',
    `${node.path} may not be opened: ${errnoText(node.accessErrno)}; mode ${node.mode}, owner ${node.owner}:${node.group}`,
    "run as root, or let this user read and write the node: rdma-core's udev rules make it mode 0666",
    { errno: errnoValue(node.accessErrno) },
  );
}

/** The devices that the kernel shows. Throws Failure where there are none. */
export function checkDevices(machine: Machine): string[] {
  const devices = machine.sysfs.list('class/infiniband') ?? [];
  if (devices.length === 0) throw noDevice(machine, TRY_LAB_ROCE);
  return devices;
}

/** Devices whose verbs node cannot be opened: librdmacm leaves them out, and says ENODEV of their addresses. */
export function closedDevices(machine: Machine): { device: string; node: string; errno: number }[] {
  return (machine.sysfs.list('class/infiniband_verbs') ?? [])
    .filter((name) => name.startsWith('uverbs'))
    .flatMap((name) => {
      const { path, accessErrno } = machine.nodes.node(name);
      const device = machine.sysfs.read(`class/infiniband_verbs/${name}/ibdev`) ?? name;
      return accessErrno === 0 ? [] : [{ device, node: path, errno: accessErrno }];
    });
}

function driverOf(machine: Machine, device: string): string | null {
  const folder = `class/infiniband/${device}/device`;
  const uevent = machine.sysfs.read(`${folder}/uevent`) ?? '';
  return /^DRIVER=(.*)$/m.exec(uevent)?.[1] ?? machine.sysfs.linkName(`${folder}/driver`);
}

function onlyEfa(machine: Machine, devices: readonly string[]): boolean {
  return devices.every((device) => driverOf(machine, device) === 'efa');
}

const efaHasNoCm = (devices: readonly string[]): Failure =>
  new Failure(
    'NO_DEVICE',
    `EFA has no RDMA connection manager, and there are only EFA devices here: ${devices.join(', ')}`,
    'over EFA, applications exchange addresses themselves and use libfabric (fi_info -p efa); rdmatool query-device shows the cards; to see rdmatool cm at work: rdmatool lab run roce -- rdmatool cm resolve 10.9.1.1',
  );

export const noLibrary = (machine: Machine, error: MissingLibraryError): Failure =>
  new Failure(
    'NO_LIBRARY',
    `${error.library} cannot be loaded: ${error.reason}`,
    libraryRepair(machine.osIds(), error.reason, 'librdmacm'),
    { cause: error },
  );
