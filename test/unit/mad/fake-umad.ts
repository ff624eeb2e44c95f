/** libibumad without a kernel: a port whose answers a test decides. */
import { ibUserMadHdr, umadCa, umadPort } from '../../../src/abi/umad.ts';
import type { GidEntry, Registration, Umad, UmadChannel } from '../../../src/mad/backend.ts';
import { NativeCallError } from '../../../src/native/errors.ts';

/** What becomes of a datagram: an answer, the kernel's word that nobody answered, or nothing. */
export type Responder = (mad: Uint8Array, attempt: number) => Uint8Array | 'timeout' | null;

export class FakeChannel implements UmadChannel {
  readonly header = 'new';
  readonly sent: Uint8Array[] = [];
  readonly registered: { mgmtClass: number; rmpp: number; oui: number | null }[] = [];
  closed = 0;
  polling = 0;
  inFlight = 0;
  mostInFlight = 0;
  registerErrno = 0;
  sendErrno = 0;
  receiveErrno = 0;
  readonly #queue: Uint8Array[] = [];

  constructor(private readonly respond: Responder) {}

  register({ mgmtClass, rmpp, oui }: Registration): number {
    if (this.registerErrno !== 0) throw new NativeCallError('umad_register', this.registerErrno);
    this.registered.push({ mgmtClass, rmpp, oui });
    return this.registered.length - 1;
  }

  async sendAsync(message: Uint8Array): Promise<void> {
    this.send(message);
  }

  send(message: Uint8Array): void {
    if (this.sendErrno !== 0) throw new NativeCallError('umad_send', this.sendErrno);
    this.sent.push(message.slice());
    this.inFlight++;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    const mad = message.slice(64);
    const answer = this.respond(mad, this.sent.length);
    if (answer === null) return;
    const header = ibUserMadHdr.encode({ status: answer === 'timeout' ? 110 : 0, lid: 3 });
    const body = answer === 'timeout' ? mad.subarray(0, 24) : answer;
    this.deliver(Uint8Array.from([...header, ...body]));
  }

  deliver(message: Uint8Array): void {
    this.#queue.push(message);
  }

  receive(buffer: Uint8Array): number | null | { readonly needed: number } {
    if (this.receiveErrno !== 0) throw new NativeCallError('umad_recv', this.receiveErrno);
    const [next] = this.#queue;
    if (!next) return null;
    if (next.length > buffer.length) return { needed: next.length - 64 };
    this.#queue.shift();
    this.inFlight--;
    buffer.set(next);
    return next.length - 64;
  }

  async poll(milliseconds: number): Promise<boolean> {
    this.polling++;
    await new Promise((resolve) =>
      setTimeout(resolve, this.#queue.length > 0 ? 0 : Math.min(milliseconds, 5)),
    );
    this.polling--;
    return this.#queue.length > 0;
  }

  close(): void {
    if (this.polling > 0) throw new Error('closed while a thread polls');
    this.closed++;
  }
}

export interface FakeOptions {
  readonly names?: readonly string[];
  /** Devices that libibumad names and does not know. */
  readonly madeUp?: readonly string[];
  readonly port?: Partial<Parameters<typeof umadPort.encode>[0]>;
  readonly gids?: readonly GidEntry[];
  readonly openError?: NativeCallError;
}

/** A machine with one-port devices. */
export function fakeUmad(channel: FakeChannel, options: FakeOptions = {}): Umad {
  const names = options.names ?? ['mlx5_0'];
  const check = (name: string): void => {
    if (!names.includes(name) || options.madeUp?.includes(name)) throw new NativeCallError('umad_get_ca', 19);
  };
  return {
    transport: 'libibumad',
    gids: async () => options.gids ?? [],
    deviceNames: async () => [...names],
    async device(name) {
      check(name);
      const { ports: _, ...attributes } = umadCa.decode(
        umadCa.encode({ ca_name: name, numports: 1, node_type: 1 }),
      );
      return attributes;
    },
    async port(name, port) {
      check(name);
      if (port !== 1) throw new NativeCallError('umad_get_port', 22);
      const usual = {
        ca_name: name,
        portnum: 1,
        base_lid: 1,
        sm_lid: 2,
        state: 4,
        gid_prefix: 0xfe80n << 48n,
      };
      return umadPort.decode(umadPort.encode({ ...usual, ...options.port }));
    },
    async openPort() {
      if (options.openError) throw options.openError;
      return channel;
    },
  };
}
