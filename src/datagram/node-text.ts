/**
 * Names that nodes give themselves: UTF-8 by agreement, any bytes in fact. Bytes that are no UTF-8, and what stands
 * behind a NUL, are written as `\xHH` and a backslash as `\\`, so that the text tells every byte and can be typed.
 */
import type { Codec } from '../layout/codec.ts';
import { LayoutError, shown } from '../layout/error.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Bytes of a character that begins with this one; 0 where none does. */
function lengthFrom(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

const escapedByte = (byte: number): string => `\\x${byte.toString(16).padStart(2, '0')}`;

/** The character at `from`, and its bytes; null where there is none. */
function characterAt(bytes: Uint8Array, from: number): { text: string; length: number } | null {
  const length = lengthFrom(bytes[from] ?? 0);
  if (length === 0 || from + length > bytes.length) return null;
  if (length === 1) return { text: String.fromCharCode(bytes[from] ?? 0), length };
  try {
    return { text: decoder.decode(bytes.subarray(from, from + length)), length };
  } catch {
    return null;
  }
}

/** All bytes but the zeros at the end. */
export function textOf(bytes: Uint8Array): string {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  const used = bytes.subarray(0, end);
  let text = '';
  for (let at = 0; at < used.length; ) {
    const character = used[at] === 0 ? null : characterAt(used, at);
    if (character === null) text += escapedByte(used[at] ?? 0);
    else text += character.text === '\\' ? '\\\\' : character.text;
    at += character?.length ?? 1;
  }
  return text;
}

/** The bytes of a text; null where a backslash begins nothing, or half a surrogate pair has none. */
export function bytesOfText(text: string): Uint8Array | null {
  if (/[\ud800-\udfff]/u.test(text)) return null;
  const parts: string[] = text.match(/\\\\|\\x[0-9a-f]{2}|[^\\]+|\\/gi) ?? [];
  if (parts.includes('\\')) return null;
  const bytes = parts.map((part) => {
    if (part === '\\\\') return Buffer.from('\\');
    return part.startsWith('\\') ? Buffer.from(part.slice(2), 'hex') : Buffer.from(part);
  });
  return Uint8Array.from(Buffer.concat(bytes));
}

/** `length` bytes of such a name. */
export function nodeText(length: number): Codec<string, string> {
  return {
    type: `char[${length}]`,
    size: length,
    align: 1,
    read: (view, offset) => textOf(new Uint8Array(view.buffer, view.byteOffset + offset, length)),
    write(view, offset, value, path) {
      if (typeof value !== 'string') throw new LayoutError(`${path}: ${shown(value)} is not a text`);
      const bytes = bytesOfText(value);
      if (bytes === null) throw new LayoutError(`${path}: a backslash is written \\\\, a byte \\xHH`);
      if (bytes.length > length) {
        throw new LayoutError(`${path}: a text of ${bytes.length} bytes does not fit ${length}`);
      }
      const all = new Uint8Array(view.buffer, view.byteOffset + offset, length);
      all.fill(0);
      all.set(bytes);
    },
    zero: () => '',
    toJson: (value) => value,
    schema: () => ({ type: 'string' }),
  };
}
