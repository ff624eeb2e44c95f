/** The sysfs tree of simulated devices, as the kernel's RDMA core shows such devices. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { fullGidText, guidText } from '../../abi/ib-types.ts';
import { linkRateGbps } from '../../abi/link-rate.ts';
import { LinkLayer, LinkSpeed, LinkWidth } from '../../abi/verbs-codes.ts';
import type { LabDevice } from './device.ts';
import type { MachineFaults } from './faults.ts';
import type { GidProfile, NetdevState, PortProfile } from './profile.ts';

const CLASS_ABI_VERSION = 6;
const NO_GID = new Uint8Array(16);

/**
 * Attributes that the kernel refuses to read with EINVAL: the type of a GID that is not RoCE, the network device of
 * one that has none. No ordinary file does so, but one of the real sysfs: the speed of the loopback interface.
 */
const READS_EINVAL = '/sys/class/net/lo/speed';

/** Writes files below a root; each directory is made once. */
class Tree {
  readonly #root: string;
  readonly #made = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  directory(path: string): string {
    const whole = `${this.#root}/${path}`;
    if (!this.#made.has(path)) {
      // The parents one by one: mkdir's own recursion tries the whole path first, each time.
      const slash = path.lastIndexOf('/');
      if (slash > 0) this.directory(path.slice(0, slash));
      mkdirSync(whole);
      this.#made.add(path);
    }
    return whole;
  }

  /** An attribute of each name in one directory; null leaves it out. */
  attributes(path: string, values: { readonly [name: string]: string | number | bigint | null }): void {
    const directory = this.directory(path);
    for (const name in values) {
      const value = values[name];
      if (value !== null) writeFileSync(`${directory}/${name}`, `${value}\n`);
    }
  }

  /** A relative link from one place of the tree to another. */
  link(path: string, to: string): void {
    this.linkOutside(path, `${'../'.repeat(path.split('/').length - 1)}${to}`);
  }

  linkOutside(path: string, target: string): void {
    const slash = path.lastIndexOf('/');
    symlinkSync(target, `${this.directory(path.slice(0, slash))}/${path.slice(slash + 1)}`);
  }
}

/** Writes the tree into the directory `root`, which does not exist yet. */
export function writeSysfs(root: string, devices: readonly LabDevice[], machine: MachineFaults): void {
  mkdirSync(root);
  const tree = new Tree(root);
  for (const path of ['class', 'module', 'bus/pci/devices']) tree.directory(path);
  const shown = machine.noDevice ? [] : devices;
  const hasCore = !machine.noDriver;
  const hasVerbs = hasCore && !machine.noModule;
  if (hasCore) {
    tree.directory('class/infiniband');
    tree.attributes('module/ib_core', { refcnt: 1 });
    for (const driver of new Set(devices.map(({ profile }) => profile.sysfs.driver))) {
      tree.attributes(`module/${driver}`, { refcnt: 0 });
    }
  }
  if (hasVerbs) {
    tree.attributes('class/infiniband_verbs', { abi_version: CLASS_ABI_VERSION });
    tree.attributes('module/ib_uverbs', { refcnt: 1 });
  }
  for (const [name, state] of netdevsOf(devices)) writeNetdev(tree, name, state);
  for (const device of shown) {
    writePciFunction(tree, device, hasCore);
    if (hasCore) writeRdmaDevice(tree, device);
    if (hasVerbs) writeVerbsDevice(tree, device);
  }
  // libibverbs keeps the order of the directory, and a file system in memory lists the newest entry first.
  if (hasVerbs) for (const device of [...shown].reverse()) linkVerbsDevice(tree, device);
}

/** Network devices of the GIDs, each with its state. */
function netdevsOf(devices: readonly LabDevice[]): Map<string, NetdevState> {
  const entries = devices.flatMap(({ profile }) => profile.ports.flatMap(({ gids }) => gids));
  return new Map(
    entries.flatMap(({ netdev, netdev_state }) =>
      netdev === null || netdev_state === null ? [] : [[netdev, netdev_state]],
    ),
  );
}

/** IFF_BROADCAST and IFF_MULTICAST, and IFF_UP. */
const NETDEV_FLAGS = { down: 0x1002, up: 0x1003 } as const;

function writeNetdev(tree: Tree, name: string, state: NetdevState): void {
  const isUp = state === 'up' || state === 'unknown';
  tree.attributes(`class/net/${name}`, {
    operstate: state,
    flags: hex(isUp ? NETDEV_FLAGS.up : NETDEV_FLAGS.down, 1),
    carrier: isUp ? 1 : 0,
  });
}

const hex = (value: number, digits: number): string => `0x${value.toString(16).padStart(digits, '0')}`;

/** The directory that the device's own are in: its PCI function, or that of virtual devices. */
const parentOf = ({ pciAddress }: LabDevice): string =>
  pciAddress === null ? 'devices/virtual' : `devices/pci0000:00/${pciAddress}`;

function writePciFunction(tree: Tree, device: LabDevice, hasDriver: boolean): void {
  const { pciAddress } = device;
  const { pci, driver, numa_node, netdevs } = device.profile.sysfs;
  if (pci === null || pciAddress === null) return;
  const parent = parentOf(device);
  const id = (value: number): string => value.toString(16).toUpperCase().padStart(4, '0');
  const [base, sub, programming] = [pci.class >> 16, (pci.class >> 8) & 0xff, pci.class & 0xff];
  const pair = (value: number): string => value.toString(16).toUpperCase().padStart(2, '0');
  const modalias = `pci:v0000${id(pci.vendor)}d0000${id(pci.device)}sv0000${id(pci.subsystem_vendor)}sd0000${id(pci.subsystem_device)}bc${pair(base)}sc${pair(sub)}i${pair(programming)}`;
  tree.attributes(parent, {
    vendor: hex(pci.vendor, 4),
    device: hex(pci.device, 4),
    subsystem_vendor: hex(pci.subsystem_vendor, 4),
    subsystem_device: hex(pci.subsystem_device, 4),
    class: hex(pci.class, 6),
    numa_node,
    modalias,
    uevent: [
      ...(hasDriver ? [`DRIVER=${driver}`] : []),
      `PCI_CLASS=${pci.class.toString(16).toUpperCase()}`,
      `PCI_ID=${id(pci.vendor)}:${id(pci.device)}`,
      `PCI_SUBSYS_ID=${id(pci.subsystem_vendor)}:${id(pci.subsystem_device)}`,
      `PCI_SLOT_NAME=${pciAddress}`,
      `MODALIAS=${modalias}`,
    ].join('\n'),
  });
  for (const netdev of netdevs) tree.directory(`${parent}/net/${netdev}`);
  tree.link(`bus/pci/devices/${pciAddress}`, parent);
  if (hasDriver) {
    tree.link(`${parent}/driver`, `bus/pci/drivers/${driver}`);
    tree.link(`bus/pci/drivers/${driver}/${pciAddress}`, parent);
  }
}

function writeRdmaDevice(tree: Tree, device: LabDevice): void {
  const parent = parentOf(device);
  const { sysfs, ports, hw_counters } = device.profile;
  const directory = `${parent}/infiniband/${device.name}`;
  tree.attributes(directory, {
    node_type: sysfs.node_type,
    node_guid: guidText(device.nodeGuid),
    sys_image_guid: guidText(device.sysImageGuid),
    node_desc: sysfs.node_desc,
    fw_ver: sysfs.fw_ver,
    hca_type: sysfs.hca_type,
    board_id: sysfs.board_id,
    // Soft devices name the network interface that they stand on.
    parent: sysfs.pci === null ? (sysfs.netdevs[0] ?? null) : null,
  });
  if (sysfs.pci !== null) tree.link(`${directory}/device`, parent);
  if (hw_counters.size > 0) tree.attributes(`${directory}/hw_counters`, Object.fromEntries(hw_counters));
  ports.forEach((port, index) => {
    writePort(tree, device, port, index + 1, `${directory}/ports/${index + 1}`);
  });
  tree.link(`class/infiniband/${device.name}`, directory);
}

const verbsDirectory = (device: LabDevice): string =>
  `${parentOf(device)}/infiniband_verbs/uverbs${device.node}`;

function writeVerbsDevice(tree: Tree, device: LabDevice): void {
  const directory = verbsDirectory(device);
  tree.attributes(directory, {
    ibdev: device.name,
    abi_version: device.profile.sysfs.abi_version,
    dev: `${device.major}:${device.minor}`,
  });
  if (device.profile.sysfs.pci !== null) tree.link(`${directory}/device`, parentOf(device));
}

function linkVerbsDevice(tree: Tree, device: LabDevice): void {
  tree.link(`class/infiniband_verbs/uverbs${device.node}`, verbsDirectory(device));
}

const STATE_NAMES = ['NOP', 'DOWN', 'INIT', 'ARMED', 'ACTIVE', 'ACTIVE_DEFER'];
const PHYS_STATE_NAMES = [
  '<unknown>',
  'Sleep',
  'Polling',
  'Disabled',
  'PortConfigurationTraining',
  'LinkUp',
  'LinkErrorRecovery',
  'Phy Test',
];

function writePort(
  tree: Tree,
  device: LabDevice,
  port: PortProfile,
  number: number,
  directory: string,
): void {
  const attributes = port.query_port;
  const linkLayer: { readonly [code: number]: string } = {
    [LinkLayer.valueOf('INFINIBAND')]: 'InfiniBand',
    [LinkLayer.valueOf('ETHERNET')]: 'Ethernet',
  };
  tree.attributes(directory, {
    state: `${attributes.state}: ${STATE_NAMES[attributes.state] ?? 'UNKNOWN'}`,
    phys_state: `${attributes.phys_state}: ${PHYS_STATE_NAMES[attributes.phys_state] ?? '<unknown>'}`,
    link_layer: linkLayer[attributes.link_layer] ?? 'Unknown',
    rate: rateText(attributes.active_width, attributes.active_speed_ex || attributes.active_speed),
    lid: `0x${attributes.lid.toString(16)}`,
    sm_lid: `0x${attributes.sm_lid.toString(16)}`,
    sm_sl: attributes.sm_sl,
    lid_mask_count: attributes.lmc,
    cap_mask: hex(attributes.port_cap_flags, 8),
  });
  const pkeys = Array.from({ length: attributes.pkey_tbl_len }, (_, index) => port.pkeys[index] ?? 0);
  tree.attributes(
    `${directory}/pkeys`,
    Object.fromEntries(pkeys.map((pkey, index) => [index, hex(pkey, 4)])),
  );
  writeGids(tree, port, (entry) => device.gid(number, entry), directory);
  if (port.hw_counters.size > 0) {
    tree.attributes(`${directory}/hw_counters`, Object.fromEntries(port.hw_counters));
  }
}

function writeGids(
  tree: Tree,
  port: PortProfile,
  gidOf: (entry: GidProfile) => Uint8Array,
  directory: string,
): void {
  const valid = new Map<number, GidProfile>(port.gids.map((entry) => [entry.index, entry]));
  for (let index = 0; index < port.query_port.gid_tbl_len; index++) {
    const entry = valid.get(index);
    const gid = entry === undefined ? NO_GID : gidOf(entry);
    tree.attributes(`${directory}/gids`, { [index]: fullGidText(gid) });
    const type = entry === undefined || entry.type === 'IB' ? null : entry.type;
    if (type === null) tree.linkOutside(`${directory}/gid_attrs/types/${index}`, READS_EINVAL);
    else {
      tree.attributes(`${directory}/gid_attrs/types`, {
        [index]: type === 'RoCE v1' ? 'IB/RoCE v1' : type,
      });
    }
    if (entry?.netdev) tree.attributes(`${directory}/gid_attrs/ndevs`, { [index]: entry.netdev });
    else tree.linkOutside(`${directory}/gid_attrs/ndevs/${index}`, READS_EINVAL);
  }
}

/** `100 Gb/sec (4X EDR)`, as the kernel words a rate; a speed that it does not know counts as SDR. */
function rateText(width: number, speed: number): string {
  const known = LinkSpeed.nameOf(speed) === null ? LinkSpeed.valueOf('SDR') : speed;
  const name = LinkSpeed.nameOf(known);
  const lanes = Number.parseInt(LinkWidth.nameOf(width) ?? '0', 10);
  const tenths = Math.round((linkRateGbps(width, known) ?? 0) * 10);
  const suffix = name === 'SDR' ? '' : ` ${name}`;
  return `${Math.floor(tenths / 10)}${tenths % 10 === 0 ? '' : '.5'} Gb/sec (${lanes}X${suffix})`;
}
