/** An id of the kernel's connection manager, with the queue pair and the memberships that it has here. */
import { constants } from 'node:os';
import { CM_MAXIMUM, JoinMulticastFlag, type PortSpaceName } from '../../abi/rdmacm-codes.ts';
import { encodeSocketAddress, type SocketAddress } from '../../abi/sockaddr.ts';
import { UcmaIbServiceFlag } from '../../abi/ucma/codes.ts';
import {
  rdmaUcmBindIp,
  type rdmaUcmConnParam,
  type rdmaUcmEce,
  type rdmaUcmEventResp,
  rdmaUcmIbService,
  rdmaUcmJoinMcast,
} from '../../abi/ucma/linux.ts';
import { LINUX } from '../../abi/ucma/linux-commands.ts';
import { rdmaUcmSetOption, UCMA_PRIVATE_DATA } from '../../abi/ucma/shared.ts';
import { QpType } from '../../abi/verbs-codes.ts';
import { Failure } from '../../explain/failure.ts';
import type { Decoded } from '../../layout/codec.ts';
import { ClosedHandleError, NativeCallError } from '../../native/errors.ts';
import { QueuePair } from '../../native/queue-pair.ts';
import { Room } from '../../native/user-cm.ts';
import { VerbsDataPath } from '../../native/verbs-data-path.ts';
import type {
  BackendChannel,
  BackendDevice,
  BackendId,
  ConnectionValues,
  EceValues,
  QueuePairRequest,
  RouteValues,
} from '../backend.ts';
import type { DataPath, DataPathRequest } from '../data-path.ts';
import { REASON_CONSUMER } from '../reject-reasons.ts';
import type { KernelDevice, KernelDevices } from './devices.ts';
import type { Exchange, RawWrite, UserCm } from './exchange.ts';
import {
  attributesFor,
  failedState,
  readyForConnection,
  readyForDatagrams,
  stopped,
  toInit,
  UNLIMITED,
} from './queue-pair-states.ts';
import { NO_ROUTE, queryRoute } from './route.ts';

const { EADDRNOTAVAIL, EINVAL } = constants.errno;

/** For lists of paths and services too. */
const QUERY_ROOM = 4096;

const OPTVAL = rdmaUcmSetOption.offsetOf('optval');

/** A tool's queue pair carries nothing: the smallest that every device makes. */
const QUEUE_DEPTH = 4;
const SRQ_DEPTH = 16;

/** A multicast group that an id has joined, or is about to. */
export interface Membership {
  readonly id: KernelId;
  readonly address: Uint8Array;
  readonly sendOnly: boolean;
  /** The kernel's number for it, null while the join is under way. */
  handle: number | null;
  /** The group's GID and LID, once the queue pair receives what is sent to it. */
  attached: { readonly gid: Uint8Array; readonly lid: number } | null;
}

/** What an id needs of the channel that its events come through. */
export interface Home {
  readonly cm: UserCm;
  readonly devices: KernelDevices;
  /** For MIGRATE_ID. */
  readonly fd: number;
  readonly ids: Registry;
}

/** Who is known by number to all channels of a backend. */
export interface Registry {
  forget(id: KernelId): void;
  /** Gives a membership its number. */
  enter(membership: Membership): bigint;
  leave(membership: Membership): void;
  channelOf(channel: BackendChannel): Home | null;
}

type EventParam = Decoded<typeof rdmaUcmEventResp>['param'];

export class KernelId implements BackendId {
  readonly #calls = new Set<Promise<unknown>>();
  readonly #memberships: Membership[] = [];
  #route: RouteValues = NO_ROUTE;
  #device: KernelDevice | null = null;
  #queuePair: QueuePair | null = null;
  /** What the queue pair belongs to, if it carries data. */
  #dataPath: VerbsDataPath | null = null;
  #destroyed: Promise<void> | null = null;
  /** What the peer has asked for, or what was asked of it. */
  #responderResources = 0;
  #initiatorDepth = 0;
  #localEce: EceValues = { vendor_id: 0, options: 0 };
  #remoteEce: EceValues = { vendor_id: 0, options: 0 };
  /** The connection has failed on this side: what the kernel tells of it later is no news. */
  isConnectionFailed = false;

  constructor(
    private channel: Home,
    readonly key: string,
    /** Returned with the events of the id. */
    readonly uid: bigint,
    /** The kernel's number of it. */
    readonly handle: number,
    readonly portSpace: PortSpaceName,
  ) {}

  get isDatagram(): boolean {
    return this.portSpace === 'UDP' || this.portSpace === 'IPOIB';
  }

  get hasQueuePair(): boolean {
    return this.#queuePair !== null;
  }

  route(): RouteValues {
    return this.#route;
  }

  device(): BackendDevice | null {
    return this.#device;
  }

  /** Runs a call that destroy waits for; after destroy, ClosedHandleError. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#destroyed !== null) throw new ClosedHandleError('the id has been destroyed');
    const call = work();
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Asks the kernel where the id is by now. Throws NativeCallError. */
  async look(): Promise<void> {
    const { route, index, guid } = await queryRoute(this.channel.cm, this.handle);
    this.#route = route;
    // Without a port it is bound to no device: an address that stands for all of them.
    if (route.port !== 0) this.#device = await this.channel.devices.find(index, guid);
  }

  /** BIND_IP: every kernel has it. */
  bindAddr(address: SocketAddress): Promise<void> {
    return this.run(async () => {
      await this.channel.cm.tell(LINUX.BIND_IP, { id: this.handle, addr: inRoom(address) });
      await this.look();
    });
  }

  /** BIND. */
  bindAny(address: SocketAddress): Promise<void> {
    const bytes = encodeSocketAddress(address);
    return this.run(async () => {
      await this.channel.cm.tell(LINUX.BIND, {
        id: this.handle,
        addr_size: bytes.length,
        addr: inAnyRoom(bytes),
      });
      await this.look();
    });
  }

  resolveAddr(source: SocketAddress | null, destination: SocketAddress, timeoutMs: number): Promise<void> {
    return this.run(() =>
      this.channel.cm.tell(LINUX.RESOLVE_IP, {
        id: this.handle,
        timeout_ms: timeoutMs,
        dst_addr: inRoom(destination),
        ...(source && { src_addr: inRoom(source) }),
      }),
    );
  }

  /** RESOLVE_ADDR. */
  resolveAny(source: SocketAddress | null, destination: SocketAddress, timeoutMs: number): Promise<void> {
    const to = encodeSocketAddress(destination);
    const from = source && encodeSocketAddress(source);
    return this.run(() =>
      this.channel.cm.tell(LINUX.RESOLVE_ADDR, {
        id: this.handle,
        timeout_ms: timeoutMs,
        dst_size: to.length,
        dst_addr: inAnyRoom(to),
        ...(from && { src_size: from.length, src_addr: inAnyRoom(from) }),
      }),
    );
  }

  resolveRoute(timeoutMs: number): Promise<void> {
    return this.run(() =>
      this.channel.cm.tell(LINUX.RESOLVE_ROUTE, { id: this.handle, timeout_ms: timeoutMs }),
    );
  }

  createQp({ datagram, sharedReceiveQueue }: QueuePairRequest): Promise<number> {
    return this.run(async () => {
      const device = this.#bound();
      const queuePair = await QueuePair.create(await device.context(), {
        type: QpType.valueOf(datagram ? 'UD' : 'RC'),
        sendRequests: QUEUE_DEPTH,
        receiveRequests: QUEUE_DEPTH,
        sharedReceiveRequests: sharedReceiveQueue ? SRQ_DEPTH : null,
      });
      await this.#begin(queuePair, datagram);
      return queuePair.number;
    });
  }

  /** Takes a fresh queue pair as far as it goes without a peer, as the one of the id. Closes it where that fails. */
  async #begin(queuePair: QueuePair, datagram: boolean): Promise<void> {
    try {
      if (datagram) await readyForDatagrams(this.channel.cm, this.handle, queuePair);
      else await toInit(this.channel.cm, this.handle, queuePair);
    } catch (error) {
      await queuePair.close();
      throw error;
    }
    this.#queuePair = queuePair;
  }

  createDataPath({
    datagram,
    sends,
    receives,
  }: DataPathRequest & { readonly datagram: boolean }): Promise<DataPath> {
    return this.run(async () => {
      const { pointer } = await this.#bound().context();
      let queuePair: QueuePair | null = null;
      this.#dataPath = await VerbsDataPath.open(pointer, sends + receives, {
        create: async (domain, completionQueue) => {
          queuePair = await QueuePair.createWith(domain, completionQueue, {
            type: QpType.valueOf(datagram ? 'UD' : 'RC'),
            sendRequests: sends,
            receiveRequests: receives,
            sharedReceiveRequests: null,
          });
          await this.#begin(queuePair, datagram);
          return queuePair.pointer;
        },
        destroy: async () => {
          await queuePair?.close();
        },
      });
      return this.#dataPath;
    });
  }

  #bound(): KernelDevice {
    if (this.#device !== null) return this.#device;
    throw new Failure(
      'NO_DEVICE',
      'the kernel has bound the id to a device that libibverbs does not list',
      'rdmatool list; a device that has just gone, or a provider library that is not installed',
    );
  }

  /** Throws NativeCallError EINVAL for more than the device can, as librdmacm does. */
  async #checkLimits(call: string, values: ConnectionValues): Promise<{ responder: number; depth: number }> {
    const { responder_resources, initiator_depth } = values;
    if (this.portSpace !== 'TCP') return { responder: responder_resources, depth: initiator_depth };
    const limits = await this.#bound().limits();
    const isTooMany = (value: number, limit: number): boolean => value !== CM_MAXIMUM && value > limit;
    if (
      isTooMany(responder_resources, limits.responderResources) ||
      isTooMany(initiator_depth, limits.initiatorDepth)
    ) {
      throw new NativeCallError(call, EINVAL);
    }
    return {
      responder: responder_resources === CM_MAXIMUM ? limits.responderResources : responder_resources,
      depth: initiator_depth === CM_MAXIMUM ? limits.initiatorDepth : initiator_depth,
    };
  }

  connect(values: ConnectionValues, privateData: Uint8Array): Promise<void> {
    return this.run(async () => {
      const { responder, depth } = await this.#checkLimits('CONNECT', values);
      this.#responderResources = responder;
      this.#initiatorDepth = depth;
      await this.channel.cm.tell(LINUX.CONNECT, {
        id: this.handle,
        conn_param: this.#parameters(values, privateData),
        ece: eceOf(this.#localEce),
      });
    });
  }

  #parameters(values: ConnectionValues, privateData: Uint8Array): Decoded<typeof rdmaUcmConnParam> {
    const data = new Uint8Array(UCMA_PRIVATE_DATA);
    data.set(privateData);
    const queuePair = this.#queuePair;
    return {
      ...values,
      qkey: 0,
      responder_resources: this.#responderResources,
      initiator_depth: this.#initiatorDepth,
      ...(queuePair && {
        qp_num: queuePair.number,
        srq: queuePair.options.sharedReceiveRequests === null ? 0 : 1,
      }),
      private_data: data,
      private_data_len: privateData.length,
      valid: 1,
    };
  }

  accept(values: ConnectionValues, privateData: Uint8Array): Promise<void> {
    return this.run(async () => {
      await this.#agree(values);
      const queuePair = this.#queuePair;
      if (queuePair && !this.isDatagram) {
        await this.#ready(queuePair, this.#responderResources, this.#initiatorDepth);
      }
      try {
        await this.channel.cm.tell(LINUX.ACCEPT, {
          uid: this.uid,
          id: this.handle,
          conn_param: this.#parameters(values, privateData),
          ece: eceOf(this.#localEce),
        });
      } catch (error) {
        if (queuePair) await failedState(queuePair);
        throw error;
      }
    });
  }

  /** What the peer has asked for, as far as this side can and will. */
  async #agree(values: ConnectionValues): Promise<void> {
    const asked = { responder: this.#responderResources, depth: this.#initiatorDepth };
    const { responder, depth } = await this.#checkLimits('ACCEPT', values);
    const least = (value: number, own: number, wish: number): number =>
      value === CM_MAXIMUM ? Math.min(own, wish) : value;
    this.#responderResources = least(values.responder_resources, responder, asked.responder);
    this.#initiatorDepth = least(values.initiator_depth, depth, asked.depth);
  }

  #ready(queuePair: QueuePair, responderResources: number, initiatorDepth: number): Promise<void> {
    const place = { device: this.#bound(), port: this.#route.port };
    return readyForConnection(
      this.channel.cm,
      this.handle,
      queuePair,
      place,
      responderResources,
      initiatorDepth,
    );
  }

  reject(reason: number, privateData: Uint8Array): Promise<void> {
    const data = new Uint8Array(UCMA_PRIVATE_DATA);
    data.set(privateData);
    return this.run(() =>
      this.channel.cm.tell(LINUX.REJECT, {
        id: this.handle,
        // The application is said by saying nothing: kernels before 5.8 have no field for it.
        reason: reason === REASON_CONSUMER ? 0 : reason,
        private_data: data,
        private_data_len: privateData.length,
      }),
    );
  }

  listen(backlog: number): Promise<void> {
    return this.run(async () => {
      await this.channel.cm.tell(LINUX.LISTEN, { id: this.handle, backlog });
      // Only now it has a port where none was asked for.
      await this.look();
    });
  }

  disconnect(): Promise<void> {
    return this.run(async () => {
      if (this.#queuePair) await stopped(this.#queuePair, this.#bound());
      await this.channel.cm.tell(LINUX.DISCONNECT, { id: this.handle });
    });
  }

  establish(): Promise<void> {
    return this.run(() => this.#establish());
  }

  /** The third message: an ACCEPT without parameters. */
  #establish(): Promise<void> {
    return this.channel.cm.tell(LINUX.ACCEPT, { id: this.handle });
  }

  setOption(level: number, name: number, value: Uint8Array): Promise<void> {
    return this.run(() =>
      this.channel.cm.tell(
        LINUX.SET_OPTION,
        { id: this.handle, level, optname: name, optlen: value.length },
        [{ at: OPTVAL, room: Room.of(value) }],
      ),
    );
  }

  initQpAttr(state: number) {
    return this.run(() => attributesFor(this.channel.cm, this.handle, state));
  }

  notify(event: number): Promise<void> {
    return this.run(() => this.channel.cm.tell(LINUX.NOTIFY, { id: this.handle, event }));
  }

  /** JOIN_IP_MCAST, which every kernel has; to send only, JOIN_MCAST. */
  joinMulticast(group: SocketAddress, sendOnly: boolean): Promise<void> {
    return this.join(group, sendOnly, sendOnly);
  }

  /** @param any JOIN_MCAST; else JOIN_IP_MCAST, which has no flags */
  join(group: SocketAddress, sendOnly: boolean, any: boolean): Promise<void> {
    return this.run(async () => {
      const address = encodeSocketAddress(group);
      const membership: Membership = { id: this, address, sendOnly, handle: null, attached: null };
      const uid = this.channel.ids.enter(membership);
      try {
        const { id } = any
          ? await this.channel.cm.ask(LINUX.JOIN_MCAST, {
              uid,
              id: this.handle,
              addr_size: address.length,
              join_flags: JoinMulticastFlag.valueOf(sendOnly ? 'SENDONLY_FULLMEMBER' : 'FULLMEMBER'),
              addr: inAnyRoom(address),
            })
          : await this.channel.cm.ask(LINUX.JOIN_IP_MCAST, { uid, id: this.handle, addr: inRoom(group) });
        membership.handle = id;
      } catch (error) {
        this.channel.ids.leave(membership);
        throw error;
      }
      this.#memberships.push(membership);
    });
  }

  leaveMulticast(group: SocketAddress): Promise<void> {
    return this.run(async () => {
      const address = encodeSocketAddress(group);
      const index = this.#memberships.findIndex((joined) => Buffer.compare(joined.address, address) === 0);
      const [membership] = index < 0 ? [] : this.#memberships.splice(index, 1);
      if (membership === undefined) throw new NativeCallError('LEAVE_MCAST', EADDRNOTAVAIL);
      await this.#leave(membership);
    });
  }

  async #leave(membership: Membership): Promise<void> {
    const { attached, handle } = membership;
    if (attached && this.#queuePair) await this.#queuePair.detach(attached.gid, attached.lid);
    membership.attached = null;
    try {
      if (handle !== null) await this.channel.cm.ask(LINUX.LEAVE_MCAST, { id: handle });
    } finally {
      this.channel.ids.leave(membership);
    }
  }

  async migrate(target: BackendChannel): Promise<void> {
    const to = this.channel.ids.channelOf(target);
    if (!to) throw new TypeError('the channel is of another backend');
    await this.run(async () => {
      const from = this.channel;
      // Its events may come through the new channel before the call has returned.
      this.channel = to;
      try {
        await to.cm.ask(LINUX.MIGRATE_ID, { id: this.handle, fd: from.fd });
      } catch (error) {
        this.channel = from;
        throw error;
      }
    });
  }

  /** Whether its events come through that channel. */
  isOf(channel: Home): boolean {
    return this.channel === channel;
  }

  destroyQp(): Promise<void> {
    return this.run(() => this.#dropQueuePair());
  }

  async #dropQueuePair(): Promise<void> {
    const queuePair = this.#queuePair;
    if (queuePair === null) return;
    // The kernel keeps a queue pair that is attached to a group.
    for (const membership of this.#memberships) {
      const { attached } = membership;
      membership.attached = null;
      if (attached) await queuePair.detach(attached.gid, attached.lid);
    }
    this.#queuePair = null;
    const path = this.#dataPath;
    this.#dataPath = null;
    // The data path destroys the queue pair before what that has used.
    await (path ?? queuePair).close();
  }

  async setLocalEce(ece: EceValues): Promise<void> {
    this.#localEce = ece;
  }

  async remoteEce(): Promise<EceValues> {
    return this.#remoteEce;
  }

  async resolveAddrinfo(): Promise<void> {
    throw new Failure(
      'NOT_IN_BACKEND',
      'resolve_addrinfo is a function of librdmacm: the kernel has nothing that looks names up',
      'use resolve-addr, or --backend librdmacm with rdma-core 60 or newer',
    );
  }

  writeCmEvent(event: number, status: number, argument: bigint): Promise<void> {
    return this.run(() =>
      this.channel.cm.tell(LINUX.WRITE_CM_EVENT, {
        id: this.handle,
        event,
        status: status >>> 0,
        param: { arg: argument },
      }),
    );
  }

  /** GET_OPTION, which no kernel answers. */
  getOption(): Promise<void> {
    return this.run(() => this.channel.cm.tell(LINUX.GET_OPTION, {}));
  }

  /** RESOLVE_IB_SERVICE: it ends in an event. */
  resolveIbService(serviceId: bigint | null, name: string | null): Promise<void> {
    const { service_name } = rdmaUcmIbService.fields;
    const bytes = new Uint8Array(service_name.size);
    // One byte is left for the NUL.
    if (name !== null) bytes.set(Buffer.from(name).subarray(0, service_name.size - 1));
    const flags =
      (serviceId === null ? 0n : UcmaIbServiceFlag.maskOf('ID')) |
      (name === null ? 0n : UcmaIbServiceFlag.maskOf('NAME'));
    return this.run(() =>
      this.channel.cm.tell(LINUX.RESOLVE_IB_SERVICE, {
        id: this.handle,
        ibs: { service_id: serviceId ?? 0n, service_name: bytes, flags: Number(flags) },
      }),
    );
  }

  /** QUERY_ROUTE, with everything that it answers. */
  askRoute(): Promise<Exchange> {
    return this.run(() =>
      this.channel.cm.checked(
        LINUX.QUERY_ROUTE,
        { id: this.handle },
        LINUX.QUERY_ROUTE.response?.layout.size ?? 0,
      ),
    );
  }

  /** QUERY, with everything that it answers. */
  query(option: number): Promise<Exchange> {
    return this.run(() => this.channel.cm.checked(LINUX.QUERY, { id: this.handle, option }, QUERY_ROOM));
  }

  /** Any bytes at all, to the descriptor that the id belongs to. What comes of it is the caller's to judge. */
  write(raw: RawWrite): Promise<Exchange> {
    return this.run(() => this.channel.cm.raw(raw));
  }

  /** For the channel: a request has come in as this id. */
  requested(param: EventParam, ece: Decoded<typeof rdmaUcmEce>): void {
    this.#initiatorDepth = param.conn.initiator_depth;
    this.#responderResources = param.conn.responder_resources;
    this.answered(ece);
  }

  /** For the channel: the peer has told what it agrees to. */
  answered({ vendor_id, attr_mod }: Decoded<typeof rdmaUcmEce>): void {
    this.#remoteEce = { vendor_id, options: attr_mod };
  }

  /** For the channel: the peer has answered, and there is a queue pair to move on. Throws NativeCallError. */
  async finishConnection(): Promise<void> {
    const queuePair = this.#queuePair;
    if (queuePair === null) return;
    try {
      await this.#ready(queuePair, UNLIMITED, UNLIMITED);
      await this.#establish();
    } catch (error) {
      this.isConnectionFailed = true;
      await failedState(queuePair);
      throw error;
    }
  }

  /** For the channel: the peer has refused. */
  async refused(): Promise<void> {
    if (this.#queuePair) await failedState(this.#queuePair);
  }

  /** For the channel: the group is there; the queue pair receives what is sent to it. Throws NativeCallError. */
  async joined(membership: Membership, gid: Uint8Array, lid: number): Promise<void> {
    if (this.#queuePair === null || membership.sendOnly) return;
    await this.#queuePair.attach(gid, lid);
    membership.attached = { gid, lid };
  }

  destroy(): Promise<void> {
    this.#destroyed ??= this.#destroy();
    return this.#destroyed;
  }

  async #destroy(): Promise<void> {
    await Promise.allSettled([...this.#calls]);
    // Memberships first: the kernel keeps a queue pair that is attached to a group.
    for (const membership of this.#memberships.splice(0)) await orGone(this.#leave(membership));
    await orGone(this.#dropQueuePair());
    this.channel.ids.forget(this);
    // Its answer tells how many events were taken of it. None of them can reach the id any more: they are looked
    // up by number, and the number is forgotten.
    await orGone(this.channel.cm.ask(LINUX.DESTROY_ID, { id: this.handle }));
  }
}

const roomOf = (address: Uint8Array, size: number): Uint8Array => {
  const room = new Uint8Array(size);
  room.set(address);
  return room;
};
/** In the room of a sockaddr_in6, and of any sockaddr. */
const inRoom = (address: SocketAddress): Uint8Array =>
  roomOf(encodeSocketAddress(address), rdmaUcmBindIp.fields.addr.size);
const inAnyRoom = (address: Uint8Array): Uint8Array => roomOf(address, rdmaUcmJoinMcast.fields.addr.size);

const eceOf = ({ vendor_id, options }: EceValues): Decoded<typeof rdmaUcmEce> => ({
  vendor_id,
  attr_mod: options,
});

/** What cannot be taken down in the kernel any more goes with the descriptor. */
async function orGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof NativeCallError)) throw error;
  }
}
