/** Bytes as people write them: a text, 0xHEX, or @FILE. */
import { closeSync, openSync, readSync } from 'node:fs';

/** A text that stands for no bytes. */
export class DataTextError extends Error {
  override readonly name = 'DataTextError';
}

/** More than any message carries: no more of a file is read. */
const MOST = 4096;

/** Throws DataTextError for hexadecimal digits that are none, and for a file that cannot be read. */
export function dataOf(text: string): Uint8Array {
  if (text.startsWith('@')) {
    try {
      return beginningOf(text.slice(1));
    } catch (error) {
      throw new DataTextError(error instanceof Error ? error.message : String(error));
    }
  }
  if (!/^0x/i.test(text)) return Buffer.from(text, 'utf8');
  const digits = text.slice(2);
  if (digits.length % 2 !== 0 || /[^0-9a-f]/i.test(digits)) {
    throw new DataTextError(`'${text}' is not pairs of hexadecimal digits`);
  }
  return Buffer.from(digits, 'hex');
}

function beginningOf(path: string): Uint8Array {
  const bytes = Buffer.alloc(MOST);
  const file = openSync(path, 'r');
  try {
    let length = 0;
    for (;;) {
      const read = readSync(file, bytes, length, MOST - length, null);
      length += read;
      if (read === 0 || length === MOST) return bytes.subarray(0, length);
    }
  } finally {
    closeSync(file);
  }
}
