import { closeSync, openSync, readSync } from 'node:fs';
import { Failure } from '../explain/failure.ts';

const CHUNK = 64 * 1024;

/**
 * The bytes of a file, or of a descriptor. A file without an end, such as /dev/zero, is refused like one that is too
 * long.
 * @param what for the message: `the data`
 * @param most bytes that make sense
 * @throws Failure
 */
export function readFile(source: string | number, what: string, most: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let length = 0;
  let descriptor: number | null = null;
  try {
    descriptor = typeof source === 'number' ? source : openSync(source, 'r');
    for (;;) {
      const chunk = new Uint8Array(CHUNK);
      const count = readSync(descriptor, chunk);
      if (count === 0) break;
      parts.push(chunk.subarray(0, count));
      length += count;
      if (length > most) throw new Error(`more than ${most} bytes`);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure('USAGE', `${what} cannot be read: ${reason}`, 'check the path', { cause: error });
  } finally {
    if (descriptor !== null && typeof source === 'string') closeSync(descriptor);
  }
  return Buffer.concat(parts);
}
