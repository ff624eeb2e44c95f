/** What the guest's console shows, of which only the end matters. */
export class ConsoleTail {
  readonly #kept: string[] = [];
  #last = '';
  readonly #limit: number;

  constructor(limit = 40) {
    this.#limit = limit;
  }

  push(text: string): void {
    const lines = (this.#last + text).split(/\r*\n/);
    this.#last = lines.pop() ?? '';
    this.#kept.push(...lines.map(plain).filter((line) => line.trim() !== ''));
    this.#kept.splice(0, Math.max(0, this.#kept.length - this.#limit));
  }

  /** The last lines, without escape sequences. */
  get lines(): string[] {
    const last = plain(this.#last);
    return last.trim() === '' ? [...this.#kept] : [...this.#kept, last];
  }
}

const plain = (line: string): string =>
  line.replace(/\x1b\[[0-9;?]*[A-Za-z]|\x1b[()c78=>]/g, '').replace(/[^\t\x20-\x7e\u00a0-\uffff]/g, '');
