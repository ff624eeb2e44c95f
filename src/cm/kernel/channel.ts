/** A descriptor of /dev/infiniband/rdma_cm as an event channel, and what librdmacm does when an event comes. */
import { constants } from 'node:os';
import { CmEventType, PortSpace, type PortSpaceName } from '../../abi/rdmacm-codes.ts';
import type { rdmaUcmEventResp } from '../../abi/ucma/linux.ts';
import { LINUX } from '../../abi/ucma/linux-commands.ts';
import { QpType } from '../../abi/verbs-codes.ts';
import type { Decoded } from '../../layout/codec.ts';
import { ClosedHandleError, NativeCallError } from '../../native/errors.ts';
import type { UserCmNode } from '../../native/user-cm.ts';
import type { BackendChannel, BackendEvent, ConnectionValues } from '../backend.ts';
import type { KernelDevices } from './devices.ts';
import { type Exchange, UserCm } from './exchange.ts';
import { KernelId, type Membership } from './id.ts';
import type { KernelIds } from './ids.ts';

const { EAGAIN, EINTR } = constants.errno;

type RawEvent = Decoded<typeof rdmaUcmEventResp>;

const NONE = new Uint8Array();
const event = (name: Parameters<typeof CmEventType.valueOf>[0]): number => CmEventType.valueOf(name);

export class KernelChannel implements BackendChannel {
  readonly cm: UserCm;
  #open = true;

  constructor(
    private readonly node: UserCmNode,
    readonly ids: KernelIds,
    readonly devices: KernelDevices,
    seen: (exchange: Exchange) => void,
  ) {
    this.cm = new UserCm(node, seen);
    ids.open(this);
  }

  /** For MIGRATE_ID. */
  get fd(): number {
    return this.node.fd;
  }

  async createId(portSpace: PortSpaceName): Promise<KernelId> {
    const uid = this.ids.next();
    const isDatagram = portSpace === 'UDP' || portSpace === 'IPOIB';
    const { id } = await this.cm.ask(LINUX.CREATE_ID, {
      uid,
      ps: PortSpace.valueOf(portSpace),
      qp_type: QpType.valueOf(isDatagram ? 'UD' : 'RC'),
    });
    return this.#adopt(uid, id, portSpace);
  }

  #adopt(uid: bigint, handle: number, portSpace: PortSpaceName): KernelId {
    const id = new KernelId(this, String(uid), uid, handle, portSpace);
    this.ids.add(id);
    return id;
  }

  async nextEvent(): Promise<BackendEvent | null> {
    for (;;) {
      if (!(await this.node.readable())) return null;
      const raw = await this.#take();
      const found = raw && (await this.#process(raw));
      if (found) return found;
    }
  }

  /** GET_EVENT; null where the event has gone in between. */
  async #take(): Promise<RawEvent | null> {
    const isDatagram = ({ uid, id }: RawEvent): boolean | null => {
      const known = this.ids.find(uid, id);
      return known && ('uid' in known ? known.isDatagram : true);
    };
    try {
      return await this.cm.ask(LINUX.GET_EVENT, {}, isDatagram);
    } catch (error) {
      if (error instanceof NativeCallError && (error.errno === EAGAIN || error.errno === EINTR)) return null;
      throw error;
    }
  }

  async #process(raw: RawEvent): Promise<BackendEvent | null> {
    const known = this.ids.find(raw.uid, raw.id);
    if (raw.event === event('CONNECT_REQUEST')) return this.#request(raw, known);
    // What comes for an id that has been destroyed in the meantime has no reader.
    if (known === null) return null;
    if (!('uid' in known)) return this.#multicast(raw, known);
    try {
      return await known.run(() => this.#ofId(raw, known));
    } catch (error) {
      // It was destroyed while its event was under way.
      if (error instanceof ClosedHandleError) return null;
      throw error;
    }
  }

  async #request(raw: RawEvent, listener: KernelId | Membership | null): Promise<BackendEvent | null> {
    if (listener === null || !('uid' in listener)) {
      // Nobody listens any more; the kernel has made the id already.
      await this.cm.ask(LINUX.DESTROY_ID, { id: raw.id });
      return null;
    }
    const id = this.#adopt(this.ids.next(), raw.id, listener.portSpace);
    id.requested(raw.param, raw.ece);
    try {
      await id.look();
    } catch (error) {
      // Its device has gone: there is nothing to accept.
      await id.destroy();
      if (error instanceof NativeCallError) return null;
      throw error;
    }
    return { ...told(raw, id, listener), listener };
  }

  async #ofId(raw: RawEvent, id: KernelId): Promise<BackendEvent | null> {
    const plain = told(raw, id, id);
    switch (raw.event) {
      case event('ADDR_RESOLVED'):
        return outcome(plain, 'ADDR_ERROR', () => id.look());
      case event('ROUTE_RESOLVED'):
        return outcome(plain, 'ROUTE_ERROR', () => id.look());
      case event('CONNECT_RESPONSE'):
        id.answered(raw.ece);
        if (!id.hasQueuePair) return plain;
        return outcome({ ...plain, event: event('ESTABLISHED') }, 'CONNECT_ERROR', () =>
          id.finishConnection(),
        );
      case event('REJECTED'):
        if (id.isConnectionFailed) return null;
        await id.refused();
        return plain;
      case event('DISCONNECTED'):
        return id.isConnectionFailed ? null : plain;
      default:
        return plain;
    }
  }

  async #multicast(raw: RawEvent, membership: Membership): Promise<BackendEvent | null> {
    const { id } = membership;
    const { ud } = raw.param;
    const plain: BackendEvent = { ...told(raw, id, id), privateData: NONE, conn: null, ud };
    if (raw.event !== event('MULTICAST_JOIN')) return plain;
    return outcome(plain, 'MULTICAST_ERROR', () =>
      id.run(() => id.joined(membership, ud.ah_attr.grh.dgid, ud.ah_attr.dlid)),
    );
  }

  wake(): void {
    this.node.wake();
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    for (const id of this.ids.all()) if (id.isOf(this)) await id.destroy();
    await this.node.close();
    if (this.ids.closed(this)) await this.devices.close();
  }
}

/** The event as it stands; `meant` decides how its parameters are read. */
function told(raw: RawEvent, id: KernelId, meant: KernelId): BackendEvent {
  const { conn, ud } = raw.param;
  const { private_data, private_data_len } = meant.isDatagram ? ud : conn;
  return {
    id,
    listener: null,
    event: raw.event,
    status: raw.status | 0,
    privateData: private_data.slice(0, private_data_len),
    conn: meant.isDatagram ? null : connectionOf(conn),
    ud: meant.isDatagram ? ud : null,
  };
}

const connectionOf = ({
  private_data: _data,
  private_data_len: _length,
  qkey: _qkey,
  valid: _valid,
  ...values
}: RawEvent['param']['conn']): ConnectionValues => values;

/** The event, or the other one where what is to be done about it fails. */
async function outcome(
  plain: BackendEvent,
  failed: Parameters<typeof event>[0],
  work: () => Promise<void>,
): Promise<BackendEvent> {
  try {
    await work();
    return plain;
  } catch (error) {
    if (!(error instanceof NativeCallError)) throw error;
    return { ...plain, event: event(failed), status: -error.errno };
  }
}
