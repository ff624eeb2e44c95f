/** Where a command writes: data on stdout, messages on stderr. */
export interface Streams {
  /** Resolves when the text has been handed to the operating system, or the reader has gone. */
  data(text: string): Promise<void>;
  message(text: string): void;
  /** Columns of the terminal that shows the data; null where it is not a terminal. */
  readonly width: number | null;
  readonly isTerminal: boolean;
}

/** The process's own streams. A reader that goes away (`| head -1`) is not an error. */
export function processStreams(): Streams {
  let closed = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    closed = true;
  });
  process.stderr.on('error', () => {
    // Nobody reads the messages; there is nowhere to say so.
  });
  return {
    data: (text) =>
      new Promise((resolve) => {
        if (closed) resolve();
        // Node calls back with the error as well, which the listener above has judged.
        else process.stdout.write(text, () => resolve());
      }),
    message: (text) => {
      process.stderr.write(text.endsWith('\n') ? text : `${text}\n`);
    },
    width: process.stdout.isTTY ? process.stdout.columns : null,
    isTerminal: process.stdout.isTTY === true,
  };
}
