import { readFile } from './read-file.ts';
import { type OptionSpec, UsageError } from './spec.ts';

/** More than any message carries: what is longer is not read. */
const LONGEST = 4096;

/** `--private-data TEXT|0xHEX|@FILE`. */
export const PRIVATE_DATA: OptionSpec<Uint8Array | null> = {
  flags: '--private-data <data>',
  description: 'data that goes along: a text, 0xHEX, or @FILE',
  initial: null,
  parse: parsePrivateData,
};

/** Throws UsageError for hexadecimal digits that are none, and for a file that cannot be read. */
export function parsePrivateData(text: string): Uint8Array {
  if (text.startsWith('@')) {
    try {
      return readFile(text.slice(1), 'the file', LONGEST);
    } catch (error) {
      throw new UsageError(`--private-data: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (!/^0x/i.test(text)) return Buffer.from(text, 'utf8');
  const digits = text.slice(2);
  if (digits.length % 2 !== 0 || /[^0-9a-f]/i.test(digits)) {
    throw new UsageError(`--private-data: '${text}' is not pairs of hexadecimal digits`);
  }
  return Buffer.from(digits, 'hex');
}
