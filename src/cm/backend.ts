/**
 * What the core asks of whatever speaks to the kernel's connection manager. librdmacm is one way; the interface
 * does not know it. Failed calls throw NativeCallError with the errno. The order of calls is the caller's care.
 */
import type { ibvSaPathRec } from '../abi/rdmacm.ts';
import type { PortSpaceName } from '../abi/rdmacm-codes.ts';
import type { SocketAddress } from '../abi/sockaddr.ts';
import type { ibUverbsAhAttr, ibUverbsQpAttr } from '../abi/verbs-qp.ts';
import type { Decoded } from '../layout/codec.ts';
import type { DataPath, DataPathRequest } from './data-path.ts';

export interface Backend {
  openChannel(): Promise<BackendChannel>;
}

export interface BackendChannel {
  createId(portSpace: PortSpaceName): Promise<BackendId>;
  /** The next event, copied and acknowledged; null after wake. One caller at a time. */
  nextEvent(): Promise<BackendEvent | null>;
  wake(): void;
  /** Destroys what is left of the ids, then the channel. */
  close(): Promise<void>;
}

export interface BackendEvent {
  readonly id: BackendId;
  /** The listening id, for a connection request. */
  readonly listener: BackendId | null;
  /** enum rdma_cm_event_type. */
  readonly event: number;
  /** A negative errno, or a positive code of the transport. */
  readonly status: number;
  readonly privateData: Uint8Array;
  readonly conn: ConnectionValues | null;
  readonly ud: DatagramValues | null;
}

/** What the messages of a connection say besides their private data. */
export interface ConnectionValues {
  readonly responder_resources: number;
  readonly initiator_depth: number;
  readonly flow_control: number;
  readonly retry_count: number;
  readonly rnr_retry_count: number;
  readonly srq: number;
  readonly qp_num: number;
}

export interface DatagramValues {
  readonly qp_num: number;
  readonly qkey: number;
  readonly ah_attr: Decoded<typeof ibUverbsAhAttr>;
}

export interface RouteValues {
  readonly local: SocketAddress | null;
  readonly peer: SocketAddress | null;
  readonly sgid: Uint8Array;
  readonly dgid: Uint8Array;
  readonly pkey: number;
  readonly port: number;
  readonly paths: readonly Decoded<typeof ibvSaPathRec>[];
}

/** Enhanced connection establishment. */
export interface EceValues {
  readonly vendor_id: number;
  readonly options: number;
}

export interface BackendDevice {
  readonly name: string;
  /** enum ibv_transport_type. */
  readonly transport: number;
}

export interface QueuePairRequest {
  readonly datagram: boolean;
  readonly sharedReceiveQueue: boolean;
}

export interface BackendId {
  /** Unique among the ids of all channels of the backend. */
  readonly key: string;
  route(): RouteValues;
  /** The device that the id is bound to, null before. */
  device(): BackendDevice | null;
  bindAddr(address: SocketAddress): Promise<void>;
  resolveAddr(source: SocketAddress | null, destination: SocketAddress, timeoutMs: number): Promise<void>;
  resolveRoute(timeoutMs: number): Promise<void>;
  /** Makes a queue pair for which nothing ever completes; resolves with its number. */
  createQp(request: QueuePairRequest): Promise<number>;
  /** As createQp, for data: its completion queue has room for all that may be under way. */
  createDataPath(request: DataPathRequest & { readonly datagram: boolean }): Promise<DataPath>;
  connect(values: ConnectionValues, privateData: Uint8Array): Promise<void>;
  accept(values: ConnectionValues, privateData: Uint8Array): Promise<void>;
  reject(reason: number, privateData: Uint8Array): Promise<void>;
  listen(backlog: number): Promise<void>;
  disconnect(): Promise<void>;
  establish(): Promise<void>;
  setOption(level: number, name: number, value: Uint8Array): Promise<void>;
  /** @param state enum ibv_qp_state */
  initQpAttr(state: number): Promise<Decoded<typeof ibUverbsQpAttr>>;
  notify(event: number): Promise<void>;
  /**
   * Starts to join a group; it ends in MULTICAST_JOIN, whose `ud` has the group's address, Q_Key and queue pair
   * number, or in MULTICAST_ERROR. The id is bound to a device; a queue pair that it has by then receives what is
   * sent to the group, unless `sendOnly`.
   */
  joinMulticast(group: SocketAddress, sendOnly: boolean): Promise<void>;
  /** Leaves a group that was joined by the same address. Groups that are left over are left by destroy. */
  leaveMulticast(group: SocketAddress): Promise<void>;
  /** From now on, the events of the id come through another channel of the same backend. */
  migrate(channel: BackendChannel): Promise<void>;
  destroyQp(): Promise<void>;
  /** Options of a vendor's own, to go along with connect or accept. */
  setLocalEce(ece: EceValues): Promise<void>;
  remoteEce(): Promise<EceValues>;
  /** Ends in an event. */
  resolveAddrinfo(node: string | null, service: string | null): Promise<void>;
  /** Puts an event of one's own into the channel. */
  writeCmEvent(event: number, status: number, argument: bigint): Promise<void>;
  destroy(): Promise<void>;
}
