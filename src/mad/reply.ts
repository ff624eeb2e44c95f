/** What has come to a port: kept in memory of its own, or passing through the memory that is read into. */
import { MAD_SIZE } from '../datagram/headers.ts';
import { statusAt } from '../datagram/message.ts';
import type { HeaderKind } from './backend.ts';
import { decodeUserHeader, type UserHeader } from './user-header.ts';

/** What has come from the kernel: a datagram, or an own one back that nobody answered (`header.status`). */
export interface Received {
  /** Decoded when it is asked for: few want it of thousands of answers. */
  readonly header: UserHeader;
  readonly mad: Uint8Array;
}

export interface Reply extends Received {
  /** From the last attempt to its answer, ms. */
  readonly rttMs: number;
  readonly attempts: number;
}

/** A reply where it was read: its bytes are there until the next is read. */
export interface PassingReply extends Reply {
  /** 0, or why the request failed, from the MAD header. */
  readonly status: number;
  /** A copy that stays. */
  kept(): Reply;
  /** The same in the memory of a copy that is not needed any more, where it fits. */
  keptIn(former: Reply | undefined): Reply;
}

class Message implements Reply {
  constructor(
    private readonly kind: HeaderKind,
    /** Header and datagram. */
    readonly bytes: Uint8Array,
    private readonly start: number,
    public rttMs: number,
    public attempts: number,
  ) {}

  get mad(): Uint8Array {
    return this.bytes.subarray(this.start);
  }

  get header(): UserHeader {
    return decodeUserHeader(this.kind, this.bytes.subarray(0, this.start));
  }
}

/** What is in the memory that is read into. */
export class Passing implements PassingReply {
  rttMs = 0;
  attempts = 0;
  #end = 0;
  /** Header and a datagram of the usual length. */
  readonly #usual: Uint8Array;

  constructor(
    private readonly kind: HeaderKind,
    /** Header and datagram, and room behind them. */
    private readonly bytes: Uint8Array,
    private readonly start: number,
  ) {
    this.#usual = bytes.subarray(0, start + MAD_SIZE);
  }

  /** The same for what has been read now. */
  of(length: number, rttMs: number, attempts: number): this {
    this.#end = this.start + length;
    this.rttMs = rttMs;
    this.attempts = attempts;
    return this;
  }

  get status(): number {
    return statusAt(this.bytes, this.start);
  }

  get mad(): Uint8Array {
    return this.bytes.subarray(this.start, this.#end);
  }

  get header(): UserHeader {
    return decodeUserHeader(this.kind, this.bytes.subarray(0, this.start));
  }

  kept(): Message {
    return new Message(this.kind, this.bytes.slice(0, this.#end), this.start, this.rttMs, this.attempts);
  }

  keptIn(former: Reply | undefined): Reply {
    const isUsual = this.#end === this.#usual.length;
    if (!isUsual || !(former instanceof Message) || former.bytes.length !== this.#end) return this.kept();
    former.bytes.set(this.#usual);
    former.rttMs = this.rttMs;
    former.attempts = this.attempts;
    return former;
  }
}
