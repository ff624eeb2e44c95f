/** Text as it comes in pieces, line by line. */

/** strace writes four characters a byte; strings of 4 MiB (-s) are far more than any command to a device. */
const LONGEST = 16 * 1024 * 1024;

/**
 * The lines of a stream, without their ends.
 * @throws Error where one is so long that it cannot be a line of a log: without that, /dev/zero would fill the memory
 */
export async function* linesOf(
  input: AsyncIterable<string | Uint8Array>,
  longest: number = LONGEST,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun: string[] = [];
  let length = 0;
  let number = 1;
  for await (const part of input) {
    const text = typeof part === 'string' ? part : decoder.decode(part, { stream: true });
    const pieces = text.split('\n');
    const rest = pieces.pop() ?? '';
    for (const piece of pieces) {
      yield withoutReturn(begun.join('') + piece);
      begun = [];
      length = 0;
      number += 1;
    }
    begun.push(rest);
    length += rest.length;
    if (length > longest) throw new Error(`line ${number} has more than ${longest} characters`);
  }
  const last = begun.join('') + decoder.decode();
  if (last !== '') yield withoutReturn(last);
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);
