/** Bytes as people write them: a text, 0xHEX, or @FILE. */
import { closeSync, openSync, readSync } from 'node:fs';

/** A text that stands for no bytes. */
export class DataTextError extends Error {
  override readonly name = 'DataTextError';
}

/** More than any message carries. */
const MOST = 4096;

/** Throws DataTextError for hexadecimal digits that are none, and for a file that cannot be read. */
export function dataOf(text: string): Uint8Array {
  if (text.startsWith('@')) {
    try {
      return contentsOf(text.slice(1));
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

/** A file may be a pipe, or have no end. */
function contentsOf(path: string): Uint8Array {
  const bytes = Buffer.alloc(MOST + 1);
  const file = openSync(path, 'r');
  try {
    let length = 0;
    for (let read = -1; read !== 0 && length <= MOST; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    if (length > MOST) throw new Error(`${path} has more than ${MOST} bytes, and no message carries so many`);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}
