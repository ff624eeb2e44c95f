/**
 * query-device on drivers that do not answer. A call inside C cannot be stopped: each of these waits for a deadline
 * of rdmatool, 10 s for a query and 15 s for an open.
 */
import { describe, expect, it } from 'vitest';
import { addFake, type Fakes, fakeDirectory } from '../lab/support/fakes.ts';
import { lab } from '../lab/support/labs.ts';
import { queryDevice, rdmatool } from '../lab/support/rdmatool.ts';

function hanging(define: string): Fakes {
  const fakes = fakeDirectory();
  addFake(fakes, 'verbs', 44, [define]);
  addFake(fakes, 'efa', 44);
  return fakes;
}

describe.concurrent('a device that does not answer', () => {
  it('when it is opened: 75, the call and its time, and the process ends', async () => {
    const place = await lab({ faults: ['rdmap0s6:delay=600000'] });
    const [json, people] = await Promise.all([
      queryDevice([], { lab: place }),
      rdmatool(['query-device'], { lab: place }),
    ]);
    expect([json.status, people.status]).toEqual([75, 75]);
    expect(json.document.error).toMatchObject({
      code: 'TIMED_OUT',
      message: 'rdmap0s6: ibv_open_device did not end within 15000 ms',
      hint: expect.stringContaining('dmesg'),
    });
    expect(json.document.devices[0]).toMatchObject({ error: { code: 'TIMED_OUT' }, ports: [] });
    expect(people.stdout).toContain('did not end within');
    expect(Math.max(json.milliseconds, people.milliseconds)).toBeLessThan(25_000);
  });

  it('hides none of the others, nor do five of them, more than libuv has threads', async () => {
    const slow = [0, 1, 2, 3, 4].map((index) => `rdmap${index}s6`);
    const good = [5, 6, 7].map((index) => `rdmap${index}s6`);
    const place = await lab({
      devices: [...slow, ...good].map((name) => `${name}:efa2`),
      faults: slow.map((name) => `${name}:delay=600000`),
    });
    const { status, document } = await queryDevice([], { lab: place });
    expect(status).toBe(1);
    expect(document.error).toMatchObject({
      code: 'SOME_DEVICES_FAILED',
      message: expect.stringContaining('5 of 8 devices failed'),
    });
    expect(document.devices.map(({ name, error }) => [name, error?.code ?? null])).toEqual([
      ...slow.map((name) => [name, 'TIMED_OUT']),
      ...good.map((name) => [name, null]),
    ]);
  });

  it('leaves no thread for the next one, where there is but one', async () => {
    const place = await lab({
      devices: ['rdmap0s6:efa2', 'rdmap1s6:efa2'],
      faults: ['rdmap0s6:delay=600000'],
    });
    const { status, document } = await queryDevice([], { lab: place, env: { UV_THREADPOOL_SIZE: '1' } });
    expect(status).toBe(75);
    expect(document.devices[1]?.error).toMatchObject({
      code: 'TIMED_OUT',
      message: 'rdmap1s6: not asked: calls on other devices hang',
    });
  });

  it('when a port is queried: no further call on it is waited for', async () => {
    const outcome = await queryDevice([], { lab: await lab(), env: hanging('HANG_PORT').env });
    expect(outcome.status).toBe(75);
    const [device] = outcome.document.devices;
    expect(device).toMatchObject({
      attributes: { fw_ver: '16.35.4030' },
      ports: [{ error: { code: 'TIMED_OUT' } }, { error: { code: 'TIMED_OUT' } }],
    });
    expect(device?.error?.message).toBe('rdmap0s6: port 1: ibv_query_port did not end within 10000 ms');
    expect(outcome.milliseconds).toBeLessThan(18_000);
  });

  it('when it is closed: everything has been answered by then', async () => {
    const outcome = await queryDevice([], { lab: await lab(), env: hanging('HANG_CLOSE').env });
    expect(outcome.status).toBe(0);
    expect(outcome.document.devices[0]).toMatchObject({
      error: null,
      ports: [{ error: null }, { error: null }],
    });
  });
});
