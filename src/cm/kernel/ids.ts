/** Ids and memberships of all channels of one backend, by the numbers that come with events. */
import type { BackendChannel } from '../backend.ts';
import type { Home, KernelId, Membership, Registry } from './id.ts';

export class KernelIds implements Registry {
  readonly #byUid = new Map<bigint, KernelId | Membership>();
  readonly #channels = new Map<BackendChannel, Home>();
  #last = 0n;

  /** A number that no id has had. Never 0: the kernel keeps events of such an id to itself. */
  next(): bigint {
    return ++this.#last;
  }

  add(id: KernelId): void {
    this.#byUid.set(id.uid, id);
  }

  forget(id: KernelId): void {
    this.#byUid.delete(id.uid);
  }

  enter(membership: Membership): bigint {
    const uid = this.next();
    this.#byUid.set(uid, membership);
    return uid;
  }

  leave(membership: Membership): void {
    for (const [uid, known] of this.#byUid) if (known === membership) this.#byUid.delete(uid);
  }

  /**
   * Whom an event is for; null for one that is gone.
   * @param handle the kernel's number: some old kernels tell a uid of 0
   */
  find(uid: bigint, handle: number): KernelId | Membership | null {
    if (uid !== 0n) return this.#byUid.get(uid) ?? null;
    return this.all().find((id) => id.handle === handle) ?? null;
  }

  all(): KernelId[] {
    return [...this.#byUid.values()].filter((known) => 'uid' in known);
  }

  open(channel: BackendChannel & Home): void {
    this.#channels.set(channel, channel);
  }

  /** Resolves with whether it was the last. */
  closed(channel: BackendChannel): boolean {
    this.#channels.delete(channel);
    return this.#channels.size === 0;
  }

  channelOf(channel: BackendChannel): Home | null {
    return this.#channels.get(channel) ?? null;
  }
}
