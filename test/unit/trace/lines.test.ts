import { expect, it } from 'vitest';
import { linesOf } from '../../../src/trace/lines.ts';

async function* pieces(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part, 'latin1');
}

async function read(longest: number, ...parts: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(pieces(...parts), longest)) lines.push(line);
  return lines;
}

it('joins what comes in pieces, also within a character', async () => {
  expect(await read(99, 'a', 'b\r\n\n\xc3', '\xa4\nlast')).toEqual(['ab', '', '\u00e4', 'last']);
  expect(await read(99)).toEqual([]);
  expect(await read(99, 'a\n')).toEqual(['a']);
});

it('refuses a line that does not end', async () => {
  await expect(read(4, 'a\n12', '345')).rejects.toThrow('line 2 has more than 4 characters');
});
