/**
 * What has been sent and not answered, by the low half of its transaction id. A Map would do; at a hundred thousand
 * requests a second its tables are made anew all the time, and the garbage collector follows the chain of the old ones.
 */
export class InFlight<T> {
  readonly #mask: number;
  readonly #tids: Int32Array;
  readonly #entries: (T | undefined)[];
  /** Whose place is taken. */
  readonly #others = new Map<number, T>();
  #size = 0;

  /** @param usual so many at a time have places; more are taken too */
  constructor(usual: number) {
    const places = 2 ** Math.ceil(Math.log2(2 * Math.max(1, usual)));
    this.#mask = places - 1;
    this.#tids = new Int32Array(places);
    this.#entries = new Array<T | undefined>(places).fill(undefined);
  }

  get size(): number {
    return this.#size;
  }

  get(tid: number): T | undefined {
    const place = tid & this.#mask;
    if (this.#tids[place] === (tid | 0)) {
      const entry = this.#entries[place];
      if (entry !== undefined) return entry;
    }
    return this.#others.size === 0 ? undefined : this.#others.get(tid);
  }

  has(tid: number): boolean {
    return this.get(tid) !== undefined;
  }

  /** For a number that is not in flight. */
  set(tid: number, entry: T): void {
    const place = tid & this.#mask;
    this.#size++;
    if (this.#entries[place] !== undefined) {
      this.#others.set(tid, entry);
      return;
    }
    this.#tids[place] = tid;
    this.#entries[place] = entry;
  }

  delete(tid: number): void {
    const place = tid & this.#mask;
    if (this.#entries[place] !== undefined && this.#tids[place] === (tid | 0)) {
      this.#entries[place] = undefined;
      this.#size--;
    } else if (this.#others.delete(tid)) this.#size--;
  }

  clear(): void {
    this.#entries.fill(undefined);
    this.#others.clear();
    this.#size = 0;
  }

  /** A list of its own: those in it may be taken out meanwhile. */
  entries(): [tid: number, entry: T][] {
    const found: [number, T][] = [];
    for (const [place, entry] of this.#entries.entries()) {
      if (entry !== undefined) found.push([(this.#tids[place] ?? 0) >>> 0, entry]);
    }
    return [...found, ...this.#others];
  }
}
