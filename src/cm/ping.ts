/** What a client that pings has to do, whatever the protocol; and rping's. */
import { performance } from 'node:perf_hooks';
import { WrOpcode } from '../abi/verbs-work.ts';
import { Failure } from '../explain/failure.ts';
import type { CmPing } from '../model/cm-exchange.ts';
import type { CmEvent } from './channel.ts';
import type { DataPath, RegisteredMemory } from './data-path.ts';
import { durations } from './durations.ts';
import { PingText, rpingMessage } from './rping.ts';
import { CONNECT_TIMEOUT_MS, type Session } from './session.ts';
import { isReceive, Traffic } from './traffic.ts';

export interface PingRequest {
  readonly count: number;
  /** Bytes of each. */
  readonly size: number;
}

/** Pings that are ready before the connection stands, for a peer that is quick. */
export interface Pinger {
  readonly queuePair: number;
  /** Throws Failure. */
  run(established: CmEvent): Promise<void>;
  /** What has been reached by now. */
  result(): CmPing;
}

/** What has been counted and measured of pings. */
export class PingCount {
  sent = 0;
  received = 0;
  verified = 0;
  /** Milliseconds, of those that came back. */
  readonly times: number[] = [];

  constructor(
    private readonly protocol: CmPing['protocol'],
    private readonly request: PingRequest,
  ) {}

  result(completion: CmPing['completion']): CmPing {
    const total = this.times.reduce((sum, time) => sum + time, 0);
    const { size, count } = this.request;
    return {
      protocol: this.protocol,
      size,
      count,
      sent: this.sent,
      received: this.received,
      verified: this.verified,
      round_trip: durations(this.times),
      bytes_per_second: total === 0 ? null : Math.round((2 * size * this.times.length * 1000) / total),
      completion,
    };
  }
}

/** Room for messages that are longer than they should be, so that it can be said what came. */
const RECEIVE_ROOM = 4096;
const RECEIVES = 2;
/** The depths of rping's own queue pair. */
const SENDS = 16;
const DESCRIPTORS = RECEIVES * RECEIVE_ROOM;
const SEND_ID = 1000;

/** A client of rping's protocol. */
export class RpingClient implements Pinger {
  readonly #count: PingCount;
  readonly #text: PingText;
  readonly #traffic: Traffic;

  private constructor(
    private readonly session: Session,
    private readonly path: DataPath,
    private readonly request: PingRequest,
    private readonly control: RegisteredMemory,
    private readonly source: RegisteredMemory,
    private readonly sink: RegisteredMemory,
  ) {
    this.#count = new PingCount('rping', request);
    this.#text = new PingText(request.size);
    this.#traffic = new Traffic(path, session.signal);
  }

  /** Makes the queue pair and its memory, and posts the receives. Throws Failure. */
  static async prepare(session: Session, request: PingRequest): Promise<RpingClient> {
    const path = await session.step('create_qp', () =>
      session.id.createDataPath({ sends: SENDS, receives: RECEIVES }),
    );
    const [control, source, sink] = await session.step('reg_mr', async () => {
      const remote = ['LOCAL_WRITE', 'REMOTE_READ', 'REMOTE_WRITE'] as const;
      return [
        await path.registerMemory(DESCRIPTORS + 2 * rpingMessage.size, ['LOCAL_WRITE']),
        await path.registerMemory(request.size, remote),
        await path.registerMemory(request.size, remote),
      ] as const;
    });
    [source, sink].forEach(({ address, rkey }, index) => {
      const message = rpingMessage.encode({ address, rkey, size: request.size });
      control.bytes.set(message, DESCRIPTORS + index * rpingMessage.size);
    });
    const client = new RpingClient(session, path, request, control, source, sink);
    for (let slot = 0; slot < RECEIVES; slot++) client.#postReceive(slot);
    return client;
  }

  get queuePair(): number {
    return this.path.number;
  }

  result(): CmPing {
    return this.#count.result(this.#traffic.failed);
  }

  async run(): Promise<void> {
    await this.session.watched(this.#traffic, async () => {
      for (let index = 0; index < this.request.count; index++) await this.#ping(index);
    });
  }

  async #ping(index: number): Promise<void> {
    const what = `ping ${index + 1} of ${this.request.count}`;
    this.#text.write(index, this.source.bytes, true);
    // Another text than the one that shall come.
    this.sink.bytes.fill(0xff);
    const started = performance.now();
    this.#count.sent++;
    await this.#tell(0, `${what}, waiting until the peer has read it`);
    await this.#tell(1, `${what}, waiting until the peer has written it back`);
    this.#count.times.push(performance.now() - started);
    this.#count.received++;
    const { bytes: sent } = this.source;
    const { bytes: came } = this.sink;
    if (Buffer.compare(sent, came) !== 0) throw wrongByte(what, sent, came);
    this.#count.verified++;
  }

  /** Sends a descriptor, and waits for the answer to it. */
  async #tell(descriptor: number, what: string): Promise<void> {
    this.session.call('post_send', () =>
      this.path.postSend({
        id: SEND_ID + descriptor,
        opcode: WrOpcode.valueOf('SEND'),
        part: {
          memory: this.control,
          offset: DESCRIPTORS + descriptor * rpingMessage.size,
          length: rpingMessage.size,
        },
      }),
    );
    const timeoutMs = this.session.settings.timeoutMs ?? CONNECT_TIMEOUT_MS;
    const until = performance.now() + timeoutMs;
    let acknowledged = false;
    for (;;) {
      const completion = await this.#traffic.next(until - performance.now(), this.session.at(what));
      if (completion === null) throw noAnswer(this.session.at(what), timeoutMs, acknowledged);
      if (!isReceive(completion)) {
        acknowledged ||= Number(completion.wr_id) === SEND_ID + descriptor;
        continue;
      }
      if (completion.byte_len !== rpingMessage.size) throw notRping(what, completion.byte_len);
      this.#postReceive(Number(completion.wr_id));
      return;
    }
  }

  #postReceive(slot: number): void {
    this.session.call('post_recv', () =>
      this.path.postReceive(slot, {
        memory: this.control,
        offset: slot * RECEIVE_ROOM,
        length: RECEIVE_ROOM,
      }),
    );
  }
}

const hex = (byte: number | undefined): string => `0x${(byte ?? 0).toString(16).padStart(2, '0')}`;

function wrongByte(what: string, sent: Uint8Array, came: Uint8Array): Failure {
  const at = sent.findIndex((byte, place) => byte !== came[place]);
  return new Failure(
    'BAD_DATA',
    `${what}: other bytes came back than were sent: the first at ${at} of ${sent.length}: ${hex(came[at])} in place of ${hex(sent[at])}`,
    'the peer does not send back what it got, or memory or the path is faulty: try rping -c -v -V between the same addresses',
  );
}

/** @param acknowledged whether the peer's device has the message: then it is its program that is silent */
const noAnswer = (what: string, timeoutMs: number, acknowledged: boolean): Failure =>
  acknowledged
    ? new Failure(
        'TIMED_OUT',
        `${what}: no answer within ${timeoutMs} ms, though the peer has acknowledged the message`,
        'its device had the message, and its program is silent: it may be stopped, or wait for another protocol; it must be rping -s or rdmatool cm listen --echo; or the link went down since: look at ip link on both sides; raise --timeout for a slow one',
      )
    : new Failure(
        'TIMED_OUT',
        `${what}: no answer within ${timeoutMs} ms, and not even an acknowledgement`,
        'the link or the peer is down, or its address has moved: look at ip link and rdmatool list on both sides, and ping the peer; raise --timeout for a slow or lossy path',
      );

/** What a peer sent that does not speak the protocol. */
export const notRping = (what: string, length: number): Failure =>
  new Failure(
    'BAD_MESSAGE',
    `${what}: the peer sent ${length} bytes, and a message of rping's protocol has ${rpingMessage.size}`,
    'the peer speaks another protocol (ucmatose, rstream …): use rping, or rdmatool cm connect --ping with rdmatool cm listen --echo',
  );
