/** Multicast: joins a group, sends to it, receives from it, and leaves it. */
import { performance } from 'node:perf_hooks';
import { gidText } from '../abi/ib-types.ts';
import { Mtu, Rate } from '../abi/verbs-codes.ts';
import { GRH_BYTES, WrOpcode } from '../abi/verbs-work.ts';
import { Failure } from '../explain/failure.ts';
import type { CmQueuePair } from '../model/cm.ts';
import type { CmGroup, CmJoinResult, CmSender } from '../model/cm-join.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { type Endpoint, resolveMulticast } from './address.ts';
import type { DatagramValues } from './backend.ts';
import { ahAttrOf, type DataPath, type RegisteredMemory, type WorkCompletion } from './data-path.ts';
import { checkDatagramSize, datagramLimit } from './datagram-ping.ts';
import { senderGid } from './global-route.ts';
import { PingText } from './rping.ts';
import { type CmEnvironment, type CmSettings, CONNECT_TIMEOUT_MS, conduct, type Session } from './session.ts';
import { isReceive, Traffic } from './traffic.ts';

export interface JoinRequest {
  readonly sendOnly: boolean;
  /** Datagrams to send, 0 for none. */
  readonly send: number;
  /** Datagrams of others to wait for, 0 for none. */
  readonly receive: number;
  /** Bytes of each that is sent. */
  readonly size: number;
  /** How long to stay in the group, milliseconds. */
  readonly holdMs: number;
}

const SENDS = 16;
const RECEIVES = 64;
const SEND_ID = 100_000;

/** @param joined is told of the group before anything is sent or waited for */
export async function join(
  address: Endpoint,
  request: JoinRequest,
  settings: CmSettings,
  environment: CmEnvironment,
  joined: (group: CmGroup) => void,
): Promise<CmJoinResult> {
  let group: CmGroup | null = null;
  let qp: CmQueuePair | null = null;
  let member: Member | null = null;
  const reached = (): Pick<CmJoinResult, 'sent' | 'received' | 'own' | 'senders'> =>
    member?.result() ?? { sent: 0, received: 0, own: 0, senders: [] };
  const outcome = await conduct(settings, environment, async (session) => {
    await session.createId();
    const { machine } = environment;
    const target = await resolveMulticast(address, machine, settings.timeoutMs ?? CONNECT_TIMEOUT_MS);
    await session.resolveAddress(target);
    const path = await session.step('create_qp', () =>
      session.id.createDataPath({ sends: SENDS, receives: RECEIVES }),
    );
    qp = { qp_num: path.number, type: 'UD', srq: false, real: true };
    member = await Member.prepare(session, path, request);
    const { ud } = await session.stepUntil(
      'join_multicast',
      ['MULTICAST_JOIN'],
      settings.timeoutMs ?? CONNECT_TIMEOUT_MS,
      () => session.id.joinMulticast(target, request.sendOnly),
    );
    if (ud === null) throw new TypeError('a group comes with its address');
    const { active_mtu } = await path.portAttributes(session.ibPort);
    group = groupJson(ud, active_mtu);
    joined(group);
    await member.run(ud);
    await session.step('leave_multicast', () => session.id.leaveMulticast(target));
  });
  return { schema: SCHEMA_IDS.cmJoin, ...outcome, send_only: request.sendOnly, group, qp, ...reached() };
}

const groupJson = ({ qp_num, qkey, ah_attr }: DatagramValues, mtu: number): CmGroup => ({
  gid: gidText(ah_attr.grh.dgid),
  lid: ah_attr.dlid,
  qp_num,
  qkey: `0x${qkey.toString(16)}`,
  sl: ah_attr.sl,
  mtu: Mtu.show(mtu),
  rate: Rate.show(ah_attr.static_rate),
  hop_limit: ah_attr.grh.hop_limit,
  traffic_class: ah_attr.grh.traffic_class,
  flow_label: ah_attr.grh.flow_label,
  sgid_index: ah_attr.grh.sgid_index,
});

/** What a member of the group sends and receives. */
class Member {
  readonly #traffic: Traffic;
  readonly #senders = new Map<string, CmSender>();
  #sending = 0;
  #sent = 0;
  #received = 0;
  #own = 0;

  private constructor(
    private readonly session: Session,
    private readonly path: DataPath,
    private readonly request: JoinRequest,
    private readonly sends: RegisteredMemory,
    private readonly receives: RegisteredMemory,
    /** Bytes of a receive buffer. */
    private readonly room: number,
  ) {
    this.#traffic = new Traffic(path, session.signal);
  }

  /** Registers memory, and posts the receives before the group is joined. Throws Failure. */
  static async prepare(session: Session, path: DataPath, request: JoinRequest): Promise<Member> {
    const limit = await datagramLimit(path, session.ibPort);
    checkDatagramSize(request.size, limit);
    const room = GRH_BYTES + limit;
    const [sends, receives] = await session.step('reg_mr', async () => [
      await path.registerMemory(SENDS * request.size, ['LOCAL_WRITE']),
      await path.registerMemory(RECEIVES * room, ['LOCAL_WRITE']),
    ]);
    if (sends === undefined || receives === undefined) throw new TypeError('there are two');
    const member = new Member(session, path, request, sends, receives, room);
    for (let slot = 0; slot < RECEIVES; slot++) member.#postReceive(slot);
    return member;
  }

  result(): Pick<CmJoinResult, 'sent' | 'received' | 'own' | 'senders'> {
    return {
      sent: this.#sent,
      received: this.#received,
      own: this.#own,
      senders: [...this.#senders.values()],
    };
  }

  async run(group: DatagramValues): Promise<void> {
    const { receive, holdMs } = this.request;
    await this.session.watched(this.#traffic, async () => {
      await this.#sendAll(group);
      if (receive > 0) await this.#receiveAll(receive);
      if (holdMs > 0) await this.#stay(holdMs);
    });
  }

  async #sendAll({ qp_num: queuePair, qkey, ah_attr }: DatagramValues): Promise<void> {
    const { send, size } = this.request;
    if (send === 0) return;
    const handle = await this.session.step('create_ah', () =>
      this.path.createAddressHandle(ahAttrOf(ah_attr)),
    );
    const text = new PingText(size);
    for (let index = 0; index < send; index++) {
      await this.#drain(SENDS - 1);
      const offset = (index % SENDS) * size;
      text.write(index, this.sends.bytes.subarray(offset, offset + size), false);
      this.session.call('post_send', () =>
        this.path.postSend({
          id: SEND_ID + index,
          opcode: WrOpcode.valueOf('SEND_WITH_IMM'),
          part: { memory: this.sends, offset, length: size },
          immediate: this.path.number,
          datagram: { handle, queuePair, qkey },
        }),
      );
      this.#sending++;
      this.#sent++;
    }
    await this.#drain(0);
  }

  /** Waits until no more than so many sends are under way. */
  async #drain(most: number): Promise<void> {
    const timeoutMs = this.session.settings.timeoutMs ?? CONNECT_TIMEOUT_MS;
    while (this.#sending > most) {
      if (await this.#take(timeoutMs, 'sending to the group')) continue;
      throw new Failure(
        'TIMED_OUT',
        this.session.at(`the device has not sent a datagram within ${timeoutMs} ms`),
        'look at the state of the port: rdmatool list, ip link',
      );
    }
  }

  async #receiveAll(count: number): Promise<void> {
    const timeoutMs = this.session.settings.timeoutMs ?? CONNECT_TIMEOUT_MS;
    const until = performance.now() + timeoutMs;
    while (this.#received < count) {
      if (await this.#take(Math.max(0, until - performance.now()), 'waiting for datagrams')) continue;
      if (performance.now() < until) continue;
      const what = this.session.at(`${this.#received} of ${count} datagrams came within ${timeoutMs} ms`);
      throw new Failure(
        this.#received === 0 ? 'TIMED_OUT' : 'SOME_LOST',
        what,
        'is anybody sending to the group (mckey -s, rdmatool cm join --send)? On Ethernet, switches with IGMP or MLD snooping need a querier; --timeout waits longer',
      );
    }
  }

  /** Stays in the group, and counts what comes. */
  async #stay(holdMs: number): Promise<void> {
    const until = performance.now() + holdMs;
    while (performance.now() < until) {
      await this.#take(until - performance.now(), 'staying in the group');
    }
  }

  /** Takes one completion; false where none came in time. */
  async #take(timeoutMs: number, what: string): Promise<boolean> {
    const completion = await this.#traffic.next(timeoutMs, this.session.at(what));
    if (completion === null) return false;
    if (isReceive(completion)) this.#came(completion);
    else this.#sending--;
    return true;
  }

  #came(completion: WorkCompletion): void {
    const slot = Number(completion.wr_id);
    const header = this.receives.bytes.slice(slot * this.room, slot * this.room + GRH_BYTES);
    const gid = senderGid(completion, header);
    this.#postReceive(slot);
    // The device gives its own datagrams to its own members too.
    if (completion.src_qp === this.path.number && (gid === null || gid === this.session.route().sgid)) {
      this.#own++;
      return;
    }
    this.#received++;
    const key = `${gid} ${completion.slid} ${completion.src_qp}`;
    const sender = this.#senders.get(key) ?? {
      gid,
      lid: completion.slid,
      qp_num: completion.src_qp,
      datagrams: 0,
      bytes: 0,
    };
    sender.datagrams++;
    sender.bytes += completion.byte_len - GRH_BYTES;
    this.#senders.set(key, sender);
  }

  #postReceive(slot: number): void {
    this.session.call('post_recv', () =>
      this.path.postReceive(slot, {
        memory: this.receives,
        offset: slot * this.room,
        length: this.room,
      }),
    );
  }
}
