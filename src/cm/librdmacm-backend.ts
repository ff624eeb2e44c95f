/** The connection manager through librdmacm. */
import { PortSpace } from '../abi/rdmacm-codes.ts';
import { decodeSocketAddress, encodeSocketAddress } from '../abi/sockaddr.ts';
import { QpType } from '../abi/verbs-codes.ts';
import type { ibUverbsAhAttr, ibUverbsQpAttr, ibvQpAttr } from '../abi/verbs-qp.ts';
import type { Decoded } from '../layout/codec.ts';
import type { CmIdHandle } from '../native/cm-id.ts';
import type { CmEventChannel, Librdmacm, NativeCmEvent } from '../native/librdmacm.ts';
import type { Backend, BackendChannel, BackendEvent, BackendId, RouteValues } from './backend.ts';
import { REASON_VENDOR_OPTION } from './reject-reasons.ts';

/** A tool's queue pair carries nothing: the smallest that every device makes. */
const QUEUE_DEPTH = 4;
const SRQ_DEPTH = 16;

export function librdmacmBackend(library: Librdmacm): Backend {
  // An id may move between channels: it is known to the backend, not to one of them.
  const ids = new Map<CmIdHandle, BackendId>();
  const channels = new WeakMap<BackendChannel, CmEventChannel>();
  let count = 0;
  const adopt = (handle: CmIdHandle): BackendId => {
    const known = ids.get(handle);
    if (known) return known;
    const id = idOf(
      handle,
      `${++count}`,
      () => ids.delete(handle),
      (channel) => channels.get(channel),
    );
    ids.set(handle, id);
    return id;
  };
  return {
    async openChannel() {
      const native = await library.createEventChannel();
      const channel = channelOf(native, adopt);
      channels.set(channel, native);
      return channel;
    },
  };
}

function channelOf(channel: CmEventChannel, adopt: (handle: CmIdHandle) => BackendId): BackendChannel {
  return {
    createId: async (portSpace) => adopt(await channel.createId(PortSpace.valueOf(portSpace))),
    async nextEvent() {
      const event = await channel.nextEvent();
      return event && eventOf(event, adopt);
    },
    wake: () => channel.wake(),
    close: () => channel.close(),
  };
}

function eventOf(event: NativeCmEvent, adopt: (handle: CmIdHandle) => BackendId): BackendEvent {
  return {
    id: adopt(event.id),
    listener: event.listener && adopt(event.listener),
    event: event.event,
    status: event.status,
    privateData: event.privateData,
    conn: event.conn,
    ud: event.ud && {
      qp_num: event.ud.qp_num,
      qkey: event.ud.qkey,
      ah_attr: uverbsAhAttr(event.ud.ah_attr),
    },
  };
}

function idOf(
  handle: CmIdHandle,
  key: string,
  forget: () => void,
  nativeOf: (channel: BackendChannel) => CmEventChannel | undefined,
): BackendId {
  return {
    key,
    route(): RouteValues {
      const { route, port_num } = handle.read();
      return {
        local: decodeSocketAddress(route.addr.src_storage),
        peer: decodeSocketAddress(route.addr.dst_storage),
        sgid: route.addr.addr.ibaddr.sgid,
        dgid: route.addr.addr.ibaddr.dgid,
        pkey: route.addr.addr.ibaddr.pkey,
        port: port_num,
        paths: handle.paths(),
      };
    },
    device: () => handle.device(),
    bindAddr: (address) => handle.bindAddr(encodeSocketAddress(address)),
    resolveAddr: (source, destination, timeoutMs) =>
      handle.resolveAddr(source && encodeSocketAddress(source), encodeSocketAddress(destination), timeoutMs),
    resolveRoute: (timeoutMs) => handle.resolveRoute(timeoutMs),
    async createQp({ datagram, sharedReceiveQueue }) {
      if (sharedReceiveQueue) await handle.createSrq({ attr: { max_wr: SRQ_DEPTH, max_sge: 1 } });
      await handle.createQp({
        qp_type: QpType.valueOf(datagram ? 'UD' : 'RC'),
        cap: {
          max_send_wr: QUEUE_DEPTH,
          max_recv_wr: QUEUE_DEPTH,
          max_send_sge: 1,
          max_recv_sge: 1,
        },
      });
      return handle.queuePairNumber() ?? 0;
    },
    createDataPath: ({ datagram, sends, receives }) =>
      handle.createDataPath(
        {
          qp_type: QpType.valueOf(datagram ? 'UD' : 'RC'),
          cap: { max_send_wr: sends, max_recv_wr: receives, max_send_sge: 1, max_recv_sge: 1 },
        },
        sends + receives,
      ),
    connect: (values, privateData) => handle.connect(values, privateData),
    accept: (values, privateData) => handle.accept(values, privateData),
    reject: (reason, privateData) =>
      reason === REASON_VENDOR_OPTION ? handle.rejectEce(privateData) : handle.reject(privateData),
    listen: (backlog) => handle.listen(backlog),
    disconnect: () => handle.disconnect(),
    establish: () => handle.establish(),
    setOption: (level, name, value) => handle.setOption(level, name, value),
    async initQpAttr(state) {
      const { attr, mask } = await handle.initQpAttr(state);
      return uverbsQpAttr(attr, mask);
    },
    notify: (event) => handle.notify(event),
    joinMulticast: (group, sendOnly) => handle.joinMulticast(encodeSocketAddress(group), sendOnly),
    leaveMulticast: (group) => handle.leaveMulticast(encodeSocketAddress(group)),
    async migrate(channel) {
      const native = nativeOf(channel);
      if (!native) throw new TypeError('the channel is of another backend');
      await handle.migrate(native);
    },
    destroyQp: () => handle.destroyQp(),
    setLocalEce: (ece) => handle.setLocalEce({ ...ece, comp_mask: 0 }),
    async remoteEce() {
      const { vendor_id, options } = await handle.remoteEce();
      return { vendor_id, options };
    },
    resolveAddrinfo: (node, service) => handle.resolveAddrinfo(node, service),
    writeCmEvent: (event, status, argument) => handle.writeCmEvent(event, status, argument),
    async destroy() {
      await handle.destroy();
      forget();
    },
  };
}

const uverbsAhAttr = (attr: Decoded<typeof ibvQpAttr>['ah_attr']): Decoded<typeof ibUverbsAhAttr> => ({
  ...attr,
  grh: { ...attr.grh, reserved: new Uint8Array(1) },
  reserved: new Uint8Array(1),
});

/** libibverbs' form of the attributes back into the kernel's, of which it is a copy. */
function uverbsQpAttr(attr: Decoded<typeof ibvQpAttr>, mask: number): Decoded<typeof ibUverbsQpAttr> {
  const { cap, rate_limit: _notInTheKernelsForm, ...rest } = attr;
  return {
    ...rest,
    ...cap,
    qp_attr_mask: mask,
    ah_attr: uverbsAhAttr(attr.ah_attr),
    alt_ah_attr: uverbsAhAttr(attr.alt_ah_attr),
    reserved: new Uint8Array(5),
  };
}
