import { LinkLayer } from '../abi/verbs-codes.ts';
import type { SysfsDevice } from '../model/query-device.ts';
import type { DeviceNode } from '../system/device-nodes.ts';
import type { Machine } from '../system/machine.ts';

/** Names of the RDMA devices that the kernel shows, or null where the subsystem is not loaded. */
export function sysfsDeviceNames(machine: Machine): string[] | null {
  return machine.sysfs.list('class/infiniband');
}

/** Whether the kernel's side of the verbs, the module ib_uverbs, is there. */
export function hasUverbs(machine: Machine): boolean {
  return machine.sysfs.list('class/infiniband_verbs') !== null;
}

/** A device that sysfs does not have. */
export const NO_SYSFS_DEVICE: SysfsDevice = {
  driver: null,
  pci_address: null,
  numa_node: null,
  netdevs: [],
  node_desc: null,
  fw_ver: null,
  hca_type: null,
  board_id: null,
  uverbs: null,
  uverbs_node: null,
  ports: [],
};

/** What sysfs tells of one RDMA device, and its node under /dev/infiniband. */
export function readSysfsDevice(machine: Machine, name: string): SysfsDevice {
  const { sysfs } = machine;
  const device = `class/infiniband/${name}`;
  const uevent = new Map(
    (sysfs.read(`${device}/device/uevent`) ?? '').split('\n').map((line): [string, string] => {
      const equals = line.indexOf('=');
      return [line.slice(0, equals), line.slice(equals + 1)];
    }),
  );
  const numaNode = Number.parseInt(sysfs.read(`${device}/device/numa_node`) ?? '', 10);
  const uverbs = sysfs
    .list(`${device}/device/infiniband_verbs`)
    ?.find((entry) => isVerbsOf(machine, entry, name));
  const known = uverbs ?? findUverbs(machine, name);
  return {
    driver: uevent.get('DRIVER') ?? sysfs.linkName(`${device}/device/driver`),
    pci_address: uevent.get('PCI_SLOT_NAME') ?? null,
    numa_node: Number.isNaN(numaNode) ? null : numaNode,
    // Soft devices have no PCI function and name the interface that they stand on.
    netdevs: sysfs.list(`${device}/device/net`) ?? present(text(sysfs.read(`${device}/parent`))),
    node_desc: text(sysfs.read(`${device}/node_desc`)),
    fw_ver: text(sysfs.read(`${device}/fw_ver`)),
    hca_type: text(sysfs.read(`${device}/hca_type`)),
    board_id: text(sysfs.read(`${device}/board_id`)),
    uverbs: known,
    uverbs_node: known === null ? null : nodeJson(machine.nodes.node(known)),
    ports: (sysfs.list(`${device}/ports`) ?? []).filter(isNumber).map((port) => ({
      port: Number(port),
      state: sysfs.read(`${device}/ports/${port}/state`),
      phys_state: sysfs.read(`${device}/ports/${port}/phys_state`),
      link_layer: sysfs.read(`${device}/ports/${port}/link_layer`),
      rate: sysfs.read(`${device}/ports/${port}/rate`),
    })),
  };
}

/** An attribute that is there but empty tells as little as one that is missing. */
const text = (value: string | null): string | null => (value === null || value.trim() === '' ? null : value);

const present = (value: string | null): string[] => (value === null ? [] : [value]);
const isNumber = (name: string): boolean => /^[0-9]+$/.test(name);

/** A multi-function device can hold the verbs devices of several RDMA devices. */
const isVerbsOf = (machine: Machine, uverbs: string, name: string): boolean =>
  machine.sysfs.read(`class/infiniband_verbs/${uverbs}/ibdev`) === name;

/** Virtual devices (rxe, siw) have no PCI function: their verbs device is found by the name inside it. */
function findUverbs(machine: Machine, name: string): string | null {
  return (
    machine.sysfs.list('class/infiniband_verbs')?.find((entry) => isVerbsOf(machine, entry, name)) ?? null
  );
}

const nodeJson = (node: DeviceNode): SysfsDevice['uverbs_node'] => ({
  path: node.path,
  mode: node.mode,
  owner: node.owner,
  group: node.group,
  accessible: node.accessErrno === 0,
});

/** The link layer as verbs name it, from sysfs's `InfiniBand`, `Ethernet` or `Unknown`. */
export function sysfsLinkLayer(text: string | null): string | null {
  const layer = text?.toUpperCase() ?? null;
  if (LinkLayer.entries.some(([name]) => name === layer)) return layer;
  // The kernel prints Unknown for what verbs call unspecified; the simulator of InfiniBand prints IB.
  if (layer === 'IB') return 'INFINIBAND';
  return layer === 'UNKNOWN' ? 'UNSPECIFIED' : null;
}

/** A GUID as sysfs prints it, or null. */
export function sysfsGuid(machine: Machine, name: string): string | null {
  const guid = machine.sysfs.read(`class/infiniband/${name}/node_guid`);
  return guid !== null && /^([0-9a-f]{4}:){3}[0-9a-f]{4}$/.test(guid) ? guid : null;
}
