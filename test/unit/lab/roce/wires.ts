import { Duplex, PassThrough } from 'node:stream';
import { type Frame, Wire } from '../../../../src/lab/roce/frames.ts';

/** The two ends of a connection. */
export function socketPair(): [Duplex, Duplex] {
  const there = new PassThrough();
  const back = new PassThrough();
  return [Duplex.from({ readable: back, writable: there }), Duplex.from({ readable: there, writable: back })];
}

/** An end of a wire that keeps what it is sent. */
export class Recorder {
  readonly wire: Wire;
  readonly frames: Frame[] = [];
  #came: () => void = () => {};

  constructor(socket: Duplex) {
    this.wire = new Wire(socket);
    this.wire.listen((frame) => {
      this.frames.push(frame);
      this.#came();
    });
  }

  /** The frames, as soon as there are so many. */
  async first(count: number): Promise<readonly Frame[]> {
    while (this.frames.length < count) {
      await new Promise<void>((resolve) => {
        this.#came = resolve;
      });
    }
    return this.frames;
  }
}
