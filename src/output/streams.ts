import { fstatSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { harmless, harmlessLines } from './harmless.ts';

/** stdout cannot be written, for another reason than that its reader has gone. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
  constructor(
    /** A positive errno. */
    readonly errno: number,
    cause: Error,
  ) {
    super(`stdout cannot be written: ${cause.message}`, { cause });
  }
}

/** Where a command writes: data on stdout, messages on stderr. */
export interface Streams {
  /**
   * Resolves when the text has been handed to the operating system, or the reader has gone.
   * @throws OutputError
   */
  data(text: string): Promise<void>;
  /** Data in place of the frame before, on a terminal; elsewhere after it. */
  frame(text: string): Promise<void>;
  message(text: string): void;
  /** Shows one line on the terminal of stderr until something else is written, or null takes it away. */
  progress(line: string | null): void;
  /** Aborts when the reader of the data has gone: nothing that is written is read any more. */
  readonly readerGone: AbortSignal;
  /** Looks from now on whether the reader is there, although nothing is written; data that is written does so too. */
  watchReader(): void;
  /** Whether any data has been written. */
  readonly hasData: boolean;
  /** Columns of the terminal that shows the data; null where it is not a terminal. */
  readonly width: number | null;
  readonly isTerminal: boolean;
}

const CLEAR = '\u001b[2J';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/**
 * A text written over the one before, from the upper left corner, without a moment of nothing. Lines that the terminal
 * has no room for are counted, not shown.
 * @param size of the terminal; null where it does not know
 */
export function frameText(
  text: string,
  size: { readonly rows: number | null; readonly columns: number | null },
): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const taken = lines.map((line) => rowsOf(line, size.columns));
  // The last line of the terminal is the cursor's.
  let room = size.rows === null ? Number.POSITIVE_INFINITY : Math.max(2, size.rows - 1);
  if (taken.reduce((sum, rows) => sum + rows, 0) > room) room--;
  let shown = 0;
  while (shown < lines.length && (taken[shown] ?? 0) <= room) room -= taken[shown++] ?? 0;
  const hidden = lines.length - shown;
  const note = hidden === 0 ? [] : [`… ${hidden} more lines`];
  const drawn = [...lines.slice(0, shown), ...note].map((line) => `${line}${CLEAR_LINE}\n`);
  return `${HOME}${drawn.join('')}${CLEAR_BELOW}`;
}

/** Rows of the terminal that a line takes. Colours take none. */
function rowsOf(line: string, columns: number | null): number {
  const length = line.replace(/\u001b\[\d+m/g, '').length;
  return columns === null ? 1 : Math.max(1, Math.ceil(length / columns));
}

const STDOUT = 1;
/** How often it is looked whether the reader is there: what is shorter than that needs no look. */
const LOOK_MS = 250;

/** Whether nobody can read any more what is written to a descriptor. */
export type UnreadCheck = (fd: number) => boolean;

/** Of pipes and sockets alone it is known whether there is a reader. */
function canBeUnread(): boolean {
  try {
    const status = fstatSync(STDOUT);
    return status.isFIFO() || status.isSocket();
  } catch {
    return false;
  }
}

/** Looks again and again, without keeping the process alive. */
async function watchFor(gone: () => void, load: () => Promise<UnreadCheck | null>): Promise<void> {
  await sleep(LOOK_MS, undefined, { ref: false });
  const isUnread = await load();
  if (isUnread === null) return;
  const timer = setInterval(() => {
    if (!isUnread(STDOUT)) return;
    clearInterval(timer);
    gone();
  }, LOOK_MS).unref();
}

/**
 * The process's own streams. A reader that goes away (`| head -1`) is not an error.
 * @param loadUnreadCheck without one, or where it gives null, only the next write tells that the reader has gone
 */
export function processStreams(
  loadUnreadCheck: () => Promise<UnreadCheck | null> = async () => null,
): Streams {
  const readerGone = new AbortController();
  let closed = false;
  let hasData = false;
  let hasProgress = false;
  const canProgress = process.stderr.isTTY === true && process.env['TERM'] !== 'dumb';
  const clearProgress = (): void => {
    if (hasProgress) process.stderr.write('\r\u001b[K');
    hasProgress = false;
  };
  // Node reports a failed write here too. The one who wrote hears of it.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {
    // Nobody reads the messages; there is nowhere to say so.
  });
  const lostReader = (): void => {
    closed = true;
    readerGone.abort();
  };
  let isWatched = false;
  const watchReader = (): void => {
    if (isWatched || !canBeUnread()) return;
    isWatched = true;
    void watchFor(lostReader, loadUnreadCheck);
  };
  let hasFrame = false;
  const data = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      if (closed) {
        resolve();
        return;
      }
      hasData = true;
      clearProgress();
      watchReader();
      process.stdout.write(text, (error) => {
        if (!error) {
          resolve();
          return;
        }
        lostReader();
        const { code, errno = 0 }: NodeJS.ErrnoException = error;
        if (code === 'EPIPE') resolve();
        else reject(new OutputError(Math.abs(errno), error));
      });
    });
  return {
    data,
    async frame(text) {
      if (process.stdout.isTTY !== true || process.env['TERM'] === 'dumb') {
        await data(hasFrame ? `\n${text}` : text);
      } else {
        const { rows, columns } = process.stdout;
        const frame = frameText(text, { rows: rows || null, columns: columns || null });
        await data(`${hasFrame ? '' : CLEAR}${frame}`);
      }
      hasFrame = true;
    },
    message: (text) => {
      clearProgress();
      process.stderr.write(harmlessLines(text.endsWith('\n') ? text : `${text}\n`));
    },
    progress(line) {
      if (!canProgress) return;
      clearProgress();
      if (line === null) return;
      // What does not fit would move the cursor to a line that is not taken away.
      process.stderr.write(harmless(line).slice(0, (process.stderr.columns || 80) - 1));
      hasProgress = true;
    },
    readerGone: readerGone.signal,
    watchReader,
    get hasData() {
      return hasData;
    },
    // A terminal that does not know its size says 0.
    width: process.stdout.isTTY ? process.stdout.columns || null : null,
    isTerminal: process.stdout.isTTY === true,
  };
}
