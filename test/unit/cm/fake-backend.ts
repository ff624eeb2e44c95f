/** A connection manager that does what a test tells it. */
import { type CmEventName, CmEventType } from '../../../src/abi/rdmacm-codes.ts';
import type { Backend, BackendChannel, BackendEvent, BackendId } from '../../../src/cm/backend.ts';

export interface Fake extends Backend {
  /** Calls in order, as `connect 1`. */
  readonly calls: string[];
  /** Lets an event come. */
  send(id: BackendId | undefined, name: CmEventName, more?: Partial<BackendEvent>): void;
  readonly ids: BackendId[];
  newId(): BackendId;
  /** Errors that the next call of that name throws. */
  readonly errors: Map<string, Error>;
}

export function fakeBackend(): Fake {
  const calls: string[] = [];
  const ids: BackendId[] = [];
  const events: BackendEvent[] = [];
  const errors = new Map<string, Error>();
  let wake: (() => void) | null = null;
  const newId = (): BackendId => {
    const key = String(ids.length + 1);
    const call =
      <T>(name: string, result: T) =>
      async (): Promise<T> => {
        calls.push(`${name} ${key}`);
        const error = errors.get(name);
        errors.delete(name);
        if (error) throw error;
        return result;
      };
    const id: BackendId = {
      key,
      route: () => ({
        local: null,
        peer: null,
        sgid: new Uint8Array(16),
        dgid: new Uint8Array(16),
        pkey: 0,
        port: 1,
        paths: [],
      }),
      device: () => ({ name: 'fake0', transport: 0 }),
      bindAddr: call('bind_addr', undefined),
      resolveAddr: call('resolve_addr', undefined),
      resolveRoute: call('resolve_route', undefined),
      createQp: call('create_qp', 7),
      createDataPath: async () => {
        throw new Error('not in this fake');
      },
      connect: call('connect', undefined),
      accept: call('accept', undefined),
      reject: call('reject', undefined),
      listen: call('listen', undefined),
      disconnect: call('disconnect', undefined),
      establish: call('establish', undefined),
      setOption: call('set_option', undefined),
      initQpAttr: async () => {
        throw new Error('not in this fake');
      },
      notify: call('notify', undefined),
      joinMulticast: call('join_multicast', undefined),
      leaveMulticast: call('leave_multicast', undefined),
      migrate: call('migrate', undefined),
      destroyQp: call('destroy_qp', undefined),
      setLocalEce: call('set_local_ece', undefined),
      remoteEce: call('get_remote_ece', { vendor_id: 0, options: 0 }),
      resolveAddrinfo: call('resolve_addrinfo', undefined),
      writeCmEvent: call('write_cm_event', undefined),
      destroy: call('destroy', undefined),
    };
    ids.push(id);
    return id;
  };
  const channel: BackendChannel = {
    createId: async () => newId(),
    async nextEvent() {
      const ready = events.shift();
      if (ready) return ready;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      return events.shift() ?? null;
    },
    wake: () => wake?.(),
    async close() {
      calls.push('close');
    },
  };
  return {
    calls,
    ids,
    errors,
    newId,
    openChannel: async () => channel,
    send(id, name, more = {}) {
      if (!id) throw new Error('no such id');
      events.push({
        id,
        listener: null,
        event: CmEventType.valueOf(name),
        status: 0,
        privateData: new Uint8Array(),
        conn: null,
        ud: null,
        ...more,
      });
      wake?.();
    },
  };
}
