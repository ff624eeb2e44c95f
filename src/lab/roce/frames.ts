/** What the host and the guest say to each other. guest/guest.h declares the same in C. */
import type { Duplex } from 'node:stream';
import { u8, u16, u32 } from '../../layout/scalar.ts';
import { struct } from '../../layout/struct.ts';

/** Both sides name it first; another one means that they are of different versions. */
export const PROTOCOL = 'rdmatool-roce-1';
/** The name of the virtio-serial port. */
export const PORT_NAME = 'rdmatool.agent';
/** Bytes of a stream that may be on their way before the receiver has given credit. */
export const STREAM_WINDOW = 256 * 1024;
const MAXIMUM = 4 * 1024 * 1024;

export const FrameType = {
  HELLO: 1,
  START: 2,
  DATA: 3,
  CREDIT: 4,
  SIGNAL: 5,
  RESIZE: 6,
  HANG_UP: 7,
  EXITED: 8,
  REFUSED: 9,
  /** Only between a client and the process that keeps a guest up: end it. */
  STOP: 10,
} as const;

export const StreamNumber = { IN: 0, OUT: 1, ERROR: 2 } as const;

const FrameHeader = struct(
  'frame_header',
  { session: u32, length: u32, type: u8, stream: u8, reserved: u16 },
  { size: 12 },
);

export interface Frame {
  /** 0: of the guest as a whole. */
  readonly session: number;
  readonly type: number;
  readonly stream: number;
  readonly bytes: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** A frame as it travels. */
export function encodeFrame({ session, type, stream, bytes }: Frame): Buffer {
  return Buffer.concat([FrameHeader.encode({ session, length: bytes.length, type, stream }), bytes]);
}

/** Puts the pieces that a socket gives together to frames. */
export class FrameReader {
  #rest: Buffer = NOTHING;

  /**
   * The frames that are complete now.
   * @throws RangeError where the bytes cannot be frames
   */
  push(chunk: Buffer): Frame[] {
    let rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Frame[] = [];
    while (rest.length >= FrameHeader.size) {
      const { session, length, type, stream } = FrameHeader.decode(rest);
      if (length > MAXIMUM) throw new RangeError(`a frame of ${length} bytes`);
      const end = FrameHeader.size + length;
      if (rest.length < end) break;
      frames.push({ session, type, stream, bytes: rest.subarray(FrameHeader.size, end) });
      rest = rest.subarray(end);
    }
    this.#rest = rest;
    return frames;
  }
}

export const u32Bytes = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, 4 * index);
  return bytes;
};

/** Texts that each end in NUL. */
export const stringBytes = (...texts: readonly string[]): Buffer =>
  Buffer.from(texts.map((text) => `${text}\0`).join(''));
export const readStrings = (bytes: Buffer): string[] => bytes.toString().split('\0').slice(0, -1);

/** Frames over a socket, both ways. */
export class Wire {
  readonly #socket: Duplex;
  readonly #reader = new FrameReader();
  #handler: (frame: Frame) => void = () => {};
  /** Resolves when the other side has gone, or `close` was called. */
  readonly closed: Promise<void>;

  constructor(socket: Duplex) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.on('close', () => resolve());
    });
    // Whatever goes wrong with a socket, it is closed then.
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of this.#reader.push(chunk)) this.#handler(frame);
      } catch (error) {
        socket.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
    socket.pause();
  }

  /** Takes the frames from now on; none is lost before. */
  listen(handler: (frame: Frame) => void): void {
    this.#handler = handler;
    this.#socket.resume();
  }

  send(session: number, type: number, stream = 0, bytes: Buffer = NOTHING): void {
    if (!this.#socket.destroyed) this.#socket.write(encodeFrame({ session, type, stream, bytes }));
  }

  close(): void {
    this.#socket.destroy();
  }
}
