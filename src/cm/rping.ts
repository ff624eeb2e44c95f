/** The protocol of rping(1): its one message, and the text of its pings. */
import { be32, be64 } from '../layout/scalar.ts';
import { struct } from '../layout/struct.ts';

/** Where a piece of the client's memory lies. The server's answers have the same size, and no content. */
export const rpingMessage = struct(
  'rping_rdma_info',
  { address: be64, rkey: be32, size: be32 },
  { packed: true, size: 16 },
);

/** What a ping may carry, bytes: 64 KiB is the end for rping itself. */
export const SMALLEST_PING = 1;
export const LARGEST_PING = 1 << 20;

/** rping's letters: `A` to `z`. */
const FIRST = 65;
const COUNT = 58;

/** The texts of pings: `rdma-ping-N: ` and letters, each time from another one on, with a NUL at the end. */
export class PingText {
  readonly #letters: Uint8Array;

  constructor(private readonly size: number) {
    this.#letters = Uint8Array.from({ length: size + COUNT }, (_, index) => FIRST + (index % COUNT));
  }

  /**
   * Writes the text of ping number `index` into all of `into`.
   * @param terminated with the NUL, without which a server of rping copies beyond the end
   */
  write(index: number, into: Uint8Array, terminated: boolean): void {
    const head = Buffer.from(`rdma-ping-${index}: `);
    const start = index % COUNT;
    // Without room for its number, letters alone tell it from its neighbours.
    const body = head.length < this.size ? head.length : 0;
    into.set(this.#letters.subarray(start, start + this.size - body), body);
    if (body > 0) into.set(head);
    if (terminated) into[this.size - 1] = 0;
  }
}
