/** Strings as strace(1) prints them. */

/** A text that strace does not write. */
export class StraceTextError extends Error {
  override readonly name = 'StraceTextError';
}

const ESCAPES: Readonly<Record<string, number>> = {
  n: 10,
  t: 9,
  r: 13,
  v: 11,
  f: 12,
  a: 7,
  b: 8,
  '"': 34,
  '\\': 92,
};

/**
 * The bytes of a text as strace escapes it: \x01, \1, \n and what is printable.
 * @throws StraceTextError for an escape that strace does not write
 */
export function unescapeBytes(text: string): Uint8Array {
  const out: number[] = [];
  for (let at = 0; at < text.length; ) {
    if (text[at] !== '\\') {
      const code = text.codePointAt(at) ?? 0;
      out.push(...Buffer.from(String.fromCodePoint(code), 'utf8'));
      at += code > 0xffff ? 2 : 1;
      continue;
    }
    const [whole, hex, octal, letter] =
      /^\\(?:x([0-9a-f]{2})|([0-3]?[0-7]{1,2})|([ntrvfab"\\]))/i.exec(text.slice(at, at + 5)) ?? [];
    if (whole === undefined) throw new StraceTextError(`${text.slice(at, at + 4)} is no escape of strace`);
    out.push(
      hex !== undefined
        ? Number.parseInt(hex, 16)
        : octal !== undefined
          ? Number.parseInt(octal, 8)
          : (ESCAPES[letter ?? ''] ?? 0),
    );
    at += whole.length;
  }
  return Uint8Array.from(out);
}

/** A string argument; null for what is none. `cut` where strace has left out its end (-s). */
export function stringArgument(arg: string): { readonly bytes: Uint8Array; readonly cut: boolean } | null {
  const [, body, dots] = /^"((?:[^"\\]|\\.)*)"(\.\.\.)?$/s.exec(arg) ?? [];
  return body === undefined ? null : { bytes: unescapeBytes(body), cut: dots !== undefined };
}
