/** Sends datagrams back to whom they come from. */
import { GRH_BYTES, WcFlag, WrOpcode } from '../abi/verbs-work.ts';
import type { CmEcho } from '../model/cm-exchange.ts';
import type { AddressHandle, DataPath, RegisteredMemory, WorkCompletion } from './data-path.ts';
import { datagramLimit } from './datagram-ping.ts';
import type { Echo } from './echo.ts';
import { senderGid } from './global-route.ts';
import { isReceive, Traffic } from './traffic.ts';

const SLOTS = 128;
/** Peers that one service answers. */
const MOST_PEERS = 64;
const SEND_ID = 1000;

export class DatagramEcho implements Echo {
  readonly traffic: Traffic;
  readonly #peers = new Map<string, AddressHandle>();
  #served = 0;
  #bytes = 0;

  private constructor(
    private readonly path: DataPath,
    private readonly memory: RegisteredMemory,
    /** Bytes of a buffer. */
    private readonly room: number,
    private readonly port: number,
    private readonly qkey: number,
    /** After so long without a datagram the service ends, milliseconds. */
    private readonly idleMs: number,
    signal: AbortSignal | null,
  ) {
    this.traffic = new Traffic(path, signal);
  }

  static readonly DEPTH = { sends: SLOTS, receives: SLOTS };

  /** Posts the receives; the path comes from createDataPath with DEPTH. Throws NativeCallError. */
  static async prepare(
    path: DataPath,
    place: { readonly port: number; readonly qkey: number },
    idleMs: number,
    signal: AbortSignal | null,
  ): Promise<DatagramEcho> {
    const room = GRH_BYTES + (await datagramLimit(path, place.port));
    const memory = await path.registerMemory(SLOTS * room, ['LOCAL_WRITE']);
    const echo = new DatagramEcho(path, memory, room, place.port, place.qkey, idleMs, signal);
    for (let slot = 0; slot < SLOTS; slot++) echo.#postReceive(slot);
    return echo;
  }

  result(): CmEcho {
    return {
      protocol: 'datagrams',
      served: this.#served,
      bytes: this.#bytes,
      completion: this.traffic.failed,
    };
  }

  async run(): Promise<void> {
    for (;;) {
      const completion = await this.traffic.next(this.idleMs, 'waiting for datagrams');
      if (completion === null) return;
      if (isReceive(completion)) await this.#answer(completion);
      // The buffer has been sent from; it can receive again.
      else this.#postReceive(Number(completion.wr_id) - SEND_ID);
    }
  }

  async #answer(completion: WorkCompletion): Promise<void> {
    const slot = Number(completion.wr_id);
    const length = completion.byte_len - GRH_BYTES;
    if (length <= 0) {
      this.#postReceive(slot);
      return;
    }
    const withData = WcFlag.has(completion.wc_flags, 'WITH_IMM');
    const handle = await this.#peer(completion, slot);
    if (handle === null) {
      this.#postReceive(slot);
      return;
    }
    this.path.postSend({
      id: SEND_ID + slot,
      opcode: WrOpcode.valueOf(withData ? 'SEND_WITH_IMM' : 'SEND'),
      part: { memory: this.memory, offset: slot * this.room + GRH_BYTES, length },
      immediate: completion.imm_data,
      datagram: { handle, queuePair: completion.src_qp, qkey: this.qkey },
    });
    this.#served++;
    this.#bytes += length;
  }

  /** The address of a peer; null for one too many. */
  async #peer(completion: WorkCompletion, slot: number): Promise<AddressHandle | null> {
    const header = this.memory.bytes.slice(slot * this.room, slot * this.room + GRH_BYTES);
    const source = `${completion.slid} ${completion.sl} ${senderGid(completion, header)}`;
    const known = this.#peers.get(source);
    if (known !== undefined) return known;
    if (this.#peers.size >= MOST_PEERS) return null;
    const handle = await this.path.answerHandle(completion, header, this.port);
    this.#peers.set(source, handle);
    return handle;
  }

  #postReceive(slot: number): void {
    this.path.postReceive(slot, { memory: this.memory, offset: slot * this.room, length: this.room });
  }
}
