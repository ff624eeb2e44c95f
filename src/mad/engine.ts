/**
 * Requests on an open port: sent in a window, matched with their answers by the low half of the transaction id,
 * sent again when they get lost. Nothing here blocks: waiting happens on a thread, taking what is there does not wait.
 */
import { ibUserMadHdr, ibUserMadHdrOld } from '../abi/umad.ts';
import { HEADER_SIZE, MAD_SIZE } from '../datagram/headers.ts';
import type { Decoded } from '../layout/codec.ts';
import type { UmadChannel } from '../native/libibumad.ts';

/** Where a datagram goes, as the user-MAD header has it. */
export interface Address {
  readonly lid: number;
  readonly qpn: number;
  readonly qkey: number;
  readonly sl: number;
  readonly pathBits: number;
  readonly pkeyIndex: number;
  /** The global route header, or null for none. */
  readonly grh: {
    readonly gid: Uint8Array;
    readonly gidIndex: number;
    readonly hopLimit: number;
    readonly trafficClass: number;
    readonly flowLabel: number;
  } | null;
}

/** The queue key of every QP1. */
export const GSI_QKEY = 0x80010000;

export interface Request {
  readonly agent: number;
  readonly address: Address;
  /** The datagram; its transaction id is set here. */
  readonly mad: Uint8Array;
  /** For each attempt, ms. */
  readonly timeoutMs: number;
  readonly retries: number;
  /** Low half of the transaction id, instead of the next number. Repeated only where an attempt is. */
  readonly tid?: number | undefined;
}

export interface Reply {
  readonly mad: Uint8Array;
  /** Decoded when it is asked for: few want it of thousands of answers. */
  readonly header: Decoded<typeof ibUserMadHdr>;
  /** From the last attempt to its answer, ms. */
  readonly rttMs: number;
  readonly attempts: number;
}

/** No answer to any attempt. */
export class NoReplyError extends Error {
  override readonly name = 'NoReplyError';
  constructor(
    readonly attempts: number,
    readonly timeoutMs: number,
  ) {
    super(`no answer to ${attempts} ${attempts === 1 ? 'request' : 'requests'} of ${timeoutMs} ms`);
  }
}

interface Pending {
  readonly request: Request;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
  attempts: number;
  sentAt: number;
  deadline: number;
}

/** The kernel gives a request up by itself; where it does not, it is given up here so much later. */
const GRACE_MS = 200;
/** The longest that closing has to wait for the thread that polls. */
const POLL_SLICE_MS = 100;
/**
 * While answers come that quickly they are waited for on this thread, SLICE_MS at a time, between turns of the event
 * loop: to send a thread off and to hear from it takes longer than such an answer does.
 */
const QUICK_MS = 10;
const SLICE_MS = 1;
/** The event loop turns so often at least. */
const TURN_MS = 2;
const RECEIVE_BYTES = 64 * 1024;
const TID_LOW_OFFSET = 12;
const STATUS_OFFSET = ibUserMadHdr.offsetOf('status');

export class MadEngine {
  readonly #channel: UmadChannel;
  readonly #window: number;
  readonly #waiting: Pending[] = [];
  readonly #inFlight = new Map<number, Pending>();
  readonly #idle: (() => void)[] = [];
  /** The user-MAD header of each address that has been sent to. */
  readonly #headers = new WeakMap<Address, Uint8Array>();
  #buffer: Uint8Array;
  #view: DataView;
  /** What is sent: header and datagram. C has read it when the call returns. */
  #outgoing: Uint8Array;
  #lastRttMs = 0;
  #nextTid: number;
  #running = false;
  #closed = false;
  #closing: Promise<void> | undefined;

  /** @param window requests in flight at most; more wait their turn */
  constructor(channel: UmadChannel, window: number, firstTid = (Math.random() * 2 ** 31) | 0) {
    this.#channel = channel;
    this.#window = window;
    this.#nextTid = firstTid >>> 0;
    this.#buffer = new Uint8Array(channel.headerBytes + RECEIVE_BYTES);
    this.#view = new DataView(this.#buffer.buffer);
    this.#outgoing = new Uint8Array(channel.headerBytes + MAD_SIZE);
  }

  /** Sends a request and gives its answer. Throws NoReplyError, and NativeCallError where the port is lost. */
  request(request: Request): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new Error('the port has been closed');
      this.#waiting.push({ request, resolve, reject, attempts: 0, sentAt: 0, deadline: 0 });
      this.#fill();
      if (!this.#running && this.#inFlight.size > 0) void this.#run();
    });
  }

  /** Sends what is not answered. Throws NativeCallError. */
  post({ agent, address, mad, tid }: Omit<Request, 'timeoutMs' | 'retries'>): void {
    this.#channel.send(agent, this.#message(address, mad, tid ?? this.#takeTid()), 0, 0);
  }

  /** Gives up what is in flight, waits until no thread uses the port, and closes it. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#closed = true;
    this.#failAll(new Error('the port has been closed'));
    if (this.#running) await new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#channel.close();
  }

  #takeTid(): number {
    do this.#nextTid = (this.#nextTid + 1) >>> 0;
    while (this.#inFlight.has(this.#nextTid) || this.#nextTid === 0);
    return this.#nextTid;
  }

  /** Header and datagram, in a buffer that the next one takes. */
  #message(address: Address, mad: Uint8Array, tid: number): Uint8Array {
    const { headerBytes } = this.#channel;
    const length = headerBytes + mad.length;
    if (this.#outgoing.length !== length) this.#outgoing = new Uint8Array(length);
    const message = this.#outgoing;
    message.set(this.#headerFor(address));
    message.set(mad, headerBytes);
    const at = headerBytes + TID_LOW_OFFSET;
    message[at] = tid >>> 24;
    message[at + 1] = tid >>> 16;
    message[at + 2] = tid >>> 8;
    message[at + 3] = tid;
    return message;
  }

  #headerFor(address: Address): Uint8Array {
    const known = this.#headers.get(address);
    if (known) return known;
    const header = encodeHeader(address, this.#channel.headerBytes);
    this.#headers.set(address, header);
    return header;
  }

  #fill(): void {
    while (this.#inFlight.size < this.#window) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#send(next);
    }
  }

  #send(pending: Pending): void {
    const { agent, address, mad, timeoutMs, tid: wanted } = pending.request;
    const tid = wanted !== undefined && !this.#inFlight.has(wanted) ? wanted : this.#takeTid();
    pending.attempts++;
    pending.sentAt = performance.now();
    pending.deadline = pending.sentAt + timeoutMs + GRACE_MS;
    try {
      this.#channel.send(agent, this.#message(address, mad, tid), timeoutMs, 0);
      this.#inFlight.set(tid, pending);
    } catch (error) {
      pending.reject(error);
    }
  }

  /** Waits and takes until nothing is in flight. */
  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#inFlight.size > 0) {
        if (await this.#untilReadable()) this.#drain();
        this.#expire();
        this.#fill();
      }
    } catch (error) {
      this.#failAll(error);
    } finally {
      this.#running = false;
      for (const done of this.#idle.splice(0)) done();
      // What was asked for while the last answer was handed out.
      if (this.#inFlight.size > 0) void this.#run();
    }
  }

  /** Takes answers as they come, while they come quickly; else waits on a thread. Whether something is there. */
  async #untilReadable(): Promise<boolean> {
    let now = performance.now();
    let turned = now;
    let answered = now;
    while (this.#lastRttMs < QUICK_MS && now - answered < QUICK_MS) {
      const isAny = this.#receive(SLICE_MS);
      // Whoever got the answer may ask for more at once.
      await null;
      if (this.#inFlight.size === 0) return false;
      now = performance.now();
      if (isAny) answered = now;
      if (isAny && now - turned < TURN_MS) continue;
      await turn();
      this.#expire();
      this.#fill();
      if (this.#inFlight.size === 0) return false;
      turned = now;
    }
    let nearest = now + POLL_SLICE_MS;
    for (const { deadline } of this.#inFlight.values()) nearest = Math.min(nearest, deadline);
    return this.#channel.poll(Math.max(1, Math.ceil(nearest - now)));
  }

  /** Takes what is there. */
  #drain(): void {
    while (this.#inFlight.size > 0 && this.#receive(0));
  }

  /** Takes one message, if one is there within the time. */
  #receive(waitMs: number): boolean {
    const received = this.#channel.receive(this.#buffer, waitMs);
    if (received === null) return false;
    if (typeof received === 'number') {
      this.#take(received);
      this.#fill();
    } else {
      this.#buffer = new Uint8Array(this.#channel.headerBytes + received.needed);
      this.#view = new DataView(this.#buffer.buffer);
    }
    return true;
  }

  #take(length: number): void {
    const { headerBytes } = this.#channel;
    if (length < HEADER_SIZE) return;
    const tid = this.#view.getUint32(headerBytes + TID_LOW_OFFSET);
    const pending = this.#inFlight.get(tid);
    // An answer that came after its request was given up, or one that was never asked for.
    if (!pending) return;
    this.#inFlight.delete(tid);
    const rttMs = performance.now() - pending.sentAt;
    this.#lastRttMs = rttMs;
    const status = this.#view.getUint32(STATUS_OFFSET, true);
    if (status !== 0) {
      this.#lost(pending);
      return;
    }
    pending.resolve(
      new Received(
        this.#buffer.slice(headerBytes, headerBytes + length),
        this.#buffer.slice(0, headerBytes),
        rttMs,
        pending.attempts,
      ),
    );
  }

  #expire(): void {
    const now = performance.now();
    for (const [tid, pending] of this.#inFlight) {
      if (pending.deadline > now) continue;
      this.#inFlight.delete(tid);
      this.#lost(pending);
    }
  }

  #lost(pending: Pending): void {
    const { retries, timeoutMs } = pending.request;
    if (this.#closed) return;
    if (pending.attempts <= retries) this.#send(pending);
    else pending.reject(new NoReplyError(pending.attempts, timeoutMs));
  }

  #failAll(error: unknown): void {
    for (const pending of [...this.#inFlight.values(), ...this.#waiting.splice(0)]) pending.reject(error);
    this.#inFlight.clear();
  }
}

class Received implements Reply {
  constructor(
    readonly mad: Uint8Array,
    private readonly headerBytes: Uint8Array,
    readonly rttMs: number,
    readonly attempts: number,
  ) {}

  get header(): Decoded<typeof ibUserMadHdr> {
    const whole = new Uint8Array(ibUserMadHdr.size);
    whole.set(this.headerBytes.subarray(0, whole.length));
    return ibUserMadHdr.decode(whole);
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The user-MAD header of a request, current or old by its length. */
function encodeHeader(address: Address, length: number): Uint8Array {
  const { grh } = address;
  const header = {
    qpn: address.qpn,
    qkey: address.qkey,
    lid: address.lid,
    sl: address.sl,
    path_bits: address.pathBits,
    ...(grh === null
      ? {}
      : {
          grh_present: 1,
          gid_index: grh.gidIndex,
          hop_limit: grh.hopLimit,
          traffic_class: grh.trafficClass,
          gid: grh.gid,
          flow_label: grh.flowLabel,
        }),
  };
  return length === ibUserMadHdr.size
    ? ibUserMadHdr.encode({ ...header, pkey_index: address.pkeyIndex })
    : ibUserMadHdrOld.encode(header);
}
