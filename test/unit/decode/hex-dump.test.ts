import { describe, expect, it } from 'vitest';
import { HexDumpError, isBinary, readHexDump } from '../../../src/decode/hex-dump.ts';

const hex = (text: string): string => Buffer.from(readHexDump(text).bytes).toString('hex');
const BYTES = '7365740a2d75';

describe('bytes in', () => {
  it.each([
    ['plain digits', '7365740a2d75'],
    ['blanks and lines', '73 65 74\n0a 2d75\n'],
    ['colons', '73:65:74:0A:2D:75'],
    ['words with 0x', '0x7365740a 0x2d75'],
    [
      'a C array',
      'unsigned char x[] = {\n  0x73, 0x65, 0x74, 0xa,\n  0x2d, 0x75\n};\nunsigned int x_len = 6;',
    ],
    ['xxd', '00000000: 7365 740a 2d75                           set.-u'],
    ['xxd -b', '00000000: 01110011 01100101 01110100 00001010 00101101 01110101  set.-u'],
    ['xxd, from an offset on', '00000010: 7365 740a                                set.\n00000014: 2d75  -u'],
    ['hexdump -C', '00000000  73 65 74 0a 2d 75                                 |set.-u|\n00000006\n'],
    ['hexdump -C of a bar', '00000000  73 65 74 0a 2d 75  |a|b|c.|'],
    ['hexdump', '0000000 6573 0a74 752d                         \n0000006\n'],
    ['od', '0000000 062563 005164 072455\n0000006\n'],
    ['od -x', '0000000 6573 0a74 752d\n0000006'],
    ['od -t x1', '0000000 73 65 74 0a 2d 75\n0000006'],
    ['od -A x -t x1z', '000000 73 65 74 0a 2d 75                                >set.-u<\n000006'],
    ['od -b', '0000000 163 145 164 012 055 165\n0000006'],
    ['od -A n -t x1', ' 73 65 74 0a 2d 75'],
    ['strace', '"set\\n-u"'],
    ['strace -xx', '"\\x73\\x65\\x74\\x0a\\x2d\\x75"'],
    ['strace, octal', '"\\163\\145\\164\\12-u"'],
    ['a line of strace', '214 write(3</dev/infiniband/umad0>, "set\\n-u", 6) = 6'],
    ['escapes without quotes', '\\x73\\x65\\x74\\x0a\\x2d\\x75'],
    ['C strings side by side', '"set\\n"\n  "-u"'],
  ])('%s', (_name, text) => {
    expect(hex(text)).toBe(BYTES);
  });

  it('repeated lines stand for as many as the address says', () => {
    const zeros = '00 '.repeat(16);
    expect(hex(`00000000  ${zeros} |................|\n*\n00000040  68 69  |hi|\n00000042`)).toBe(
      `${'00'.repeat(64)}6869`,
    );
    // hexdump counts in hexadecimal, od in octal.
    const words = '0000 '.repeat(8).trim();
    expect(hex(`0000000 ${words}\n*\n0000040 6968\n0000042`)).toBe(`${'00'.repeat(32)}6869`);
  });

  it('the end of an odd number of bytes is where the last address says', () => {
    expect(hex('0000000 6573 0a74 0075\n0000005')).toBe('7365740a75');
  });

  it('strace says that it has cut them', () => {
    expect(readHexDump('write(3, "set"..., 99) = 99').cut).toBe(true);
  });
});

describe('what is none', () => {
  it.each([
    ['73 6', 'line 1'],
    ['7365\n74zz', 'line 2'],
    ['"abc\\q"', 'escape'],
    ['00000000: 7365 740a\n00000009: 2d75', 'line 2'],
    ['00000000  73 65  |se|\n00000002  zz  |z|', 'line 2'],
    ['7365 *', '*'],
    ['hello', 'hexadecimal'],
  ])('%j says where', (text, message) => {
    expect(() => readHexDump(text)).toThrow(HexDumpError);
    expect(() => readHexDump(text)).toThrow(message);
  });

  it('is told from bytes themselves', () => {
    expect(isBinary(Uint8Array.from([0x31, 0x00]))).toBe(true);
    expect(isBinary(Buffer.from('00 11\n'))).toBe(false);
  });

  it('never fails otherwise', () => {
    const alphabet = '0123456789abcdefx:|<>"\\ \n*{},.g';
    let seed = 3;
    for (let round = 0; round < 5000; round++) {
      let text = '';
      for (let length = round % 60; length > 0; length--) {
        seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
        text += alphabet[(seed >> 8) % alphabet.length];
      }
      try {
        readHexDump(text);
      } catch (error) {
        expect(error, JSON.stringify(text)).toBeInstanceOf(HexDumpError);
      }
    }
  });
});
