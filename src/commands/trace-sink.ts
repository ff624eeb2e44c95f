/** Where a trace goes: stdout, or a file. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { Failure } from '../explain/failure.ts';
import { type Block, renderBlocks } from '../output/blocks.ts';
import { harmless } from '../output/harmless.ts';
import { jsonLine } from '../output/json.ts';
import { createStyle, wantsColor } from '../output/style.ts';
import type { Context } from './spec.ts';

export interface Sink {
  /** An object as a line of JSON, or lines for people. */
  line(object: object, lines: readonly string[]): Promise<void>;
  /** The last object, or blocks for people. */
  end(object: object, blocks: readonly Block[]): Promise<void>;
}

/** @throws Failure where the file cannot be written */
export function openSink(context: Context, file: string | null): Sink {
  const { write, close, color, width } = file === null ? toStdout(context) : toFile(file);
  return {
    line: (object, lines) =>
      write(context.json ? jsonLine(object) : lines.map((line) => `${harmless(line)}\n`).join('')),
    async end(object, blocks) {
      await write(
        context.json ? jsonLine(object) : renderBlocks(blocks, { style: createStyle(color), width }),
      );
      close();
    },
  };
}

interface Target {
  readonly write: (text: string) => Promise<void>;
  readonly close: () => void;
  readonly color: boolean;
  readonly width: number | null;
}

const toStdout = ({ streams, color }: Context): Target => ({
  write: (text) => streams.data(text),
  close: () => {},
  color: wantsColor(color, streams.isTerminal),
  width: streams.width,
});

function toFile(file: string): Target {
  const unwritable = (error: unknown): Failure =>
    new Failure(
      'OUTPUT_FAILED',
      `the trace cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      'give -o a file that can be written',
      { cause: error },
    );
  const open = (): number => {
    try {
      return openSync(file, 'w');
    } catch (error) {
      throw unwritable(error);
    }
  };
  const fd = open();
  return {
    async write(text) {
      try {
        writeSync(fd, text);
      } catch (error) {
        throw unwritable(error);
      }
    },
    close: () => closeSync(fd),
    color: false,
    width: null,
  };
}
