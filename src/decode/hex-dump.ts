/**
 * Bytes out of a text in any of the usual spellings: plain hexadecimal, C arrays, xxd, hexdump, od, strace.
 *
 * Words of more than a byte in a dump of hexdump and od are little-endian, as those programs print them on the
 * machines that RDMA runs on; xxd's groups are bytes in order.
 */
import { StraceTextError, stringArgument, unescapeBytes } from './strace-string.ts';

/** A text that is no spelling of bytes. */
export class HexDumpError extends Error {
  override readonly name = 'HexDumpError';
}

export interface DumpedBytes {
  readonly bytes: Uint8Array;
  /** The spelling says that bytes are left out at the end: strace's `...`. */
  readonly cut: boolean;
}

const SHOWN = 40;
const shown = (text: string): string =>
  JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

/** Whether these are the bytes themselves, not a text that spells them. */
export function isBinary(input: Uint8Array): boolean {
  return input.some((byte) => byte > 0x7e || (byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 13));
}

/** @throws HexDumpError naming the line of what cannot be read */
export function readHexDump(text: string): DumpedBytes {
  const trimmed = text.trim();
  const strings = trimmed.includes('"') || /^\\[x0-7]/.test(trimmed) ? fromStrace(trimmed) : null;
  if (strings !== null) return strings;
  const lines = text.split(/\r?\n/).map((line) => line.trimEnd());
  const dump = dumpIn(lines);
  return { bytes: dump === null ? plain(lines) : bytesOf(dump), cut: false };
}

/** Strings as strace or C write them: one, or several that stand side by side. null where a dump shows a quote. */
function fromStrace(text: string): DumpedBytes | null {
  try {
    if (!text.includes('"')) return { bytes: unescapeBytes(text.replaceAll(/\s+/g, '')), cut: false };
    const [first] = /"(?:[^"\\]|\\.)*"(?:\.\.\.)?(?:\s*"(?:[^"\\]|\\.)*"(?:\.\.\.)?)*/s.exec(text) ?? [];
    if (first === undefined) return null;
    // A whole line of strace, or a string alone: what comes before is the call.
    const before = text.slice(0, text.indexOf(first));
    if (!/(^|[(,=\s])$/.test(before)) return null;
    const parts = first.match(/"(?:[^"\\]|\\.)*"(?:\.\.\.)?/gs) ?? [];
    const strings = parts.map(stringArgument).filter((part) => part !== null);
    return {
      bytes: Buffer.concat(strings.map(({ bytes }) => bytes)),
      cut: strings.at(-1)?.cut ?? false,
    };
  } catch (error) {
    if (!(error instanceof StraceTextError)) throw error;
    throw new HexDumpError(error.message);
  }
}

/** Digits with nothing but separators between them, with or without 0x, in braces or not. */
function plain(lines: readonly string[]): Uint8Array {
  const braces = /\{([^}]*)\}/s.exec(lines.join('\n'));
  const firstLine = braces === null ? 0 : lines.join('\n').slice(0, braces.index).split('\n').length - 1;
  const body = braces?.[1]?.split('\n') ?? lines;
  const bytes: number[] = [];
  for (const [index, line] of body.entries()) {
    for (const token of line.split(/[\s,:;]+/).filter((each) => each !== '')) {
      const [, prefix, digits] = /^(0x)?([0-9a-f]+)$/i.exec(token) ?? [];
      const padded = prefix !== undefined && digits?.length === 1 ? `0${digits}` : (digits ?? '');
      if (token === '*') {
        throw new HexDumpError(
          `line ${firstLine + index + 1}: without addresses nobody knows how much * stands for`,
        );
      }
      if (padded === '' || padded.length % 2 !== 0) {
        throw new HexDumpError(
          `line ${firstLine + index + 1}: ${shown(token)} is not bytes in hexadecimal (pairs of digits)`,
        );
      }
      for (let at = 0; at < padded.length; at += 2) bytes.push(Number.parseInt(padded.slice(at, at + 2), 16));
    }
  }
  return Uint8Array.from(bytes);
}

interface DumpLine {
  readonly line: number;
  readonly address: string;
  readonly words: readonly string[];
  /** `*`: the lines up to this one are like the one before. */
  readonly repeats: boolean;
}

interface Dump {
  readonly lines: readonly DumpLine[];
  readonly radix: number;
  readonly word: WordForm;
}

interface WordForm {
  readonly pattern: RegExp;
  readonly base: number;
  readonly size: number;
  /** Bytes stand in order, the first first. */
  readonly inOrder: boolean;
}

const word = (pattern: RegExp, base: number, size: number, inOrder = false): WordForm => ({
  pattern,
  base,
  size,
  inOrder,
});

/** Of hexdump and od, by the digits of a word. */
const WORDS: readonly WordForm[] = [
  word(/^[0-9a-f]{2}$/i, 16, 1),
  word(/^[0-7]{3}$/, 8, 1),
  word(/^[0-9a-f]{4}$/i, 16, 2),
  word(/^[01][0-7]{5}$/, 8, 2),
  word(/^[0-9a-f]{8}$/i, 16, 4),
  word(/^[0-3][0-7]{10}$/, 8, 4),
  word(/^[0-9a-f]{16}$/i, 16, 8),
  word(/^[01][0-7]{21}$/, 8, 8),
];
/** Of xxd, which gives the address in hexadecimal and a colon. */
const XXD_WORDS: readonly WordForm[] = [word(/^[01]{8}$/, 2, 1), word(/^([0-9a-f]{2})+$/i, 16, 0, true)];

/** The lines of a dump, or null where this is none. */
function dumpIn(lines: readonly string[]): Dump | null {
  const isXxd = lines.find((line) => line.trim() !== '')?.match(/^\s*[0-9a-f]+:(\s|$)/i) != null;
  const parsed: DumpLine[] = [];
  let repeats = false;
  let hasText = false;
  for (const [index, text] of lines.entries()) {
    if (text.trim() === '') continue;
    if (text.trim() === '*') {
      repeats = true;
      continue;
    }
    const [, address, colon, rest = ''] = /^\s*([0-9a-f]{4,16})(:?)(?:\s+(.*))?$/i.exec(text) ?? [];
    if (address === undefined || (colon === ':') !== isXxd) {
      if (parsed.length > 0 && (isXxd || hasText)) throw notADump(index, text);
      return null;
    }
    const withText = /\s+([|>]).*[|<]$/.exec(rest);
    if (withText) hasText = true;
    const body = isXxd ? (rest.split('  ')[0] ?? '') : withText ? rest.slice(0, withText.index) : rest;
    parsed.push({
      line: index + 1,
      address,
      words: body.split(/\s+/).filter((each) => each !== ''),
      repeats,
    });
    repeats = false;
  }
  if (isXxd) return formOf(parsed, XXD_WORDS, [16]) ?? refuse(lines, parsed);
  const isAddressOnly = parsed.at(-1)?.words.length === 0;
  // One line alone may as well be plain digits; an odd count of them cannot.
  const isOne = parsed.length < 2 && !hasText && (parsed[0]?.address.length ?? 0) % 2 === 0;
  if (parsed.length === 0 || isOne) return null;
  const form = formOf(parsed, WORDS, hasText ? [16, 8, 10] : [8, 16, 10]);
  return form === null && (hasText || isAddressOnly) ? refuse(lines, parsed) : form;
}

/** Names the first line from which on no reading fits. */
function refuse(lines: readonly string[], parsed: readonly DumpLine[]): never {
  const fits = (count: number): boolean =>
    formOf(parsed.slice(0, count), [...WORDS, ...XXD_WORDS], [16, 8, 10]) !== null;
  const wrong = parsed.find((_, index) => !fits(index + 1)) ?? parsed[0];
  const index = (wrong?.line ?? 1) - 1;
  throw notADump(index, lines[index] ?? '');
}

const notADump = (index: number, text: string): HexDumpError =>
  new HexDumpError(`line ${index + 1}: ${shown(text)} does not fit the dump that it is in`);

const bytesIn = (line: DumpLine, form: WordForm): number =>
  form.size === 0 ? line.words.join('').length / 2 : line.words.length * form.size;

/** The reading of words and addresses in which every line begins where the one before it ends. */
function formOf(
  lines: readonly DumpLine[],
  words: readonly WordForm[],
  radices: readonly number[],
): Dump | null {
  const fits = (form: WordForm): boolean =>
    lines.every((line) => line.words.every((each) => form.pattern.test(each)));
  const readings = words
    .filter(fits)
    .flatMap((form) => radices.map((radix): Dump => ({ lines, radix, word: form })));
  return (
    readings.find((dump) => isContiguous(dump, false)) ??
    readings.find((dump) => isContiguous(dump, true)) ??
    null
  );
}

/** @param isFilled the last word of an odd number of bytes is filled up; the address behind it tells how many */
function isContiguous({ lines, radix, word: form }: Dump, isFilled: boolean): boolean {
  const digits = radix === 16 ? /^[0-9a-f]+$/i : radix === 10 ? /^\d+$/ : /^[0-7]+$/;
  if (!lines.every(({ address }) => digits.test(address))) return false;
  return lines.slice(1).every((line, index) => {
    const before = lines[index];
    if (before === undefined) return false;
    const step = Number.parseInt(line.address, radix) - Number.parseInt(before.address, radix);
    const size = bytesIn(before, form);
    if (line.repeats) return size > 0 && step > size && step % size === 0;
    return step === size || (isFilled && line.words.length === 0 && step > size - form.size && step < size);
  });
}

function bytesOf({ lines, radix, word: form }: Dump): Uint8Array {
  const start = Number.parseInt(lines[0]?.address ?? '0', radix);
  const out: number[] = [];
  let before: readonly number[] = [];
  for (const line of lines) {
    const at = Number.parseInt(line.address, radix) - start;
    while (line.repeats && out.length < at) out.push(...before);
    if (line.words.length === 0) {
      // The end alone: a word at the end may have been filled up.
      out.length = Math.min(out.length, at);
      continue;
    }
    before = line.words.flatMap((each) => wordBytes(each, form));
    out.push(...before);
  }
  return Uint8Array.from(out);
}

function wordBytes(text: string, { base, size, inOrder }: WordForm): number[] {
  if (inOrder) return (text.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  const prefix = base === 16 ? '0x' : base === 8 ? '0o' : '0b';
  const value = BigInt(prefix + text);
  return Array.from({ length: size }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn));
}
