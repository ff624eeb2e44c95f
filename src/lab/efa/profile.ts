/**
 * What a simulated device is: every value that the kernel would answer, and where each is known from. A profile file
 * is this in JSON; each value stands alone or as {"value": ..., "source": "observed" | "assumed"}.
 */
import { efaAllocUcontextResp, efaExQueryDeviceResp } from '../../abi/efa-kernel.ts';
import {
  ibUverbsExQueryDeviceResp,
  ibUverbsQueryDeviceResp,
  ibUverbsQueryPortResp,
  ibUverbsQueryPortRespEx,
} from '../../abi/uverbs.ts';
import type { Decoded } from '../../layout/codec.ts';
import { u32, u64 } from '../../layout/scalar.ts';
import { omitting, struct } from '../../layout/struct.ts';

/** `observed`: read from a real card and published; `assumed`: plausible, never seen; `given`: set by a user. */
export type Source = 'observed' | 'assumed' | 'given';

/** The parts of a profile that are kernel structures, without what the lab fills in itself. */
export const queryDeviceLayout = omitting(
  ibUverbsQueryDeviceResp,
  'node_guid',
  'sys_image_guid',
  'phys_port_cnt',
  'reserved',
);
export const queryDeviceExLayout = omitting(ibUverbsExQueryDeviceResp, 'base', 'response_length', 'reserved');
export const queryPortLayout = omitting(ibUverbsQueryPortResp, 'reserved');
export const queryPortExLayout = omitting(ibUverbsQueryPortRespEx, 'legacy_resp', 'reserved');
export const allocUcontextLayout = omitting(efaAllocUcontextResp, 'reserved_b0');
export const efaQueryDeviceLayout = efaExQueryDeviceResp;
/** The answers that are single values in attributes of their own. */
export const contextLayout = struct('get_context', { num_comp_vectors: u32, core_support: u64 });
export const compCntrCapsLayout = struct('query_comp_cntr_caps', {
  max_counters: u32,
  max_value: u64,
  supported_qp_attach_ops: u32,
});

/** A GUID, or one that the lab makes for each device. */
export type GuidValue = bigint | 'auto';

export const GID_TYPES = ['IB', 'RoCE v1', 'RoCE v2'] as const;
export type GidTypeName = (typeof GID_TYPES)[number];

export const NETDEV_STATES = ['up', 'down', 'lowerlayerdown', 'dormant', 'notpresent', 'unknown'] as const;
export type NetdevState = (typeof NETDEV_STATES)[number];

/** One valid slot of a port's GID table. */
export interface GidProfile {
  readonly index: number;
  /** The GID; `auto` is a link-local one of the device's own, `auto-ipv4` an IPv4-mapped one. */
  readonly gid: Uint8Array | 'auto' | 'auto-ipv4';
  readonly type: GidTypeName;
  /** Network device behind it, or null. */
  readonly netdev: string | null;
  readonly netdev_ifindex: number;
  /** Its operstate in sysfs; null: it is in another network namespace. */
  readonly netdev_state: NetdevState | null;
}

export interface PortProfile {
  readonly query_port: Decoded<typeof queryPortLayout> & Decoded<typeof queryPortExLayout>;
  /** In units of 100 Mb/s; null: a kernel that does not know the call. */
  readonly speed: bigint | null;
  readonly gids: readonly GidProfile[];
  readonly pkeys: readonly number[];
  readonly hw_counters: ReadonlyMap<string, bigint>;
}

export interface PciProfile {
  /** `0000:10:1b.0`, or `auto`: made from the device's name or number. */
  readonly address: string;
  readonly vendor: number;
  readonly device: number;
  readonly subsystem_vendor: number;
  readonly subsystem_device: number;
  readonly class: number;
}

/** What sysfs says beyond the kernel structures. */
export interface SysfsProfile {
  readonly node_type: string;
  readonly node_desc: string;
  readonly fw_ver: string;
  /** null: the driver has no such attribute. */
  readonly hca_type: string | null;
  readonly board_id: string | null;
  readonly numa_node: number;
  readonly netdevs: readonly string[];
  readonly driver: string;
  /** Of the driver's messages; class/infiniband_verbs has its own. */
  readonly abi_version: number;
  /** null: a virtual device. */
  readonly pci: PciProfile | null;
}

/** One simulated device's values. */
export interface Profile {
  readonly title: string;
  /** Whose messages the provider library understands. */
  readonly provider: 'efa' | 'rxe';
  readonly node_guid: GuidValue;
  readonly sys_image_guid: GuidValue;
  readonly phys_port_cnt: number;
  readonly query_device: Decoded<typeof queryDeviceLayout>;
  readonly query_device_ex: Decoded<typeof queryDeviceExLayout>;
  readonly context: Decoded<typeof contextLayout>;
  /** null: the driver does not know the call. */
  readonly comp_cntr_caps: Decoded<typeof compCntrCapsLayout> | null;
  readonly efa: {
    readonly alloc_ucontext: Decoded<typeof allocUcontextLayout>;
    readonly query_device: Decoded<typeof efaQueryDeviceLayout>;
  };
  readonly ports: readonly PortProfile[];
  readonly hw_counters: ReadonlyMap<string, bigint>;
  readonly sysfs: SysfsProfile;
  /** Path of each value, such as `query_device.max_qp` or `ports[0].speed`, to where it is known from. */
  readonly sources: ReadonlyMap<string, Source>;
}

/** Whether every value of the profile was read from a card or set by the user. */
export const isAllKnown = (profile: Profile): boolean => ![...profile.sources.values()].includes('assumed');
