/**
 * What the core asks of whatever speaks to the kernel's user-MAD interface. libibumad is one way, the device itself
 * another; the interface knows neither. Failed calls throw NativeCallError with the errno.
 */

/** Which header stands before each datagram: `old` has no P_Key index. */
export type HeaderKind = 'old' | 'new';

export type TransportName = 'libibumad' | 'device';

export interface Umad {
  readonly transport: TransportName;
  /** Devices with a port for datagrams. A name may be made up: only those that `device` knows are real. */
  deviceNames(): Promise<string[]>;
  /** Throws where the device is not there. */
  device(name: string): Promise<UmadDevice>;
  /** Throws where the port is not there. */
  port(device: string, port: number): Promise<UmadPortAttributes>;
  /** The GID table, without its empty places. */
  gids(device: string, port: number): Promise<readonly GidEntry[]>;
  /** Opens umadN of a port. Throws with the errno of open(2), or EOPNOTSUPP, EINVAL, ENODEV. */
  openPort(device: string, port: number): Promise<UmadChannel>;
}

export interface UmadDevice {
  /** enum ibv_node_type. */
  readonly node_type: number;
  readonly numports: number;
}

export interface UmadPortAttributes {
  readonly base_lid: number;
  readonly sm_lid: number;
  /** enum ibv_port_state. */
  readonly state: number;
  readonly gid_prefix: bigint;
  readonly port_guid: bigint;
  /** `InfiniBand` or `Ethernet`. */
  readonly link_layer: string;
}

export interface GidEntry {
  readonly index: number;
  readonly gid: Uint8Array;
  /** `RoCE v2` …; null where the kernel does not tell. */
  readonly type: string | null;
}

/** What the kernel is asked to deliver to an agent. */
export interface Registration {
  /** null: 0 for subnet management, else 1. */
  readonly qpn: number | null;
  /** 0 receives no class: the agent only sends, and gets its replies. */
  readonly mgmtClass: number;
  readonly version: number;
  /** The vendor, for classes 0x30 to 0x4f; else null. */
  readonly oui: number | null;
  /** Methods that are wanted unasked, a bit each; none for replies alone. */
  readonly methods: bigint;
  readonly rmpp: number;
  /** Bit 0: the program does RMPP itself. Others are not known to today's kernels. */
  readonly flags: number;
}

/** An open umadN. Close it once; every later call throws ClosedHandleError. */
export interface UmadChannel {
  readonly header: HeaderKind;
  /**
   * Registers an agent, and returns its id.
   * @throws RefusedFlagsError where flags are not known, with those that are
   * @throws RangeError for what the call has no room for
   */
  register(registration: Registration): number;
  /** Hands header and datagram to the kernel; id, timeout and retries stand in the header. */
  send(message: Uint8Array): void;
  /** As send, on a thread of the pool: to find out a neighbour, the kernel waits. */
  sendAsync(message: Uint8Array): Promise<void>;
  /**
   * Takes the next message into `buffer`, header first.
   * @param waitMs how long this thread, and the event loop with it, may wait for one: 0 or very little
   * @returns bytes of the datagram; null where nothing is there; `{ needed }` bytes where it does not fit: it can be
   *   read again
   */
  receive(buffer: Uint8Array, waitMs?: number): number | null | { readonly needed: number };
  /** Whether a message is there within the time. Waits on a thread of the pool. */
  poll(milliseconds: number): Promise<boolean>;
  close(): void;
}
