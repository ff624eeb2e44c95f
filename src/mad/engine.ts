/**
 * Datagrams on an open port. Requests are sent in a window, matched with their answers by the low half of the
 * transaction id, and sent again when they get lost; what comes unasked goes to who listens. Nothing here blocks:
 * waiting happens on a thread, taking what is there does not wait.
 */
import { performance } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { ibUserMadHdr } from '../abi/umad.ts';
import { HEADER_SIZE, MAD_SIZE } from '../datagram/headers.ts';
import { isResponse } from '../datagram/message.ts';
import { ClosedHandleError } from '../native/errors.ts';
import type { UmadChannel } from './backend.ts';
import { InFlight } from './in-flight.ts';
import { Passing, type PassingReply, type Received, type Reply } from './reply.ts';
import { encodeUserHeader, type HeaderValues, headerBytes } from './user-header.ts';

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
  /** Members of the header whose values win over all else. */
  readonly set?: HeaderValues;
}

/** The queue key of every QP1. */
export const GSI_QKEY = 0x80010000;

export interface Request {
  readonly agent: number;
  readonly address: Address;
  /** The datagram; its transaction id is set here. It stays as it is while the request is under way. */
  readonly mad: Uint8Array;
  /** For each attempt, ms. */
  readonly timeoutMs: number;
  readonly retries: number;
  /** Low half of the transaction id, instead of the next number. Repeated only where an attempt is. */
  readonly tid?: number | undefined;
  /** Bytes of the datagram that are handed to the kernel, instead of all. */
  readonly length?: number | undefined;
}

/** Who is told what became of a request: once, of one of both. They do not throw. */
export interface Asker {
  answered(reply: PassingReply): void;
  failed(error: unknown): void;
}

/** No answer to any attempt. */
export class NoReplyError extends Error {
  override readonly name = 'NoReplyError';
  constructor(
    readonly attempts: number,
    readonly timeoutMs: number,
    /** The last request as the kernel gave it back; null where it said nothing. */
    readonly returned: Received | null = null,
  ) {
    super(`no answer to ${attempts} ${attempts === 1 ? 'request' : 'requests'} of ${timeoutMs} ms`);
  }
}

interface Pending {
  readonly request: Request;
  readonly asker: Asker;
  attempts: number;
  sentAt: number;
  deadline: number;
}

/** The kernel gives a request up by itself; where it does not, it is given up here so much later. */
const GRACE_MS = 200;
/** To find out a neighbour a write may wait inside the kernel for so long. */
const NEIGHBOUR_MS = 2000;
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
const ID_OFFSET = ibUserMadHdr.offsetOf('id');
const STATUS_OFFSET = ibUserMadHdr.offsetOf('status');
const TIMEOUT_OFFSET = ibUserMadHdr.offsetOf('timeout_ms');
const METHOD_OFFSET = 3;
/**
 * Writes that wait inside the kernel at once, each on a thread of the pool, which has more of them; the library that
 * calls C takes 64 calls at a time. Who floods a server before its neighbour is known must wait.
 */
const MOST_WRITES = 8;
/** A write that did not wait. */
const DONE: Promise<void> = Promise.resolve();
const TID_LOW_OFFSET = 12;

/** What is sent without an answer. */
interface Post extends Omit<Request, 'timeoutMs' | 'retries' | 'tid'> {
  readonly tid?: number | null | undefined;
}

interface Listener {
  readonly handle: (received: Received) => void;
  readonly failed: (error: unknown) => void;
}

export class MadEngine {
  readonly #channel: UmadChannel;
  readonly #window: number;
  readonly #headerBytes: number;
  readonly #waiting: Pending[] = [];
  readonly #inFlight: InFlight<Pending>;
  readonly #idle: (() => void)[] = [];
  readonly #writes = new Set<Promise<void>>();
  #writing = 0;
  /** Writes whose turn has not come, in order. */
  readonly #turns: (() => void)[] = [];
  #listener: Listener | null = null;
  /** The user-MAD header of each address that has been sent to. */
  readonly #headers = new WeakMap<Address, Uint8Array>();
  #buffer: Uint8Array;
  #view: DataView;
  /** What is sent at once: header and datagram. C has read it when the call returns. */
  #outgoing: Uint8Array;
  #outgoingView: DataView;
  /** The request that lies there: thousands are the same but for the number. */
  #prepared: Omit<Request, 'retries'> | null = null;
  /** The answer that is handed out: one object for all. */
  #passing: Passing;
  #lastRttMs = 0;
  #nextTid: number;
  #running = false;
  /** What is there is taken before more is sent: the other end works meanwhile. */
  #draining = false;
  #closed = false;
  #closing: Promise<void> | undefined;

  /**
   * @param window requests in flight at most; more wait their turn
   * @param room bytes of a datagram that are read at first; a longer one is read again
   */
  constructor(
    channel: UmadChannel,
    window: number,
    firstTid = (Math.random() * 2 ** 31) | 0,
    room = RECEIVE_BYTES,
  ) {
    this.#channel = channel;
    this.#window = window;
    this.#inFlight = new InFlight(window);
    this.#nextTid = firstTid >>> 0;
    this.#headerBytes = headerBytes(channel.header);
    this.#buffer = new Uint8Array(this.#headerBytes + room);
    this.#view = new DataView(this.#buffer.buffer);
    this.#passing = new Passing(channel.header, this.#buffer, this.#headerBytes);
    this.#outgoing = new Uint8Array(this.#headerBytes + MAD_SIZE);
    this.#outgoingView = new DataView(this.#outgoing.buffer);
  }

  /** Sends a request and gives its answer. Throws NoReplyError, and NativeCallError where the port is lost. */
  request(request: Request): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.begin(request, { answered: (reply) => resolve(reply.kept()), failed: reject });
    });
  }

  /** As request, for thousands of them: without a promise and a copy for each. Throws where the port is closed. */
  begin(request: Request, asker: Asker): void {
    if (this.#closed) throw new ClosedHandleError('the port has been closed');
    const pending = { request, asker, attempts: 0, sentAt: 0, deadline: 0 };
    const isFree = !this.#draining && this.#waiting.length === 0 && this.#inFlight.size < this.#window;
    if (isFree) this.#send(pending);
    else this.#waiting.push(pending);
    if (!this.#running && this.#inFlight.size > 0) void this.#run();
  }

  /**
   * Sends what is not answered. Throws NativeCallError, and LayoutError for what the header has no place for.
   * The timeout in the header is 0: with another, the kernel would wait for an answer to it. A long message is
   * acknowledged within 2 s, or sent again as often as `retries` of the header says.
   * @param tid low half of the transaction id; null leaves the datagram's own, as an answer must have it
   * @returns the low half that it went out with
   */
  async post({ agent, address, mad, tid, length }: Post): Promise<number | null> {
    if (this.#closed) throw new ClosedHandleError('the port has been closed');
    const low = tid === undefined ? this.#takeTid() : tid;
    const message = this.#prepare({ agent, address, mad, length, timeoutMs: 0 }, low);
    await this.#write(address, message);
    return low;
  }

  /**
   * Hands out what comes unasked, until the port is closed: one at a time, in order.
   * @param handle is told of each
   * @param failed is told once that nothing will come any more: the port is lost, reading or `handle` failed
   */
  listen(handle: (received: Received) => void, failed: (error: unknown) => void): void {
    this.#listener = { handle, failed };
    if (!this.#running) void this.#run();
  }

  /** Gives up what is in flight, waits until no thread uses the port, and closes it. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#closed = true;
    this.#failAll(new ClosedHandleError('the port has been closed'));
    this.#listener = null;
    if (this.#running) await new Promise<void>((resolve) => this.#idle.push(resolve));
    await Promise.allSettled(this.#writes);
    this.#channel.close();
  }

  #takeTid(): number {
    do this.#nextTid = (this.#nextTid + 1) >>> 0;
    while (this.#inFlight.has(this.#nextTid) || this.#nextTid === 0);
    return this.#nextTid;
  }

  /** Header and datagram, in a buffer that the next one takes, unless a thread reads it. Throws LayoutError. */
  #prepare(request: Omit<Request, 'retries'>, tid: number | null): Uint8Array {
    if (request === this.#prepared && tid !== null) {
      this.#outgoingView.setUint32(this.#headerBytes + TID_LOW_OFFSET, tid);
      return this.#outgoing;
    }
    const { agent, address, mad, length, timeoutMs } = request;
    const start = this.#headerBytes;
    const whole = start + mad.length;
    const isKept = isRouted(address) || this.#outgoing.length !== whole;
    const message = isKept ? new Uint8Array(whole) : this.#outgoing;
    const view = isKept ? new DataView(message.buffer) : this.#outgoingView;
    if (isKept && !isRouted(address)) {
      this.#outgoing = message;
      this.#outgoingView = view;
    }
    message.set(this.#headerFor(address));
    message.set(mad, start);
    if (address.set?.id === undefined) view.setUint32(ID_OFFSET, agent, true);
    if (address.set?.timeout_ms === undefined) view.setUint32(TIMEOUT_OFFSET, timeoutMs, true);
    if (tid !== null) view.setUint32(start + TID_LOW_OFFSET, tid);
    this.#prepared = message === this.#outgoing && length === undefined ? request : null;
    return length === undefined ? message : message.subarray(0, start + length);
  }

  #headerFor(address: Address): Uint8Array {
    const known = this.#headers.get(address);
    if (known) return known;
    const header = encodeUserHeader(this.#channel.header, headerValues(address));
    this.#headers.set(address, header);
    return header;
  }

  /** With a route header the kernel may have to find out a neighbour, for which it waits. */
  #write(address: Address, message: Uint8Array): Promise<void> {
    if (!isRouted(address)) {
      this.#channel.send(message);
      return DONE;
    }
    const written = this.#writeAside(message);
    this.#writes.add(written);
    const forget = (): void => {
      this.#writes.delete(written);
    };
    written.then(forget, forget);
    return written;
  }

  async #writeAside(message: Uint8Array): Promise<void> {
    if (this.#writing < MOST_WRITES) this.#writing++;
    // Whoever is done hands over the turn.
    else await new Promise<void>((resolve) => this.#turns.push(resolve));
    try {
      if (this.#closed) throw new ClosedHandleError('the port has been closed');
      await this.#channel.sendAsync(message);
    } finally {
      const next = this.#turns.shift();
      if (next) next();
      else this.#writing--;
    }
  }

  #fill(): void {
    while (this.#inFlight.size < this.#window) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#send(next);
    }
  }

  #send(pending: Pending): void {
    const { request } = pending;
    const { address, timeoutMs, tid: wanted } = request;
    const tid = wanted !== undefined && !this.#inFlight.has(wanted) ? wanted : this.#takeTid();
    const byKernel = (address.set?.timeout_ms || timeoutMs) * ((address.set?.retries ?? 0) + 1);
    pending.attempts++;
    pending.sentAt = performance.now();
    pending.deadline = pending.sentAt + byKernel + GRACE_MS;
    try {
      const message = this.#prepare(request, tid);
      // The answer may come before the write has come back.
      this.#inFlight.set(tid, pending);
      const written = this.#write(address, message);
      if (written !== DONE) this.#follow(written, tid, pending, byKernel);
    } catch (error) {
      this.#notSent(tid, pending, error);
    }
  }

  /** A write that waits: the time of the answer begins when it has come back. */
  #follow(written: Promise<void>, tid: number, pending: Pending, byKernel: number): void {
    pending.deadline += NEIGHBOUR_MS;
    written.then(
      () => {
        pending.deadline = performance.now() + byKernel + GRACE_MS;
      },
      (error: unknown) => this.#notSent(tid, pending, error),
    );
  }

  #notSent(tid: number, { asker }: Pending, error: unknown): void {
    this.#inFlight.delete(tid);
    asker.failed(error);
  }

  get #isBusy(): boolean {
    return this.#inFlight.size > 0 || this.#listener !== null;
  }

  /** Polls and takes until nothing is in flight, and nobody listens. */
  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#isBusy) {
        if (await this.#untilReadable()) this.#drain(0);
        this.#expire();
        this.#fill();
      }
    } catch (error) {
      const listener = this.#listener;
      this.#listener = null;
      this.#failAll(error);
      listener?.failed(error);
    } finally {
      this.#running = false;
      for (const done of this.#idle.splice(0)) done();
      // What was asked for while the last answer was handed out.
      if (this.#isBusy) void this.#run();
    }
  }

  /** Takes what comes, while it comes quickly; else waits on a thread. Whether something is there. */
  async #untilReadable(): Promise<boolean> {
    let now = performance.now();
    let turned = now;
    let answered = now;
    // Who only listens waits on a thread.
    while (this.#inFlight.size > 0 && this.#lastRttMs < QUICK_MS && now - answered < QUICK_MS) {
      const isAny = this.#drain(SLICE_MS);
      // Whoever got the answers by a promise asks for more now.
      if (this.#inFlight.size < this.#window) await null;
      if (!this.#isBusy) return false;
      now = performance.now();
      if (isAny) answered = now;
      if (isAny && now - turned < TURN_MS) continue;
      await turn();
      this.#expire();
      this.#fill();
      if (!this.#isBusy) return false;
      turned = now;
    }
    let nearest = now + POLL_SLICE_MS;
    for (const [, { deadline }] of this.#inFlight.entries()) nearest = Math.min(nearest, deadline);
    return this.#channel.poll(Math.max(1, Math.ceil(nearest - now)));
  }

  /** Takes what is there, and then sends more. Whether anything was there within the time. */
  #drain(waitMs: number): boolean {
    this.#draining = true;
    try {
      if (!this.#receive(waitMs)) return false;
      while (this.#isBusy && this.#receive(0));
      return true;
    } finally {
      this.#draining = false;
      this.#fill();
    }
  }

  /** Takes one message, if one is there within the time. */
  #receive(waitMs: number): boolean {
    const received = this.#channel.receive(this.#buffer, waitMs);
    if (received === null) return false;
    if (typeof received === 'number') {
      this.#take(received);
    } else {
      this.#buffer = new Uint8Array(this.#headerBytes + received.needed);
      this.#view = new DataView(this.#buffer.buffer);
      this.#passing = new Passing(this.#channel.header, this.#buffer, this.#headerBytes);
    }
    return true;
  }

  #take(length: number): void {
    const start = this.#headerBytes;
    if (length < HEADER_SIZE) return;
    const view = this.#view;
    const tid = view.getUint32(start + TID_LOW_OFFSET);
    const isReturned = view.getUint32(STATUS_OFFSET, true) !== 0;
    // A request of somebody else may have the same number.
    const isAnswer = isReturned || isResponse(view.getUint8(start + METHOD_OFFSET));
    const pending = isAnswer ? this.#inFlight.get(tid) : undefined;
    if (!pending) {
      // Without a listener: an answer that came after its request was given up, or one never asked for.
      this.#listener?.handle(this.#passing.of(length, 0, 0).kept());
      return;
    }
    this.#inFlight.delete(tid);
    const rttMs = performance.now() - pending.sentAt;
    this.#lastRttMs = rttMs;
    const passing = this.#passing.of(length, rttMs, pending.attempts);
    if (isReturned) this.#lost(pending, passing.kept());
    else pending.asker.answered(passing);
  }

  #expire(): void {
    const now = performance.now();
    for (const [tid, pending] of this.#inFlight.entries()) {
      if (pending.deadline > now) continue;
      this.#inFlight.delete(tid);
      this.#lost(pending, null);
    }
  }

  #lost(pending: Pending, returned: Received | null): void {
    const { retries, timeoutMs } = pending.request;
    if (this.#closed) return;
    if (pending.attempts <= retries) this.#send(pending);
    else pending.asker.failed(new NoReplyError(pending.attempts, timeoutMs, returned));
  }

  #failAll(error: unknown): void {
    const given = [...this.#inFlight.entries().map(([, pending]) => pending), ...this.#waiting.splice(0)];
    this.#inFlight.clear();
    for (const { asker } of given) asker.failed(error);
  }
}

/** With a global route header. */
const isRouted = ({ grh, set }: Address): boolean => grh !== null || set?.grh_present !== undefined;

/** The user-MAD header of an address; agent and timeout are those of each datagram. */
function headerValues({ grh, ...address }: Address): HeaderValues {
  return {
    qpn: address.qpn,
    qkey: address.qkey,
    lid: address.lid,
    sl: address.sl,
    path_bits: address.pathBits,
    pkey_index: address.pkeyIndex,
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
    ...address.set,
  };
}
