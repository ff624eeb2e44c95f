import { DataTextError, dataOf } from '../cm/data-text.ts';
import { type OptionSpec, UsageError } from './spec.ts';

/** `--private-data TEXT|0xHEX|@FILE`. */
export const PRIVATE_DATA: OptionSpec<Uint8Array | null> = {
  flags: '--private-data <data>',
  description: 'data that goes along: a text, 0xHEX, or @FILE',
  initial: null,
  parse: parsePrivateData,
};

/** Throws UsageError for hexadecimal digits that are none, and for a file that cannot be read. */
export function parsePrivateData(text: string): Uint8Array {
  try {
    return dataOf(text);
  } catch (error) {
    if (error instanceof DataTextError) throw new UsageError(`--private-data: ${error.message}`);
    throw error;
  }
}
