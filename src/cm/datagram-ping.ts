/** Pings over datagrams: messages that the peer sends back, as udaddy(1) and rdmatool cm listen --echo do. */
import { performance } from 'node:perf_hooks';
import { Mtu } from '../abi/verbs-codes.ts';
import { GRH_BYTES, WrOpcode } from '../abi/verbs-work.ts';
import { Failure } from '../explain/failure.ts';
import type { CmPing } from '../model/cm-exchange.ts';
import type { CmEvent } from './channel.ts';
import { type AddressHandle, ahAttrOf, type DataPath, type RegisteredMemory } from './data-path.ts';
import { PingCount, type Pinger, type PingRequest } from './ping.ts';
import { PingText } from './rping.ts';
import type { Session } from './session.ts';
import { isReceive, Traffic } from './traffic.ts';

const SENDS = 16;
/** The peer may answer many at once: udaddy does after the last. */
const MOST_RECEIVES = 256;
/** How long one answer is waited for before the next is sent. */
const INTERVAL_MS = 20;
/** How long the last answers are waited for. */
const LAST_ANSWERS_MS = 2000;
const SEND_ID = 100_000;

interface UnderWay {
  readonly index: number;
  readonly started: number;
}

interface Destination {
  readonly handle: AddressHandle;
  readonly queuePair: number;
  readonly qkey: number;
}

export class DatagramClient implements Pinger {
  readonly #count: PingCount;
  readonly #text: PingText;
  readonly #traffic: Traffic;
  readonly #underWay: UnderWay[] = [];
  #sending = 0;
  /** Answers with other bytes than were sent. */
  #others = 0;

  private constructor(
    private readonly session: Session,
    private readonly path: DataPath,
    private readonly request: PingRequest,
    private readonly sends: RegisteredMemory,
    private readonly receives: RegisteredMemory,
  ) {
    this.#count = new PingCount('datagrams', request);
    this.#text = new PingText(request.size);
    this.#traffic = new Traffic(path, session.signal);
  }

  /** Makes the queue pair and its memory, and posts the receives. Throws Failure. */
  static async prepare(session: Session, request: PingRequest): Promise<DatagramClient> {
    const slots = Math.min(request.count, MOST_RECEIVES);
    const path = await session.step('create_qp', () =>
      session.id.createDataPath({ sends: SENDS, receives: slots }),
    );
    checkDatagramSize(request.size, await datagramLimit(path, session.ibPort));
    const [sends, receives] = await session.step('reg_mr', async () => [
      await path.registerMemory(SENDS * request.size, ['LOCAL_WRITE']),
      await path.registerMemory(slots * (GRH_BYTES + request.size), ['LOCAL_WRITE']),
    ]);
    if (sends === undefined || receives === undefined) throw new TypeError('there are two');
    const client = new DatagramClient(session, path, request, sends, receives);
    for (let slot = 0; slot < slots; slot++) client.#postReceive(slot);
    return client;
  }

  get queuePair(): number {
    return this.path.number;
  }

  result(): CmPing {
    return this.#count.result(this.#traffic.failed);
  }

  async run({ ud }: CmEvent): Promise<void> {
    if (ud === null) throw new TypeError('a datagram service answers with where it is');
    const { qp_num: queuePair, qkey, ah_attr } = ud;
    const handle = await this.session.step('create_ah', () =>
      this.path.createAddressHandle(ahAttrOf(ah_attr)),
    );
    await this.session.watched(this.#traffic, async () => {
      for (let index = 0; index < this.request.count; index++) {
        await this.#send(index, { handle, queuePair, qkey });
        await this.#answers(INTERVAL_MS);
      }
      await this.#answers(this.session.settings.timeoutMs ?? LAST_ANSWERS_MS);
    });
    this.#judge();
  }

  async #send(index: number, datagram: Destination): Promise<void> {
    const what = this.#what(index);
    while (this.#sending === SENDS) await this.#take(INTERVAL_MS, what);
    const { size } = this.request;
    const offset = (index % SENDS) * size;
    this.#text.write(index, this.sends.bytes.subarray(offset, offset + size), false);
    this.session.call('post_send', () =>
      this.path.postSend({
        id: SEND_ID + index,
        opcode: WrOpcode.valueOf('SEND_WITH_IMM'),
        part: { memory: this.sends, offset, length: size },
        // Whom to answer: udaddy looks here.
        immediate: this.path.number,
        datagram,
      }),
    );
    this.#sending++;
    this.#count.sent++;
    this.#underWay.push({ index, started: performance.now() });
  }

  /** Takes answers until there is one for each datagram that was sent, or the time is over. */
  async #answers(timeoutMs: number): Promise<void> {
    const until = performance.now() + timeoutMs;
    while (this.#underWay.length > 0) {
      const left = until - performance.now();
      if (left <= 0 || !(await this.#take(left, this.#what(this.#count.sent - 1)))) return;
    }
  }

  /** Takes one completion; false where none came in time. */
  async #take(timeoutMs: number, what: string): Promise<boolean> {
    const completion = await this.#traffic.next(timeoutMs, this.session.at(what));
    if (completion === null) return false;
    if (!isReceive(completion)) {
      this.#sending--;
      return true;
    }
    const slot = Number(completion.wr_id);
    const start = this.#place(slot) + GRH_BYTES;
    const end = this.#place(slot) + completion.byte_len;
    this.#match(this.receives.bytes.subarray(start, Math.max(start, end)));
    this.#postReceive(slot);
    return true;
  }

  /** Finds which datagram came back: the oldest with these bytes. */
  #match(came: Uint8Array): void {
    const expected = new Uint8Array(this.request.size);
    const found = this.#underWay.findIndex(({ index }) => {
      this.#text.write(index, expected, false);
      return Buffer.compare(expected, came) === 0;
    });
    const [ping] = this.#underWay.splice(Math.max(0, found), 1);
    // One too many: it was counted already.
    if (ping === undefined) return;
    this.#count.received++;
    if (found < 0) {
      this.#others++;
      return;
    }
    this.#count.verified++;
    this.#count.times.push(performance.now() - ping.started);
  }

  /** Throws Failure where answers are missing or wrong. */
  #judge(): void {
    const { sent, received, verified } = this.#count;
    const what = this.session.at('datagrams');
    if (received === 0) {
      throw new Failure(
        'TIMED_OUT',
        `${what}: none of the ${sent} that were sent was answered`,
        'the peer must be rdmatool cm listen --ps udp --echo, or udaddy -C with the same count and -S with the same size: udaddy answers only when it has got all',
      );
    }
    if (verified > 0 && this.#others > 0) {
      throw new Failure(
        'BAD_DATA',
        `${what}: ${this.#others} of ${received} answers carry other bytes than were sent`,
        'memory, the path or the peer is faulty',
      );
    }
    if (received < sent) {
      throw new Failure(
        'SOME_LOST',
        `${what}: ${sent - received} of ${sent} were not answered`,
        'datagrams are not repeated: the network or the peer has dropped them; look at the counters of both ports (ip -s link, rdma statistic)',
      );
    }
  }

  #what(index: number): string {
    return `datagram ${index + 1} of ${this.request.count}`;
  }

  #place(slot: number): number {
    return slot * (GRH_BYTES + this.request.size);
  }

  #postReceive(slot: number): void {
    this.session.call('post_recv', () =>
      this.path.postReceive(slot, {
        memory: this.receives,
        offset: this.#place(slot),
        length: GRH_BYTES + this.request.size,
      }),
    );
  }
}

/** The most that one datagram carries, bytes: the active MTU of the port. Throws NativeCallError. */
export async function datagramLimit(path: DataPath, port: number): Promise<number> {
  const { active_mtu } = await path.portAttributes(port);
  return Number(Mtu.nameOf(active_mtu) ?? 256);
}

/** Throws Failure USAGE. */
export function checkDatagramSize(size: number, limit: number): void {
  if (size <= limit) return;
  throw new Failure(
    'USAGE',
    `a datagram of ${size} bytes does not go through: the active MTU of the port is ${limit}`,
    `use --size ${limit} or less; reliable connections (--ps tcp) have no such limit`,
  );
}
