/** A command in a guest, from this side: its streams, signals and end. */
import type { Readable } from 'node:stream';
import { type Frame, FrameType, STREAM_WINDOW, StreamNumber, u32Bytes, type Wire } from './frames.ts';
import { type CommandRequest, encodeRequest, type TerminalSize } from './request.ts';

export type CommandEnd =
  | { readonly kind: 'exited'; readonly status: number }
  | { readonly kind: 'signalled'; readonly signal: number }
  /** It could not be started. */
  | { readonly kind: 'refused'; readonly errno: number; readonly what: string }
  /** The guest ended first. */
  | { readonly kind: 'lost' };

/** Takes what a command writes. The promise resolves when more may come: false where nobody reads it any more. */
export type OutputSink = (stream: 'stdout' | 'stderr', bytes: Buffer) => Promise<boolean>;

/** Frames are shorter than this, so that the streams of several commands take turns. */
const PIECE = 32 * 1024;

export class GuestCommand {
  readonly #wire: Wire;
  readonly #session: number;
  readonly #sink: OutputSink;
  #inputCredit = STREAM_WINDOW;
  #creditCame: () => void = () => {};
  #isOver = false;
  #output = Promise.resolve();
  readonly #ended: (end: CommandEnd) => void;
  /** Resolves when the command has ended and the sink has taken all of its output. */
  readonly end: Promise<CommandEnd>;

  constructor(wire: Wire, session: number, request: CommandRequest, sink: OutputSink) {
    this.#wire = wire;
    this.#session = session;
    this.#sink = sink;
    let ended: (end: CommandEnd) => void = () => {};
    this.end = new Promise((resolve) => {
      ended = resolve;
    });
    this.#ended = ended;
    wire.closed.then(() => this.#finish({ kind: 'lost' }));
    this.#send(FrameType.START, 0, encodeRequest(request));
  }

  /** Takes a frame of this command's session. */
  handle({ type, stream, bytes }: Frame): void {
    if (type === FrameType.DATA) this.#take(stream, bytes);
    else if (type === FrameType.CREDIT) {
      this.#inputCredit += bytes.readUInt32LE();
      this.#creditCame();
    } else if (type === FrameType.EXITED) {
      const signal = bytes.readUInt32LE(4);
      this.#finish(
        signal === 0 ? { kind: 'exited', status: bytes.readUInt32LE() } : { kind: 'signalled', signal },
      );
    } else if (type === FrameType.REFUSED) {
      this.#finish({ kind: 'refused', errno: bytes.readUInt32LE(), what: bytes.toString('utf8', 4) });
    }
  }

  /** Gives the command what a stream holds, and then its end. */
  async feed(input: Readable): Promise<void> {
    for await (const chunk of input) {
      const bytes: Buffer = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      for (let at = 0; at < bytes.length; ) {
        await this.#inputRoom();
        if (this.#isOver) return;
        const piece = bytes.subarray(at, at + Math.min(PIECE, this.#inputCredit));
        this.#inputCredit -= piece.length;
        at += piece.length;
        this.#send(FrameType.DATA, StreamNumber.IN, piece);
      }
    }
    this.#send(FrameType.DATA, StreamNumber.IN);
  }

  /** Nobody reads its stdout any more: it is to notice it without writing, too. */
  outputUnread(): void {
    this.#send(FrameType.DATA, StreamNumber.OUT);
  }

  /** For the command's process group. */
  signal(number: number): void {
    this.#send(FrameType.SIGNAL, 0, u32Bytes(number));
  }

  resize({ columns, rows }: TerminalSize): void {
    this.#send(FrameType.RESIZE, 0, u32Bytes((rows << 16) | columns));
  }

  #send(type: number, stream = 0, bytes?: Buffer): void {
    if (!this.#isOver) this.#wire.send(this.#session, type, stream, bytes);
  }

  async #inputRoom(): Promise<void> {
    while (this.#inputCredit === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#creditCame = resolve;
      });
    }
  }

  #take(stream: number, bytes: Buffer): void {
    const written = this.#sink(stream === StreamNumber.ERROR ? 'stderr' : 'stdout', bytes).then((isRead) => {
      if (isRead) this.#send(FrameType.CREDIT, stream, u32Bytes(bytes.length));
      // The command is to notice it as it would without a lab: by SIGPIPE or EPIPE.
      else this.#send(FrameType.DATA, stream);
    });
    this.#output = Promise.all([this.#output, written]).then(() => {});
  }

  #finish(end: CommandEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#creditCame();
    this.#output.then(() => this.#ended(end));
  }
}
