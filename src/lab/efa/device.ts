/** The devices of a lab: a profile with a name, a place, identifying numbers and faults. */
import type { DeviceFaults } from './faults.ts';
import { type Identity, identityOf } from './identity.ts';
import type { GidProfile, Profile } from './profile.ts';

/** The character device numbers that the kernel gives verbs devices. */
const UVERBS_MAJOR = 231;
const UVERBS_FIRST_MINOR = 192;

export interface LabDevice {
  readonly name: string;
  /** N of uverbsN. */
  readonly node: number;
  readonly major: number;
  readonly minor: number;
  readonly profile: Profile;
  readonly faults: DeviceFaults;
  readonly nodeGuid: bigint;
  readonly sysImageGuid: bigint;
  /** The GID of a slot in a port's table, in bytes. */
  gid(port: number, entry: GidProfile): Uint8Array;
  /** PCI address, or null for a virtual device. */
  readonly pciAddress: string | null;
}

/** Puts device `index` of a lab together. */
export function labDevice(name: string, index: number, profile: Profile, faults: DeviceFaults): LabDevice {
  const identity: Identity = identityOf(name, index);
  const nodeGuid = faults.guid ?? (profile.node_guid === 'auto' ? identity.nodeGuid : profile.node_guid);
  return {
    name,
    node: index,
    major: UVERBS_MAJOR,
    minor: UVERBS_FIRST_MINOR + index,
    profile,
    faults,
    nodeGuid,
    sysImageGuid: profile.sys_image_guid === 'auto' ? nodeGuid : profile.sys_image_guid,
    gid(port, entry) {
      if (entry.gid === 'auto') return identity.linkLocalGid(port);
      return entry.gid === 'auto-ipv4' ? identity.ipv4Gid(port) : entry.gid;
    },
    pciAddress: profile.sysfs.pci && pciAddress(profile.sysfs.pci.address, name, index),
  };
}

/** udev names EFA devices after bus and slot: rdmap16s27 is 0000:10:1b.0. Others get a bus of their own. */
function pciAddress(given: string, name: string, index: number): string {
  if (given !== 'auto') return given;
  const [, bus, slot] = /^rdmap(\d+)s(\d+)$/.exec(name) ?? [];
  const isPlace = Number(bus) <= 0xff && Number(slot) <= 0x1f;
  const [busNumber, slotNumber] = isPlace ? [Number(bus), Number(slot)] : [index & 0xff, 0x1e + (index >> 8)];
  return `0000:${byte(busNumber)}:${byte(slotNumber)}.0`;
}

const byte = (value: number): string => value.toString(16).padStart(2, '0');
