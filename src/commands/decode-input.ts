/** The bytes that the `decode` commands are given. */
import { createReadStream } from 'node:fs';
import type { DumpedBytes } from '../decode/hex-dump.ts';
import { Failure } from '../explain/failure.ts';

export const INPUT_ARGUMENT = {
  usage: '[input...]',
  description: 'bytes in hexadecimal, or a file; - or nothing: stdin',
} as const;

/** Paragraphs of the manual pages. */
export const INPUT_DETAILS: readonly string[] = [
  'The input is text in any of the usual spellings, found out by itself: plain digits with or without blanks, colons, commas, 0x or braces; the output of xxd, hexdump, hexdump -C and od with addresses (words of more than a byte are taken as little-endian, as those programs print them); a string or a whole line of strace, with \\x, octal or no escapes. A file or stdin may also hold the bytes themselves. A word that is no hexadecimal and names a file is read as one.',
  'Each field is shown with its offset from the first byte, its size, its name, its value and what it means. Fields that the bytes do not reach are listed, and so are bytes that no field covers. No device, library or privilege is needed.',
  'Ends with 1 where bytes are missing or the bytes cannot be what they are taken for.',
];

/** Far more than a datagram, or a command, in any spelling. */
const MOST_BYTES = 16 * 1024 * 1024;

/** @throws Failure where nothing can be read, or what is read is no spelling of bytes */
export async function decodeInput(args: readonly string[]): Promise<DumpedBytes> {
  const { HexDumpError, isBinary, readHexDump } = await import('../decode/hex-dump.ts');
  const [first] = args;
  const isStdin = first === undefined || (first === '-' && args.length === 1);
  const source = isStdin ? '-' : args.length === 1 && !isHex(first ?? '') ? (first ?? '') : null;
  const input = source === null ? Buffer.from(args.join(' ')) : await read(source, isStdin);
  if (source !== null && isBinary(input)) return { bytes: input, cut: false };
  try {
    const found = readHexDump(input.toString('utf8'));
    if (found.bytes.length === 0) throw unreadable('there are none');
    return found;
  } catch (error) {
    if (!(error instanceof HexDumpError)) throw error;
    throw unreadable(error.message);
  }
}

/** Not the name of a file: digits, or one of strace's strings. */
const isHex = (text: string): boolean => /^[\s0-9a-fx:,;{}]*$/i.test(text) || /["\\]/.test(text);

/** Piece by piece, so that Ctrl-C is heard meanwhile, and so that what never ends, such as /dev/zero, is refused. */
async function read(path: string, isStdin: boolean): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of isStdin ? process.stdin : createReadStream(path)) {
      const bytes = Buffer.from(part);
      length += bytes.length;
      if (length > MOST_BYTES) throw new Error(`more than ${MOST_BYTES} bytes`);
      parts.push(bytes);
    }
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error), error);
  }
  return Buffer.concat(parts);
}

const unreadable = (reason: string, cause?: unknown): Failure =>
  new Failure(
    'USAGE',
    `the bytes cannot be read: ${reason}`,
    'give hexadecimal digits, a file, or - for stdin',
    {
      cause,
    },
  );
