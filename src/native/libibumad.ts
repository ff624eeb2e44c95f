/** libibumad: ports that send and receive MADs. umad_open_port(3), umad_register(3), umad_recv(3) … */
import { constants } from 'node:os';
import { ibUserMadHdr, umadCa, umadPort } from '../abi/umad.ts';
import type { Decoded } from '../layout/codec.ts';
import { ClosedHandleError, NativeCallError } from './errors.ts';
import { type LibraryOrigin, type NativeFunction, NativeLibrary } from './library.ts';

export const LIBIBUMAD_SONAME = 'libibumad.so.3';

const { EAGAIN, EINVAL, ENOSPC, ETIMEDOUT } = constants.errno;
const NAME_BYTES = 20;
const MOST_DEVICES = 64;

export type UmadPortAttributes = Decoded<typeof umadPort>;
export type UmadCaAttributes = Omit<Decoded<typeof umadCa>, 'ports'>;

/** What the core needs of libibumad; tests put another in its place. */
export interface Umad {
  /** Device names. Without any device libibumad makes one up: only those that `device` knows are real. */
  deviceNames(): Promise<string[]>;
  /** Throws NativeCallError where the device is not there. */
  device(name: string): Promise<UmadCaAttributes>;
  /** Throws NativeCallError where the port is not there. */
  port(device: string, port: number): Promise<UmadPortAttributes>;
  /** Opens umadN of a port. Throws NativeCallError with the errno of open(2), or EOPNOTSUPP, EINVAL, ENODEV. */
  openPort(device: string, port: number): Promise<UmadChannel>;
}

/** An open umadN. Close it once; every later call throws ClosedHandleError. */
export interface UmadChannel {
  /** Bytes of the user-MAD header before each datagram. */
  readonly headerBytes: number;
  /**
   * Registers a sender of a class that gets the replies to its requests.
   * @param oui the vendor, for classes 0x30 to 0x4f; else null
   * @returns the agent's id
   */
  register(mgmtClass: number, classVersion: number, rmppVersion: 0 | 1, oui: number | null): number;
  /** Hands header and datagram to the kernel. Throws NativeCallError. */
  send(agent: number, message: Uint8Array, timeoutMs: number, retries: number): void;
  /**
   * Takes the next message into `buffer`, header first.
   * @param waitMs how long this thread, and the event loop with it, may wait for one: 0 or very little
   * @returns bytes of the datagram; null where nothing is there; `{ needed }` bytes where it does not fit
   * @throws NativeCallError
   */
  receive(buffer: Uint8Array, waitMs?: number): number | null | { readonly needed: number };
  /** Whether a message is there within the time. Waits on a thread of the pool. Throws NativeCallError. */
  poll(milliseconds: number): Promise<boolean>;
  close(): void;
}

export class Libibumad implements Umad {
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

  async openPort(device: string, port: number): Promise<UmadChannel> {
    const { result, errno } = await this.#library
      .get<number>('int umad_open_port(const char *name, int port)')
      .callAsync(device, port);
    // -EIO stands for any failure of open(2), which has left its own errno.
    if (result < 0) {
      const isOpen = result === -constants.errno.EIO && errno !== 0;
      throw new NativeCallError(isOpen ? 'open' : 'umad_open_port', isOpen ? errno : -result);
    }
    return new OpenPort(this.#library, result, `${device} port ${port}`);
  }
}

class OpenPort implements UmadChannel {
  readonly headerBytes: number;
  readonly #agents: number[] = [];
  readonly #send: NativeFunction<number>;
  readonly #receive: NativeFunction<number>;
  readonly #poll: NativeFunction<number>;
  readonly #length = new Uint8Array(4);
  readonly #lengthView = new DataView(this.#length.buffer);
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

  register(mgmtClass: number, classVersion: number, rmppVersion: 0 | 1, oui: number | null): number {
    this.#check();
    const { result, errno } =
      oui === null
        ? this.library
            .get<number>('int umad_register(int port, int class, int version, uint8_t rmpp, void *mask)')
            .call(this.portId, mgmtClass, classVersion, rmppVersion, null)
        : this.library
            .get<number>('int umad_register_oui(int port, int class, uint8_t rmpp, void *oui, void *mask)')
            .call(
              this.portId,
              mgmtClass,
              rmppVersion,
              Uint8Array.of(oui >> 16, (oui >> 8) & 0xff, oui & 0xff),
              null,
            );
    // Any failure is -EPERM, except of the arguments; errno has the cause.
    if (result < 0) throw new NativeCallError('umad_register', errno || -result);
    this.#agents.push(result);
    return result;
  }

  send(agent: number, message: Uint8Array, timeoutMs: number, retries: number): void {
    this.#check();
    const length = message.length - this.headerBytes;
    const { result, errno } = this.#send.call(this.portId, agent, message, length, timeoutMs, retries);
    if (result < 0) throw new NativeCallError('umad_send', errno || -result);
  }

  receive(buffer: Uint8Array, waitMs = 0): number | null | { readonly needed: number } {
    this.#check();
    this.#lengthView.setInt32(0, buffer.length - this.headerBytes, true);
    const { result, errno } = this.#receive.call(this.portId, buffer, this.#length, waitMs);
    const length = this.#lengthView.getInt32(0, true);
    if (result >= 0) return length;
    const cause = errno || -result;
    if (cause === EAGAIN || cause === ETIMEDOUT) return null;
    if (cause === ENOSPC && length > buffer.length - this.headerBytes) return { needed: length };
    throw new NativeCallError('umad_recv', cause);
  }

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
