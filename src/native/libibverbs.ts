/** libibverbs: finding devices, opening them, asking them. ibv_get_device_list(3), ibv_query_device_ex(3) … */
import { constants } from 'node:os';
import { ibvCompCntrCaps, ibvDeviceAttr, ibvDeviceAttrEx, ibvGidEntry, ibvPortAttr } from '../abi/verbs.ts';
import type { Decoded } from '../layout/codec.ts';
import { ClosedHandleError, NativeCallError } from './errors.ts';
import {
  functionAt,
  type LibraryOrigin,
  type NativeFunction,
  NativeLibrary,
  type Pointer,
  prototype,
  readPointer,
  readS32,
  readU64,
} from './library.ts';

export const LIBIBVERBS_SONAME = 'libibverbs.so.1';

/** Where things lie in `struct ibv_device` and `struct verbs_context`; a C program checks them in the tests. */
export const IBV_DEVICE = { node_type: 16, transport_type: 20 } as const;
export const IBV_CONTEXT = { size: 328, num_comp_vectors: 272, abi_compat: 320 } as const;
/** Distances from the ibv_context down to `sz` and to the op pointers of the verbs_context around it. */
export const VERBS_CONTEXT_BELOW = { sz: 8, query_device_ex: 104, query_port: 320 } as const;

const ABI_EXTENDED = 0xffff_ffff_ffff_ffffn;
const { EOPNOTSUPP, ENOSYS, ENODATA } = constants.errno;

type OpName = 'query_device_ex' | 'query_port';

let opPrototypes: Record<OpName, ReturnType<typeof prototype>> | undefined;
function opPrototype(name: OpName): ReturnType<typeof prototype> {
  opPrototypes ??= {
    query_device_ex: prototype('int query_device_ex(void *context, void *input, void *attr, size_t size)'),
    query_port: prototype('int query_port(void *context, uint8_t port, void *attr, size_t size)'),
  };
  return opPrototypes[name];
}

export class Libibverbs {
  readonly #library = new NativeLibrary(LIBIBVERBS_SONAME);

  origin(): LibraryOrigin {
    return this.#library.origin();
  }

  /**
   * The devices that libibverbs and its providers can serve. Close the list when done; contexts stay valid.
   * Throws NativeCallError, ENOSYS where ib_uverbs is not loaded.
   */
  async deviceList(): Promise<VerbsDeviceList> {
    const lib = this.#library;
    const count = [0];
    // On a thread of the pool: the first call loads every configured provider.
    const list = await lib
      .get<Pointer | null>('void *ibv_get_device_list(_Out_ int *count)')
      .callAsync(count);
    if (!list.result) throw new NativeCallError('ibv_get_device_list', list.errno);
    return new VerbsDeviceList(lib, list.result, count[0] ?? 0);
  }
}

/** Calls that run on threads of the pool, on something that must not be freed before they end. */
class CallsInFlight {
  #count = 0;
  #last: (() => void) | null = null;

  async run<R>(call: Promise<R>): Promise<R> {
    this.#count++;
    try {
      return await call;
    } finally {
      if (--this.#count === 0) this.#last?.();
    }
  }

  /** Does it now, or after the last call. */
  whenNone(work: () => void): void {
    if (this.#count === 0) work();
    else this.#last = work;
  }
}

export class VerbsDeviceList {
  readonly devices: readonly VerbsDevice[];
  readonly #opening = new CallsInFlight();
  #list: Pointer | null;

  constructor(
    private readonly library: NativeLibrary,
    list: Pointer,
    count: number,
  ) {
    this.#list = list;
    const isOpen = (): boolean => this.#list !== null;
    this.devices = Array.from(
      { length: count },
      (_, index) => new VerbsDevice(library, readPointer(list + BigInt(index * 8)), isOpen, this.#opening),
    );
  }

  /** Frees the list, at the latest when no device is being opened any more. */
  close(): void {
    if (this.#list === null) return;
    const list = this.#list;
    this.#list = null;
    const free = this.library.find<void>('void ibv_free_device_list(void *list)');
    this.#opening.whenNone(() => free?.call(list));
  }
}

export class VerbsDevice {
  readonly name: string;
  readonly nodeType: number;
  readonly transportType: number;

  constructor(
    private readonly library: NativeLibrary,
    private readonly device: Pointer,
    private readonly isListOpen: () => boolean,
    private readonly opening: CallsInFlight,
  ) {
    this.name = library.get<string>('const char *ibv_get_device_name(void *device)').call(device).result;
    this.nodeType = readS32(device + BigInt(IBV_DEVICE.node_type));
    this.transportType = readS32(device + BigInt(IBV_DEVICE.transport_type));
  }

  /** The node GUID, from ibv_get_device_guid(3). */
  guid(): bigint {
    this.#checkOpen();
    const { result } = this.library
      .get<number | bigint>('uint64_t ibv_get_device_guid(void *device)')
      .call(this.device);
    // Network byte order, on a little-endian machine.
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setBigUint64(0, BigInt(result), true);
    return bytes.getBigUint64(0);
  }

  /** The kernel's number of the device: ibv_get_device_index(3), null where the library (before rdma-core 30) or the kernel has none. */
  index(): number | null {
    this.#checkOpen();
    const index = this.library
      .find<number>('int ibv_get_device_index(void *device)')
      ?.call(this.device).result;
    return index === undefined || index < 0 ? null : index;
  }

  #checkOpen(): void {
    if (!this.isListOpen()) throw new ClosedHandleError(`${this.name}: the device list has been freed`);
  }

  /** Opens the device on a thread of the pool. Throws NativeCallError, MissingSymbolError. */
  async open(): Promise<VerbsContext> {
    this.#checkOpen();
    const open = this.library.get<Pointer | null>('void *ibv_open_device(void *device)');
    const opened = await this.opening.run(open.callAsync(this.device));
    if (!opened.result) throw new NativeCallError('ibv_open_device', opened.errno);
    return new VerbsContext(this.library, opened.result, this.name);
  }
}

/** An open device: `struct ibv_context`. Close it once; every later call throws ClosedHandleError. */
export class VerbsContext {
  readonly numCompVectors: number;
  readonly #context: Pointer;
  readonly #calls = new CallsInFlight();
  #open = true;

  constructor(
    private readonly library: NativeLibrary,
    context: Pointer,
    readonly deviceName: string,
  ) {
    this.#context = context;
    this.numCompVectors = readS32(context + BigInt(IBV_CONTEXT.num_comp_vectors));
  }

  /** The ibv_context, for the other libraries of src/native. */
  get pointer(): Pointer {
    if (!this.#open) throw new ClosedHandleError(`${this.deviceName} has been closed`);
    return this.#context;
  }

  /**
   * Closes it on a thread of the pool. While another call on it has not come back, which a caller may have given up
   * waiting for, it is closed after that, and not waited for.
   */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    const close = this.library.find<number>('int ibv_close_device(void *context)');
    let closing: Promise<unknown> | undefined;
    this.#calls.whenNone(() => {
      closing = close?.callAsync(this.#context);
    });
    await closing;
  }

  /** An op of the verbs_context, or null: verbs_get_ctx_op() in the header. */
  #op(name: OpName): NativeFunction<number> | null {
    const context = this.pointer;
    if (readU64(context + BigInt(IBV_CONTEXT.abi_compat)) !== ABI_EXTENDED) return null;
    const below = VERBS_CONTEXT_BELOW[name];
    const size = readU64(context - BigInt(VERBS_CONTEXT_BELOW.sz));
    if (size < BigInt(IBV_CONTEXT.size + below)) return null;
    const address = readPointer(context - BigInt(below));
    return address === 0n ? null : functionAt<number>(address, opPrototype(name));
  }

  /**
   * ibv_query_device_ex(3). Where the library or the driver has only the old call, `extended` is false and
   * the members after orig_attr are zero.
   */
  async queryDevice(): Promise<{ attr: Decoded<typeof ibvDeviceAttrEx>; extended: boolean }> {
    const bytes = new Uint8Array(ibvDeviceAttrEx.size);
    const op = this.#op('query_device_ex');
    if (op) {
      const { result } = await this.#calls.run(op.callAsync(this.pointer, null, bytes, bytes.length));
      if (result === 0) return { attr: ibvDeviceAttrEx.decode(bytes), extended: true };
      if (result !== EOPNOTSUPP && result !== ENOSYS)
        throw new NativeCallError('ibv_query_device_ex', result);
    }
    bytes.fill(0);
    const legacy = this.library.get<number>('int ibv_query_device(void *context, void *attr)');
    const attr = bytes.subarray(0, ibvDeviceAttr.size);
    const { result } = await this.#calls.run(legacy.callAsync(this.pointer, attr));
    if (result !== 0) throw new NativeCallError('ibv_query_device', result);
    return { attr: ibvDeviceAttrEx.decode(bytes), extended: false };
  }

  /**
   * ibv_query_port(3), through the op as the C macro does: the exported function stops at `flags`. Where
   * there is no op, `complete` is false and port_cap_flags2 and active_speed_ex are zero.
   */
  async queryPort(port: number): Promise<{ attr: Decoded<typeof ibvPortAttr>; complete: boolean }> {
    const bytes = new Uint8Array(ibvPortAttr.size);
    const op = this.#op('query_port');
    const call = op
      ? op.callAsync(this.pointer, port, bytes, bytes.length)
      : this.library
          .get<number>('int ibv_query_port(void *context, uint8_t port, void *attr)')
          .callAsync(this.pointer, port, bytes);
    const { result } = await this.#calls.run(call);
    if (result !== 0) throw new NativeCallError('ibv_query_port', result);
    return { attr: ibvPortAttr.decode(bytes), complete: op !== null };
  }

  /** ibv_query_gid_table(3): the valid entries of all ports. MissingSymbolError before rdma-core 32. */
  async queryGidTable(room: number): Promise<Decoded<typeof ibvGidEntry>[]> {
    const bytes = new Uint8Array(room * ibvGidEntry.size);
    const call = this.library.get<number | bigint>(
      'long _ibv_query_gid_table(void *context, void *entries, size_t max, uint32_t flags, size_t size)',
    );
    const { result } = await this.#calls.run(call.callAsync(this.pointer, bytes, room, 0, ibvGidEntry.size));
    const count = Number(result);
    if (count < 0) throw new NativeCallError('ibv_query_gid_table', -count);
    return Array.from({ length: count }, (_, i) => ibvGidEntry.decode(bytes.subarray(i * ibvGidEntry.size)));
  }

  /** ibv_query_gid_ex(3): one entry, null where the slot is empty. MissingSymbolError before rdma-core 32. */
  queryGidEntry(port: number, index: number): Decoded<typeof ibvGidEntry> | null {
    const bytes = new Uint8Array(ibvGidEntry.size);
    const { result } = this.library
      .get<number>(
        'int _ibv_query_gid_ex(void *context, uint32_t port, uint32_t index, void *entry, uint32_t flags, size_t size)',
      )
      .call(this.pointer, port, index, bytes, 0, bytes.length);
    if (result === ENODATA) return null;
    if (result !== 0) throw new NativeCallError('ibv_query_gid_ex', result);
    return ibvGidEntry.decode(bytes);
  }

  /** ibv_query_gid(3): the 16 bytes; all zero for an empty slot. */
  queryGid(port: number, index: number): Uint8Array {
    const bytes = new Uint8Array(16);
    const { result, errno } = this.library
      .get<number>('int ibv_query_gid(void *context, uint8_t port, int index, void *gid)')
      .call(this.pointer, port, index, bytes);
    if (result !== 0) throw new NativeCallError('ibv_query_gid', errno);
    return bytes;
  }

  /** ibv_query_pkey(3), host byte order. */
  queryPkey(port: number, index: number): number {
    const bytes = new Uint8Array(2);
    const { result, errno } = this.library
      .get<number>('int ibv_query_pkey(void *context, uint8_t port, int index, void *pkey)')
      .call(this.pointer, port, index, bytes);
    if (result !== 0) throw new NativeCallError('ibv_query_pkey', errno);
    return ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0);
  }

  /** ibv_query_port_speed(3): effective speed in units of 100 Mb/s. MissingSymbolError before rdma-core 62. */
  async queryPortSpeed(port: number): Promise<bigint> {
    const bytes = new Uint8Array(8);
    const call = this.library.get<number>(
      'int ibv_query_port_speed(void *context, uint32_t port, void *speed)',
    );
    const { result } = await this.#calls.run(call.callAsync(this.pointer, port, bytes));
    if (result !== 0) throw new NativeCallError('ibv_query_port_speed', result);
    return new DataView(bytes.buffer).getBigUint64(0, true);
  }

  /** ibv_query_comp_cntr_caps(3). MissingSymbolError before rdma-core 65. */
  async queryCompCntrCaps(): Promise<Decoded<typeof ibvCompCntrCaps>> {
    const bytes = new Uint8Array(ibvCompCntrCaps.size);
    const call = this.library.get<number>(
      'int _ibv_query_comp_cntr_caps(void *context, void *caps, size_t size)',
    );
    const { result } = await this.#calls.run(call.callAsync(this.pointer, bytes, bytes.length));
    if (result !== 0) throw new NativeCallError('ibv_query_comp_cntr_caps', result);
    return ibvCompCntrCaps.decode(bytes);
  }
}
