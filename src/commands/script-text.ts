import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { Failure } from '../explain/failure.ts';
import { UsageError } from './spec.ts';

/** A script is written by hand. */
const LARGEST_BYTES = 4 << 20;

/** The text of a file, or of stdin for `-`. Throws UsageError, Failure INTERRUPTED. */
export async function scriptText(file: string, signal: AbortSignal): Promise<string> {
  const stream = file === '-' ? process.stdin : createReadStream(file);
  // A pipe that nobody writes to hangs in open(2), where the stream cannot be ended: do not wait for it.
  let end = (): void => {};
  const interrupted = new Promise<never>((_resolve, reject) => {
    end = () => {
      const failure = new Failure('INTERRUPTED', 'interrupted: reading the script', 'nothing was run');
      stream.destroy(failure);
      reject(failure);
    };
  });
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  try {
    return await Promise.race([interrupted, contentsOf(stream, file === '-' ? 'stdin' : file)]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

async function contentsOf(stream: Readable, name: string): Promise<string> {
  try {
    const parts: Buffer[] = [];
    let length = 0;
    for await (const part of stream) {
      const bytes = Buffer.from(part);
      length += bytes.length;
      if (length > LARGEST_BYTES)
        throw new UsageError(`${name} has more than ${LARGEST_BYTES} bytes: no script`);
      parts.push(bytes);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
  } catch (error) {
    if (error instanceof Failure || error instanceof UsageError) throw error;
    if (error instanceof TypeError) throw new UsageError(`${name} is not UTF-8 text`);
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
