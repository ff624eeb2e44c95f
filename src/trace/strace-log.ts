/** The calls of a strace log in the order in which they began, those that strace has split joined again. */
import { StraceTextError } from '../decode/strace-string.ts';
import { type LinePrefix, parseCall, parseStraceLine, type StraceCall } from './strace-line.ts';

/** A call of a log. */
export interface LoggedCall extends LinePrefix, StraceCall {
  /** Counted from 1. */
  readonly line: number;
  /** The process ended before the call did. */
  readonly unfinished: boolean;
}

/** A line that is damaged. */
export interface DamagedLine {
  readonly line: number;
  readonly text: string;
  readonly reason: string;
}

interface Pending {
  readonly line: number;
  readonly prefix: LinePrefix;
  readonly text: string;
}

/** Of damaged lines so many are kept. */
const MOST_DAMAGED = 20;

/** Reads a log line by line. */
export class StraceLog {
  /** The first of them: a stream of junk may never end. */
  readonly damaged: DamagedLine[] = [];
  #damagedLines = 0;
  #line = 0;
  readonly #pending = new Map<number | null, Pending>();

  /** The call that this line completes, or null. */
  take(text: string): LoggedCall | null {
    this.#line += 1;
    try {
      return this.#understand(text);
    } catch (error) {
      if (!(error instanceof StraceTextError)) throw error;
      this.damage({ line: this.#line, text, reason: error.message });
      return null;
    }
  }

  /** How many lines are damaged, those that are not kept with them. */
  get damagedLines(): number {
    return this.#damagedLines;
  }

  damage(line: DamagedLine): void {
    this.#damagedLines += 1;
    if (this.damaged.length < MOST_DAMAGED) this.damaged.push(line);
  }

  /** The calls that never came back, at the log's end. */
  rest(): LoggedCall[] {
    const left = [...this.#pending.values()].flatMap((pending) => this.#abandoned(pending));
    this.#pending.clear();
    return left.sort((a, b) => a.line - b.line);
  }

  #understand(text: string): LoggedCall | null {
    const parsed = parseStraceLine(text);
    switch (parsed.kind) {
      case 'message':
        return null;
      case 'unfinished':
        this.#pending.set(parsed.pid, { line: this.#line, prefix: parsed, text: parsed.text });
        return null;
      case 'resumed': {
        const pending = this.#pending.get(parsed.pid);
        this.#pending.delete(parsed.pid);
        // strace was attached in the middle of the call.
        if (pending === undefined) return null;
        if (!pending.text.startsWith(`${parsed.call}(`)) {
          throw new StraceTextError(`${parsed.call} is resumed, which was not begun`);
        }
        const call = parseCall(pending.text + parsed.text);
        return { ...prefixOf(pending.prefix), ...call, line: pending.line, unfinished: false };
      }
      case 'call': {
        const { kind: _, ...call } = parsed;
        return { ...call, line: this.#line, unfinished: false };
      }
    }
  }

  #abandoned({ line, prefix, text }: Pending): LoggedCall[] {
    try {
      return [{ ...prefixOf(prefix), ...parseCall(`${text}) = ?`), line, unfinished: true }];
    } catch (error) {
      if (!(error instanceof StraceTextError)) throw error;
      this.damage({ line, text, reason: error.message });
      return [];
    }
  }
}

const prefixOf = ({ pid, program, moment }: LinePrefix): LinePrefix => ({ pid, program, moment });
