import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { GuestCommand, type OutputSink } from '../../../../src/lab/roce/command.ts';
import { FrameType, STREAM_WINDOW, StreamNumber, u32Bytes, Wire } from '../../../../src/lab/roce/frames.ts';
import { Recorder, socketPair } from './wires.ts';

const REQUEST = {
  command: ['x'],
  environment: {},
  directory: '/',
  shares: [],
  versions: {},
  links: {},
  terminal: null,
  now: 0,
};

function started(sink: OutputSink = async () => true) {
  const [guestSide, ourSide] = socketPair();
  const guest = new Recorder(guestSide);
  const wire = new Wire(ourSide);
  const command = new GuestCommand(wire, 1, REQUEST, sink);
  wire.listen((frame) => command.handle(frame));
  const exit = (status: number, signal: number): void =>
    guest.wire.send(1, FrameType.EXITED, 0, u32Bytes(status, signal));
  return { guest, command, exit };
}

describe('the end of a command', () => {
  it.each([
    [3, 0, { kind: 'exited', status: 3 }],
    [0, 9, { kind: 'signalled', signal: 9 }],
  ])('with status %i and signal %i', async (status, signal, end) => {
    const { command, exit } = started();
    exit(status, signal);
    expect(await command.end).toEqual(end);
  });

  it('that could not be started', async () => {
    const { guest, command } = started();
    guest.wire.send(1, FrameType.REFUSED, 0, Buffer.concat([u32Bytes(2), Buffer.from('x')]));
    expect(await command.end).toEqual({ kind: 'refused', errno: 2, what: 'x' });
  });

  it('because the guest has ended, unless it ended before', async () => {
    const lost = started();
    lost.guest.wire.close();
    expect(await lost.command.end).toEqual({ kind: 'lost' });
    const { guest, command, exit } = started(async () => {
      guest.wire.close();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return true;
    });
    guest.wire.send(1, FrameType.DATA, StreamNumber.OUT, Buffer.from('last words'));
    exit(4, 0);
    expect(await command.end).toEqual({ kind: 'exited', status: 4 });
  });

  it('comes after all of its output has been taken', async () => {
    let taken = '';
    const { guest, command, exit } = started(async (stream, bytes) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      taken += `${stream} ${bytes.toString()};`;
      return true;
    });
    guest.wire.send(1, FrameType.DATA, StreamNumber.OUT, Buffer.from('a'));
    guest.wire.send(1, FrameType.DATA, StreamNumber.ERROR, Buffer.from('b'));
    exit(0, 0);
    await command.end;
    expect(taken).toBe('stdout a;stderr b;');
  });
});

describe('output', () => {
  it('gives the guest credit once it has been taken', async () => {
    const { guest } = started();
    guest.wire.send(1, FrameType.DATA, StreamNumber.OUT, Buffer.alloc(1000));
    expect((await guest.first(2))[1]).toEqual({
      session: 1,
      type: FrameType.CREDIT,
      stream: StreamNumber.OUT,
      bytes: u32Bytes(1000),
    });
  });

  it('that nobody reads any more is closed', async () => {
    const { guest } = started(async () => false);
    guest.wire.send(1, FrameType.DATA, StreamNumber.OUT, Buffer.alloc(10));
    expect((await guest.first(2))[1]).toMatchObject({ type: FrameType.DATA, bytes: Buffer.alloc(0) });
  });
});

describe('input', () => {
  it('waits for credit, and ends with its end', async () => {
    const { guest, command } = started();
    const fed = command.feed(Readable.from([Buffer.alloc(STREAM_WINDOW + 10, 'x')]));
    const sent = (): number =>
      guest.frames.reduce((sum, { type, bytes }) => sum + (type === FrameType.DATA ? bytes.length : 0), 0);
    await expect.poll(sent).toBe(STREAM_WINDOW);
    guest.wire.send(1, FrameType.CREDIT, StreamNumber.IN, u32Bytes(10));
    await fed;
    await expect.poll(sent).toBe(STREAM_WINDOW + 10);
    await expect.poll(() => guest.frames.at(-1)?.bytes.length).toBe(0);
  });

  it('is let go when the command ends', async () => {
    const { command, exit } = started();
    const fed = command.feed(Readable.from([Buffer.alloc(2 * STREAM_WINDOW)]));
    exit(0, 0);
    await Promise.all([fed, command.end]);
  });
});

it('signals and sizes are sent as numbers', async () => {
  const { guest, command } = started();
  command.signal(15);
  command.resize({ columns: 100, rows: 30 });
  const [, signal, size] = await guest.first(3);
  expect(signal).toMatchObject({ type: FrameType.SIGNAL, bytes: u32Bytes(15) });
  expect([size?.bytes.readUInt16LE(0), size?.bytes.readUInt16LE(2)]).toEqual([100, 30]);
});
