/** What a listener does that sends back what it gets, whatever the protocol; and rping's. */
import { performance } from 'node:perf_hooks';
import { WcOpcode, WrOpcode } from '../abi/verbs-work.ts';
import { Failure } from '../explain/failure.ts';
import { sizeText } from '../explain/quantities.ts';
import type { CmEcho } from '../model/cm-exchange.ts';
import type { DataPath, RegisteredMemory } from './data-path.ts';
import { notRping } from './ping.ts';
import { LARGEST_PING, rpingMessage } from './rping.ts';
import { isReceive, Traffic } from './traffic.ts';

/** Serves one peer. */
export interface Echo {
  readonly traffic: Traffic;
  /** Until the traffic is ended, which throws its reason; or until a datagram peer has been silent for long. */
  run(): Promise<void>;
  result(): CmEcho;
}

const RECEIVES = 2;
const SENDS = 16;
const RECEIVE_ROOM = 4096;
const ANSWER = RECEIVES * RECEIVE_ROOM;
const WORK_ID = 1000;

/** Where the peer's memory lies. */
interface Descriptor {
  readonly address: bigint;
  readonly rkey: number;
  readonly size: number;
}

/** A server of rping's protocol, for one connection. */
export class RpingEcho implements Echo {
  readonly traffic: Traffic;
  readonly #inbox: Descriptor[] = [];
  readonly #done = new Set<number>();
  #data: RegisteredMemory | null = null;
  #served = 0;
  #bytes = 0;

  private constructor(
    private readonly path: DataPath,
    private readonly control: RegisteredMemory,
    /** How long a peer may leave an exchange half done, milliseconds. */
    private readonly patienceMs: number,
    signal: AbortSignal | null,
  ) {
    this.traffic = new Traffic(path, signal);
  }

  /** Posts the receives; the path comes from createDataPath with DEPTH. Throws NativeCallError. */
  static async prepare(path: DataPath, patienceMs: number, signal: AbortSignal | null): Promise<RpingEcho> {
    const control = await path.registerMemory(ANSWER + rpingMessage.size, ['LOCAL_WRITE']);
    const echo = new RpingEcho(path, control, patienceMs, signal);
    for (let slot = 0; slot < RECEIVES; slot++) echo.#postReceive(slot);
    return echo;
  }

  static readonly DEPTH = { sends: SENDS, receives: RECEIVES };

  result(): CmEcho {
    return { protocol: 'rping', served: this.#served, bytes: this.#bytes, completion: this.traffic.failed };
  }

  async run(): Promise<void> {
    for (;;) {
      const source = await this.#message(Number.POSITIVE_INFINITY, 'waiting for a ping');
      const data = await this.#room(source.size);
      await this.#work('RDMA_READ', data, source, source.size);
      this.#answer();
      const sink = await this.#message(this.patienceMs, 'waiting where to write the ping back to');
      // No more than was read, and no more than there is room for.
      await this.#work('RDMA_WRITE', data, sink, Math.min(source.size, sink.size));
      this.#answer();
      this.#served++;
      this.#bytes += source.size;
    }
  }

  async #message(timeoutMs: number, what: string): Promise<Descriptor> {
    await this.#until(() => this.#inbox.length > 0, timeoutMs, what);
    const message = this.#inbox.shift();
    if (message === undefined) throw new TypeError('there is a message');
    return message;
  }

  /** Memory for so many bytes; the size is the peer's word. */
  async #room(size: number): Promise<RegisteredMemory> {
    if (size === 0 || size > LARGEST_PING) {
      throw new Failure(
        'BAD_MESSAGE',
        `the peer asks for a ping of ${sizeText(size)}, and the limits are 1 byte and ${sizeText(LARGEST_PING)}`,
        'use a smaller size there (rping -S), or see what the peer really is',
      );
    }
    if (this.#data === null || this.#data.length < size) {
      // Nothing is under way that would use the old one.
      if (this.#data !== null) await this.path.releaseMemory(this.#data);
      this.#data = await this.path.registerMemory(size, ['LOCAL_WRITE']);
    }
    return this.#data;
  }

  /** An RDMA read or write, to its end. */
  async #work(
    kind: 'RDMA_READ' | 'RDMA_WRITE',
    memory: RegisteredMemory,
    { address, rkey }: Descriptor,
    length: number,
  ): Promise<void> {
    const done = WcOpcode.valueOf(kind);
    this.#done.delete(done);
    this.path.postSend({
      id: WORK_ID + done,
      opcode: WrOpcode.valueOf(kind),
      part: { memory, offset: 0, length },
      remote: { address, rkey },
    });
    const what = kind === 'RDMA_READ' ? 'reading the ping from the peer' : 'writing the ping to the peer';
    await this.#until(() => this.#done.has(done), this.patienceMs, `${what} (${kind})`);
  }

  #answer(): void {
    this.path.postSend({
      id: WORK_ID,
      opcode: WrOpcode.valueOf('SEND'),
      part: { memory: this.control, offset: ANSWER, length: rpingMessage.size },
    });
  }

  /** Takes completions until `reached`. Throws Failure: TIMED_OUT, BAD_MESSAGE, and what Traffic throws. */
  async #until(reached: () => boolean, timeoutMs: number, what: string): Promise<void> {
    const until = performance.now() + timeoutMs;
    while (!reached()) {
      const completion = await this.traffic.next(until - performance.now(), what);
      if (completion === null) {
        throw new Failure(
          'TIMED_OUT',
          `${what}: the peer left it half done for ${timeoutMs} ms`,
          'the peer is stopped or speaks another protocol; --timeout waits longer',
        );
      }
      if (!isReceive(completion)) {
        this.#done.add(completion.opcode);
        continue;
      }
      if (completion.byte_len !== rpingMessage.size) throw notRping(what, completion.byte_len);
      const slot = Number(completion.wr_id);
      this.#inbox.push(rpingMessage.decode(this.control.bytes.subarray(slot * RECEIVE_ROOM)));
      this.#postReceive(slot);
    }
  }

  #postReceive(slot: number): void {
    this.path.postReceive(slot, {
      memory: this.control,
      offset: slot * RECEIVE_ROOM,
      length: RECEIVE_ROOM,
    });
  }
}
