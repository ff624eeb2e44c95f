import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import {
  encodeFrame,
  type Frame,
  FrameReader,
  FrameType,
  PORT_NAME,
  PROTOCOL,
  readStrings,
  STREAM_WINDOW,
  StreamNumber,
  stringBytes,
  Wire,
} from '../../../../src/lab/roce/frames.ts';

const frame = (text: string, session = 7): Frame => ({
  session,
  type: FrameType.DATA,
  stream: StreamNumber.ERROR,
  bytes: Buffer.from(text),
});

describe('frames', () => {
  const frames = [frame('one'), frame(''), frame('x'.repeat(100_000), 0xffffffff)];
  const bytes = Buffer.concat(frames.map(encodeFrame));

  it.each([1, 5, 12, 13, 4096, bytes.length])('come out whole from pieces of %i bytes', (size) => {
    const reader = new FrameReader();
    const read: Frame[] = [];
    for (let at = 0; at < bytes.length; at += size) read.push(...reader.push(bytes.subarray(at, at + size)));
    expect(read).toEqual(frames);
  });

  it('have a header of twelve bytes, in little-endian order', () => {
    expect(encodeFrame(frame('ab')).toString('hex')).toBe('0700000002000000030200006162');
  });

  it('of an impossible length are refused', () => {
    expect(() => new FrameReader().push(Buffer.from('00000000ffffffff03000000', 'hex'))).toThrow(RangeError);
  });

  it('carry texts', () => {
    expect(readStrings(stringBytes('a', '', 'b c'))).toEqual(['a', '', 'b c']);
  });
});

describe('the declaration in C', () => {
  const header = readFileSync(join(import.meta.dirname, '../../../../src/lab/roce/guest/guest.h'), 'utf8');

  it('has the same numbers', () => {
    const types = Object.fromEntries(
      [...header.matchAll(/FRAME_(\w+) = (\d+)/g)].map(([, name, value]) => [name, Number(value)]),
    );
    // STOP never reaches the guest.
    const { STOP: _, ...inBoth } = FrameType;
    expect(types).toEqual(inBoth);
    const streams = Object.fromEntries(
      [...header.matchAll(/STREAM_(IN|OUT|ERROR) = (\d)/g)].map(([, name, value]) => [name, Number(value)]),
    );
    expect(streams).toEqual(StreamNumber);
  });

  it('has the same names and window', () => {
    expect(header).toContain(`#define PROTOCOL "${PROTOCOL}"`);
    expect(header).toContain(`#define PORT_NAME "${PORT_NAME}"`);
    expect(header).toContain(`#define STREAM_WINDOW (${STREAM_WINDOW / 1024} * 1024)`);
  });
});

describe('a wire', () => {
  it('keeps what comes before somebody listens', async () => {
    const socket = new PassThrough();
    const wire = new Wire(socket);
    socket.write(encodeFrame(frame('early')));
    await new Promise(setImmediate);
    const first = await new Promise<Frame>((resolve) => wire.listen(resolve));
    expect(first.bytes.toString()).toBe('early');
  });

  it('is closed by bytes that are no frames, and by its end', async () => {
    const garbled = new PassThrough();
    const wire = new Wire(garbled);
    wire.listen(() => {});
    garbled.write(Buffer.alloc(12, 0xff));
    await wire.closed;
    const ended = new PassThrough();
    const other = new Wire(ended);
    other.listen(() => {});
    ended.end();
    await other.closed;
    other.send(1, FrameType.DATA);
  });
});
