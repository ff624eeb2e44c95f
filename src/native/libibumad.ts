/** libibumad: ports that send and receive MADs. umad_open_port(3), umad_register(3), umad_recv(3) … */
import { constants } from 'node:os';
import { ibUserMadHdr, maskBytes, umadCa, umadPort, umadRegAttr } from '../abi/umad.ts';
import type { Decoded } from '../layout/codec.ts';
import { ClosedHandleError, NativeCallError, RefusedFlagsError } from './errors.ts';
import {
  addressOf,
  type LibraryOrigin,
  lastErrno,
  type NativeFunction,
  NativeLibrary,
  type Pointer,
} from './library.ts';

export const LIBIBUMAD_SONAME = 'libibumad.so.3';

const { EAGAIN, EINVAL, ENOSPC, ETIMEDOUT } = constants.errno;
const NAME_BYTES = 20;
const MOST_DEVICES = 64;

export type UmadPortAttributes = Decoded<typeof umadPort>;
export type UmadCaAttributes = Omit<Decoded<typeof umadCa>, 'ports'>;

/** What umad_register(3), umad_register_oui(3) and umad_register2(3) are told. */
export interface UmadRegistration {
  /** null; the library chooses by the class. */
  readonly qpn: number | null;
  readonly mgmtClass: number;
  readonly version: number;
  readonly oui: number | null;
  /** A bit for each method. */
  readonly methods: bigint;
  readonly rmpp: number;
  readonly flags: number;
}

/** Where the library takes agent, timeout and retries from: it writes them into the header itself. */
const ID_OFFSET = 0;
const TIMEOUT_OFFSET = 8;
const RETRIES_OFFSET = 12;
/** The one flag that kernels know. */
const USER_RMPP = 1;

/** Memory that is handed to C time and again: where it lies is asked for once. */
interface Placed {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly address: Pointer;
}

const placed = (bytes: Uint8Array): Placed => ({
  bytes,
  view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  address: addressOf(bytes),
});

export class Libibumad {
  readonly #library = new NativeLibrary(LIBIBUMAD_SONAME);

  origin(): LibraryOrigin {
    return this.#library.origin();
  }

  async deviceNames(): Promise<string[]> {
    await this.#library.get<number>('int umad_init(void)').callAsync();
    const names = Buffer.alloc(NAME_BYTES * MOST_DEVICES);
    const { result } = await this.#library
      .get<number>('int umad_get_cas_names(void *cas, int max)')
      .callAsync(names, MOST_DEVICES);
    return Array.from({ length: Math.max(0, result) }, (_, index) => {
      const name = names.toString('latin1', index * NAME_BYTES, (index + 1) * NAME_BYTES);
      return name.slice(0, (name.indexOf('\0') + 1 || NAME_BYTES + 1) - 1);
    });
  }

  async device(name: string): Promise<UmadCaAttributes> {
    const buffer = new Uint8Array(umadCa.size);
    const { result, errno } = await this.#library
      .get<number>('int umad_get_ca(const char *name, void *ca)')
      .callAsync(name, buffer);
    if (result !== 0) throw new NativeCallError('umad_get_ca', result < -1 ? -result : errno);
    const { ports: _, ...attributes } = umadCa.decode(buffer);
    await this.#library.get<number>('int umad_release_ca(void *ca)').callAsync(buffer);
    return attributes;
  }

  async port(device: string, port: number): Promise<UmadPortAttributes> {
    const buffer = new Uint8Array(umadPort.size);
    const { result, errno } = await this.#library
      .get<number>('int umad_get_port(const char *name, int port, void *attributes)')
      .callAsync(device, port, buffer);
    if (result !== 0) throw new NativeCallError('umad_get_port', result < -1 ? -result : errno);
    const attributes = umadPort.decode(buffer);
    await this.#library.get<number>('int umad_release_port(void *attributes)').callAsync(buffer);
    return attributes;
  }

  /** Opens umadN. Throws NativeCallError with the errno of open(2), or EOPNOTSUPP, EINVAL, ENODEV. */
  async openPort(device: string, port: number): Promise<LibibumadPort> {
    const { result, errno } = await this.#library
      .get<number>('int umad_open_port(const char *name, int port)')
      .callAsync(device, port);
    // -EIO stands for any failure of open(2), which has left its own errno.
    if (result < 0) {
      const isOpen = result === -constants.errno.EIO && errno !== 0;
      throw new NativeCallError(isOpen ? 'open' : 'umad_open_port', isOpen ? errno : -result);
    }
    return new LibibumadPort(this.#library, result, `${device} port ${port}`);
  }
}

/** An open umadN. Close it once; every later call throws ClosedHandleError. */
export class LibibumadPort {
  readonly headerBytes: number;
  readonly #agents: number[] = [];
  readonly #send: NativeFunction<number>;
  readonly #receive: NativeFunction<number>;
  readonly #poll: NativeFunction<number>;
  readonly #length = new Int32Array(1);
  readonly #lengthAddress = addressOf(new Uint8Array(this.#length.buffer));
  /** The message that was sent last, and the memory that was last received into: most use the same again. */
  #sent = placed(new Uint8Array(ibUserMadHdr.size));
  #received = placed(new Uint8Array(ibUserMadHdr.size));
  #open = true;

  constructor(
    private readonly library: NativeLibrary,
    private readonly portId: number,
    private readonly title: string,
  ) {
    // 64 with the current header, 56 where the kernel or a simulator has only the old one.
    this.headerBytes = Number(library.get<number | bigint>('size_t umad_size(void)').call().result);
    if (this.headerBytes !== ibUserMadHdr.size && this.headerBytes !== 56) {
      throw new NativeCallError('umad_size', EINVAL);
    }
    this.#send = library.get(
      'int umad_send(int port, int agent, void *umad, int length, int timeout_ms, int retries)',
    );
    this.#receive = library.get('int umad_recv(int port, void *umad, void *length, int timeout_ms)');
    this.#poll = library.get('int umad_poll(int port, int timeout_ms)');
  }

  #check(): void {
    if (!this.#open) throw new ClosedHandleError(`${this.title} has been closed`);
  }

  /**
   * Registers an agent, and returns its id. Throws NativeCallError, RefusedFlagsError, and RangeError for what the
   * library has no room for.
   */
  register(registration: UmadRegistration): number {
    this.#check();
    if (registration.qpn !== null) {
      throw new RangeError('libibumad chooses the queue pair of an agent by its class');
    }
    const { mgmtClass, version, oui, flags } = registration;
    const isPlain =
      flags === 0 && (oui === null || (version === 1 && oui <= 0xffffff && isOuiClass(mgmtClass)));
    const agent = isPlain ? this.#registerPlain(registration) : this.#register2(registration);
    this.#agents.push(agent);
    return agent;
  }

  #registerPlain({ mgmtClass, version, oui, methods, rmpp }: UmadRegistration): number {
    const mask = methods === 0n ? null : maskBytes(methods);
    const { result, errno } =
      oui === null
        ? this.library
            .get<number>('int umad_register(int port, int class, int version, uint8_t rmpp, void *mask)')
            .call(this.portId, mgmtClass, version, rmpp, mask)
        : this.library
            .get<number>('int umad_register_oui(int port, int class, uint8_t rmpp, void *oui, void *mask)')
            .call(
              this.portId,
              mgmtClass,
              rmpp,
              Uint8Array.of(oui >> 16, (oui >> 8) & 0xff, oui & 0xff),
              mask,
            );
    // Any failure is -EPERM, except of the arguments; errno has the cause.
    if (result < 0) throw new NativeCallError('umad_register', errno || -result);
    return result;
  }

  #register2({ mgmtClass, version, oui, methods, rmpp, flags }: UmadRegistration): number {
    const attributes = umadRegAttr.encode({
      mgmt_class: mgmtClass,
      mgmt_class_version: version,
      flags,
      method_mask: maskBytes(methods),
      oui: oui ?? 0,
      rmpp_version: rmpp,
    });
    const agent = new Uint8Array(4);
    const { result } = this.library
      .get<number>('int umad_register2(int port, void *attributes, void *agent)')
      .call(this.portId, attributes, agent);
    if (result !== 0) {
      // The kernel's word on which it knows is lost: the library puts 0 in its place whatever was wrong.
      if (result === EINVAL && flags > USER_RMPP) throw new RefusedFlagsError('umad_register2', result, null);
      throw new NativeCallError('umad_register2', result);
    }
    return new DataView(agent.buffer).getUint32(0, true);
  }

  /** Header and datagram; agent, timeout and retries are those of the header. Throws NativeCallError. */
  send(message: Uint8Array): void {
    this.#check();
    if (this.#sent.bytes !== message) this.#sent = placed(message);
    const { view, address, bytes } = this.#sent;
    const result = this.#send.raw(
      this.portId,
      view.getInt32(ID_OFFSET, true),
      address,
      bytes.length - this.headerBytes,
      view.getInt32(TIMEOUT_OFFSET, true),
      view.getInt32(RETRIES_OFFSET, true),
    );
    if (result < 0) throw new NativeCallError('umad_send', lastErrno() || -result);
  }

  /** As send, on a thread of the pool. */
  async sendAsync(message: Uint8Array): Promise<void> {
    this.#check();
    const { view } = placed(message);
    const { result, errno } = await this.#send.callAsync(
      this.portId,
      view.getInt32(ID_OFFSET, true),
      message,
      message.length - this.headerBytes,
      view.getInt32(TIMEOUT_OFFSET, true),
      view.getInt32(RETRIES_OFFSET, true),
    );
    if (result < 0) throw new NativeCallError('umad_send', errno || -result);
  }

  /** As UmadChannel.receive: bytes, null for nothing, or what is needed. Throws NativeCallError. */
  receive(buffer: Uint8Array, waitMs = 0): number | null | { readonly needed: number } {
    this.#check();
    if (this.#received.bytes !== buffer) this.#received = placed(buffer);
    this.#length[0] = buffer.length - this.headerBytes;
    const result = this.#receive.raw(this.portId, this.#received.address, this.#lengthAddress, waitMs);
    const length = this.#length[0];
    if (result >= 0) return length;
    const cause = lastErrno() || -result;
    if (cause === EAGAIN || cause === ETIMEDOUT) return null;
    if (cause === ENOSPC && length > buffer.length - this.headerBytes) return { needed: length };
    throw new NativeCallError('umad_recv', cause);
  }

  /** Whether a message is there within the time; on a thread of the pool. Throws NativeCallError. */
  async poll(milliseconds: number): Promise<boolean> {
    this.#check();
    const { result, errno } = await this.#poll.callAsync(this.portId, milliseconds);
    if (result >= 0) return true;
    const cause = result < -1 ? -result : errno;
    if (cause === ETIMEDOUT || cause === EAGAIN || cause === constants.errno.EINTR || cause === 0)
      return false;
    throw new NativeCallError('umad_poll', cause);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    for (const agent of this.#agents) {
      this.library.get<number>('int umad_unregister(int port, int agent)').call(this.portId, agent);
    }
    this.library.get<number>('int umad_close_port(int port)').call(this.portId);
  }
}

const isOuiClass = (mgmtClass: number): boolean => mgmtClass >= 0x30 && mgmtClass <= 0x4f;
