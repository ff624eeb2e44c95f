import { expect, it } from 'vitest';
import { FrameType, PROTOCOL, readStrings, StreamNumber, Wire } from '../../../../src/lab/roce/frames.ts';
import { Relay } from '../../../../src/lab/roce/relay.ts';
import { Recorder, socketPair } from './wires.ts';

function relayed() {
  const [guestSide, relaySide] = socketPair();
  const guest = new Recorder(guestSide);
  let stops = 0;
  const relay = new Relay(new Wire(relaySide), '6.1.0', () => stops++);
  const connect = (): Recorder => {
    const [client, server] = socketPair();
    relay.add(server);
    return new Recorder(client);
  };
  return { guest, connect, relay, stops: () => stops };
}

const text = (value: string): Buffer => Buffer.from(value);

it('greets every client as the guest does', async () => {
  const { connect } = relayed();
  const [hello] = await connect().first(1);
  expect(hello?.type).toBe(FrameType.HELLO);
  expect(readStrings(hello?.bytes ?? text(''))).toEqual([PROTOCOL, '6.1.0']);
});

it('keeps the sessions of clients apart that use the same number', async () => {
  const { guest, connect } = relayed();
  const [one, two] = [connect(), connect()];
  one.wire.send(1, FrameType.START, 0, text('one'));
  await guest.first(1);
  two.wire.send(1, FrameType.START, 0, text('two'));
  two.wire.send(1, FrameType.DATA, StreamNumber.IN, text('in'));
  const sent = await guest.first(3);
  const [first = 0, second = 0, third] = sent.map(({ session }) => session);
  expect(first).not.toBe(second);
  expect(third).toBe(second);
  guest.wire.send(second, FrameType.DATA, StreamNumber.OUT, text('for two'));
  guest.wire.send(first, FrameType.DATA, StreamNumber.ERROR, text('for one'));
  expect((await two.first(2))[1]).toEqual({
    session: 1,
    type: FrameType.DATA,
    stream: StreamNumber.OUT,
    bytes: text('for two'),
  });
  expect((await one.first(2))[1]?.bytes.toString()).toBe('for one');
});

it('hangs up what a client that has gone had started, and drops what still comes', async () => {
  const { guest, connect } = relayed();
  const [gone, other] = [connect(), connect()];
  gone.wire.send(1, FrameType.START);
  await guest.first(1);
  other.wire.send(1, FrameType.START);
  await guest.first(2);
  gone.wire.close();
  const [started, , hungUp] = await guest.first(3);
  expect(hungUp).toMatchObject({ type: FrameType.HANG_UP, session: started?.session });
  guest.wire.send(started?.session ?? 0, FrameType.EXITED, 0, Buffer.alloc(8));
  const second = guest.frames[1]?.session ?? 0;
  guest.wire.send(second, FrameType.EXITED, 0, Buffer.alloc(8));
  expect((await other.first(2))[1]?.type).toBe(FrameType.EXITED);
  // A session that has ended needs no hang-up.
  other.wire.close();
  connect().wire.send(1, FrameType.START, 0, text('last'));
  expect((await guest.first(4))[3]?.type).toBe(FrameType.START);
});

it('ends the guest where a client asks for it', async () => {
  const { connect, stops } = relayed();
  const client = connect();
  client.wire.send(0, FrameType.STOP);
  await expect.poll(stops).toBe(1);
});
