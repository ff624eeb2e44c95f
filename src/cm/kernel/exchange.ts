/** Commands to the kernel's user CM: values in, values out, and what went over in between for who wants to see it. */
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { UcmaCommand } from '../../abi/ucma/command.ts';
import { rdmaUcmCmdHdr } from '../../abi/ucma/shared.ts';
import { encodeWrite } from '../../abi/ucma/speak.ts';
import type { Decoded, Member } from '../../layout/codec.ts';
import type { Encodable, Fields, Struct } from '../../layout/struct.ts';
import { NativeCallError } from '../../native/errors.ts';
import { type PlacedRoom, Room, type UserCmNode, type WriteOutcome } from '../../native/user-cm.ts';

/** One write and what came of it. */
export interface Exchange {
  /** The whole write as it went to the kernel. */
  readonly message: Uint8Array;
  /** The room for the answer after the call; null where the command has none. */
  readonly answer: Uint8Array | null;
  /** Bytes that the kernel took, or -1 with the errno. */
  readonly result: number;
  readonly errno: number;
  readonly durationMs: number;
  /** Whether an event's parameters are those of datagrams, where that is known. */
  readonly datagram: boolean | null;
}

/** A write that is put together by hand. */
export interface RawWrite {
  readonly number: number;
  /** The structure; the address of the answer is put in at `responseAt`. */
  readonly body: Uint8Array;
  /** The header's `in`; null for the length of the body. */
  readonly declared: number | null;
  /** The header's `out`, and the room. */
  readonly out: number;
  /** Bytes from the start of the body; null leaves the body as it is. */
  readonly responseAt: number | null;
  /** Other memory that the body is to point to. */
  readonly rooms: readonly PlacedRoom[];
  /** Bytes that are not written at the end of header and body. */
  readonly cut: number;
}

/** What is asked of the descriptor; a test has its own. */
export type Writable = Pick<UserCmNode, 'write'>;

export class UserCm {
  /** Is told of every exchange. */
  constructor(
    private readonly node: Writable,
    private readonly seen: (exchange: Exchange) => void,
  ) {}

  /** Sends a command that answers. Throws NativeCallError. */
  async ask<Q extends Fields, R extends Fields>(
    command: UcmaCommand<Q, R>,
    values: Encodable<Decoded<Struct<Q>>>,
    tell: (answer: Decoded<Struct<R>>) => boolean | null = () => null,
  ): Promise<Decoded<Struct<R>>> {
    const { request, response } = command;
    if (request === null || response === null) throw new TypeError(`${command.name} has no answer`);
    const body = request.layout.encode(values);
    const raw = {
      ...plain(command.number, body),
      out: response.layout.size,
      responseAt: responseAt(request),
    };
    const { answer } = await this.#checked(command.name, raw, (room) => tell(response.layout.decode(room)));
    return response.layout.decode(answer ?? new Uint8Array(response.layout.size));
  }

  /** Sends a command that does not answer. Throws NativeCallError. */
  async tell<Q extends Fields, R extends Fields>(
    command: UcmaCommand<Q, R>,
    values: Encodable<Decoded<Struct<Q>>>,
    rooms: readonly PlacedRoom[] = [],
  ): Promise<void> {
    const body = command.request === null ? new Uint8Array() : command.request.layout.encode(values);
    await this.#checked(command.name, { ...plain(command.number, body), rooms }, () => null);
  }

  /** Sends a command with that much room for its answer, and gives all of it. Throws NativeCallError. */
  checked<Q extends Fields, R extends Fields>(
    command: UcmaCommand<Q, R>,
    values: Encodable<Decoded<Struct<Q>>>,
    out: number,
  ): Promise<Exchange> {
    const { request } = command;
    if (request === null) throw new TypeError(`${command.name} has no structure`);
    const raw = {
      ...plain(command.number, request.layout.encode(values)),
      out,
      responseAt: responseAt(request),
    };
    return this.#checked(command.name, raw, () => null);
  }

  async #checked(
    name: string,
    raw: RawWrite,
    datagram: (answer: Uint8Array) => boolean | null,
  ): Promise<Exchange> {
    const exchange = await this.raw(raw, datagram);
    if (exchange.result < 0) throw new NativeCallError(name, exchange.errno);
    // Like librdmacm: a kernel that takes less than it was given has not done what it was asked.
    if (exchange.result !== exchange.message.length) throw new NativeCallError(name, constants.errno.ENODATA);
    return exchange;
  }

  /** Sends any bytes, and judges nothing. */
  async raw(
    { number, body, declared, out, responseAt: at, rooms, cut }: RawWrite,
    datagram: (answer: Uint8Array) => boolean | null = () => null,
  ): Promise<Exchange> {
    const answer = at === null ? null : new Room(out);
    const whole = encodeWrite(number, body, out, declared ?? body.length);
    const placed = [...rooms, ...(answer === null || at === null ? [] : [{ at, room: answer }])].map(
      ({ at: place, room }) => ({ at: place + rdmaUcmCmdHdr.size, room }),
    );
    const message = whole.subarray(0, Math.max(0, whole.length - cut));
    const fitting = placed.filter((place) => place.at + 8 <= message.length);
    const started = performance.now();
    const outcome: WriteOutcome = await this.node.write(message, fitting);
    const durationMs = Math.round((performance.now() - started) * 1000) / 1000;
    const bytes = answer?.bytes() ?? null;
    const exchange: Exchange = {
      message: outcome.message,
      answer: bytes,
      result: outcome.result,
      errno: outcome.errno,
      durationMs,
      datagram: bytes === null || outcome.result < 0 ? null : datagram(bytes),
    };
    this.seen(exchange);
    return exchange;
  }
}

const plain = (number: number, body: Uint8Array): RawWrite => ({
  number,
  body,
  declared: null,
  out: 0,
  responseAt: null,
  rooms: [],
  cut: 0,
});

/** Where a request has the address of its answer; null where it has none. */
export const responseAt = ({ layout }: { layout: { members: readonly Member[] } }): number | null =>
  layout.members.find(({ name }) => name === 'response')?.offset ?? null;
