import type { Streams } from './streams.ts';

/** Work that is done sooner than this shows nothing. */
const QUIET_MS = 1000;

/** Says on a terminal what is waited for, once that takes a while. */
export class Progress {
  #line = '';
  #isShown = false;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly streams: Pick<Streams, 'progress'>) {
    this.#timer = setTimeout(() => {
      this.#isShown = true;
      this.streams.progress(this.#line);
    }, QUIET_MS);
    this.#timer.unref();
  }

  update(line: string): void {
    this.#line = line;
    if (this.#isShown) this.streams.progress(line);
  }

  end(): void {
    clearTimeout(this.#timer);
    if (this.#isShown) this.streams.progress(null);
    this.#isShown = false;
  }
}
