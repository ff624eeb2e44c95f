import { describe, expect, it } from 'vitest';
import type { SocketAddress } from '../../../src/abi/sockaddr.ts';
import { CmChannel } from '../../../src/cm/channel.ts';
import { connectionValues, RPING_REQUEST } from '../../../src/cm/connect.ts';
import { NativeCallError } from '../../../src/native/errors.ts';
import { fakeBackend } from './fake-backend.ts';

const PEER: SocketAddress = { family: 'ipv4', address: '10.9.1.1', port: 7174, scopeId: 0 };
const VALUES = connectionValues(RPING_REQUEST);
const NONE = new Uint8Array();
const soon = { timeoutMs: 1000, signal: null, what: 'a test' };

async function resolvedId() {
  const backend = fakeBackend();
  const channel = await CmChannel.open(backend);
  const id = await channel.createId('TCP');
  await id.resolveAddr(null, PEER, 1);
  backend.send(backend.ids[0], 'ADDR_RESOLVED');
  await channel.nextEvent(id, soon);
  return { backend, channel, id };
}

describe('an id', () => {
  it('refuses what would crash in C, and makes no call', async () => {
    const backend = fakeBackend();
    const channel = await CmChannel.open(backend);
    const id = await channel.createId('TCP');
    for (const wrong of [
      () => id.resolveRoute(1),
      () => id.createQp({ sharedReceiveQueue: false }),
      () => id.connect(VALUES, NONE),
      () => id.accept(VALUES, NONE),
      () => id.reject(28, NONE),
      () => id.disconnect(),
      () => id.establish(),
      () => id.listen(1),
    ]) {
      await expect(wrong()).rejects.toMatchObject({ code: 'WRONG_ORDER' });
    }
    expect(backend.calls).toEqual([]);
  });

  it('goes from step to step by its events', async () => {
    const { backend, channel, id } = await resolvedId();
    expect(id.state).toBe('address resolved');
    await id.resolveRoute(1);
    await expect(id.connect(VALUES, NONE)).rejects.toMatchObject({ code: 'WRONG_ORDER' });
    backend.send(backend.ids[0], 'ROUTE_RESOLVED');
    await channel.nextEvent(id, soon);
    await id.createQp({ sharedReceiveQueue: false });
    await expect(id.createQp({ sharedReceiveQueue: false })).rejects.toMatchObject({ code: 'WRONG_ORDER' });
    await id.connect(VALUES, NONE);
    backend.send(backend.ids[0], 'ESTABLISHED');
    await channel.nextEvent(id, soon);
    await expect(id.establish()).rejects.toMatchObject({ code: 'WRONG_ORDER' });
    await id.disconnect();
    expect(id.state).toBe('disconnecting');
  });

  it('is where it was when a call fails', async () => {
    const { backend, id } = await resolvedId();
    backend.errors.set('resolve_route', new NativeCallError('rdma_resolve_route', 19));
    await expect(id.resolveRoute(1)).rejects.toMatchObject({ errno: 19 });
    expect(id.state).toBe('address resolved');
  });

  it('can only be destroyed once its device is gone', async () => {
    const { backend, channel, id } = await resolvedId();
    backend.send(backend.ids[0], 'DEVICE_REMOVAL');
    await channel.nextEvent(id, soon);
    await expect(id.resolveRoute(1)).rejects.toMatchObject({ code: 'WRONG_ORDER' });
    await Promise.all([id.destroy(), id.destroy(), channel.close(), channel.close()]);
    expect(backend.calls.filter((call) => call === 'destroy 1')).toHaveLength(1);
    expect(backend.calls.at(-1)).toBe('close');
  });
});

describe('a channel', () => {
  it('gives each event to who waits for its id, and keeps the others', async () => {
    const backend = fakeBackend();
    const channel = await CmChannel.open(backend);
    const one = await channel.createId('TCP');
    const two = await channel.createId('TCP');
    const forOne = channel.nextEvent(one, soon);
    backend.send(backend.ids[1], 'ADDR_ERROR', { status: -19 });
    backend.send(backend.ids[0], 'ADDR_RESOLVED');
    expect((await forOne).name).toBe('ADDR_RESOLVED');
    expect(await channel.nextEvent(two, soon)).toMatchObject({ name: 'ADDR_ERROR', status: -19 });
    await channel.close();
  });

  it('ends a wait at its deadline and at an abort', async () => {
    const channel = await CmChannel.open(fakeBackend());
    const id = await channel.createId('TCP');
    await expect(channel.nextEvent(id, { ...soon, timeoutMs: 20 })).rejects.toMatchObject({
      code: 'TIMED_OUT',
    });
    const controller = new AbortController();
    const waiting = channel.nextEvent(id, { timeoutMs: null, signal: controller.signal, what: 'x' });
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'INTERRUPTED' });
    await expect(channel.nextEvent(id, { ...soon, signal: controller.signal })).rejects.toMatchObject({
      code: 'INTERRUPTED',
    });
    await channel.close();
    await expect(channel.nextEvent(id, soon)).rejects.toMatchObject({ code: 'WRONG_ORDER' });
  });

  it('destroys the ids of requests that nobody took', async () => {
    const backend = fakeBackend();
    const channel = await CmChannel.open(backend);
    const listener = await channel.createId('TCP');
    await listener.bindAddr(PEER);
    await listener.listen(1);
    const [own] = backend.ids;
    const first = backend.newId();
    const second = backend.newId();
    backend.send(first, 'CONNECT_REQUEST', { listener: own ?? null });
    backend.send(second, 'CONNECT_REQUEST', { listener: own ?? null });
    const event = await channel.nextEvent(listener, soon);
    expect(event.id.state).toBe('requested');
    await channel.close();
    expect(backend.calls).toEqual(expect.arrayContaining(['destroy 1', 'destroy 2', 'close']));
  });
});
