/** What is said to the kernel's user CM, against a kernel that does what a test tells it. */
import { constants } from 'node:os';
import { describe, expect, test } from 'vitest';
import { LINUX } from '../../../src/abi/ucma/linux-commands.ts';
import { kernelBackend } from '../../../src/cm/kernel/backend.ts';
import { kernelCommandJson } from '../../../src/cm/kernel/command-json.ts';
import { type Exchange, UserCm, type Writable } from '../../../src/cm/kernel/exchange.ts';
import { refusalOf, writeFailure } from '../../../src/cm/kernel/refusals.ts';
import { tohex } from '../layout/support.ts';
import { machineOf } from './machine.ts';

const { EINVAL, ENODATA, ENOENT, ENOSYS, ENOSPC } = constants.errno;

interface Answer {
  readonly result?: number;
  readonly errno?: number;
}

/** A descriptor that answers each write so, and remembers them. The rooms stay as they are: zero. */
function kernel(answer: Answer): { node: Writable; written: string[] } {
  const written: string[] = [];
  const node: Writable = {
    async write(message, rooms) {
      const bytes = message.slice();
      // What would be an address.
      for (const { at } of rooms) bytes.set([0xad, 0xde], at);
      written.push(tohex(bytes));
      return { message: bytes, result: answer.result ?? message.length, errno: answer.errno ?? 0 };
    },
  };
  return { node, written };
}

function conversation(answer: Answer = {}) {
  const { node, written } = kernel(answer);
  const seen: Exchange[] = [];
  return { cm: new UserCm(node, (exchange) => seen.push(exchange)), written, seen };
}

describe('a command', () => {
  test('goes with its header, and the address of its answer in its place', async () => {
    const { cm, written, seen } = conversation();
    expect(await cm.ask(LINUX.CREATE_ID, { uid: 1n, ps: 0x106, qp_type: 2 })).toEqual({ id: 0 });
    expect(written).toEqual([
      `00000000${'1800'}${'0400'}0100000000000000adde000000000000060102${'00'.repeat(5)}`,
    ]);
    expect(seen).toMatchObject([{ result: 32, errno: 0, answer: new Uint8Array(4) }]);
    await cm.tell(LINUX.LISTEN, { id: 7, backlog: 3 });
    expect(written[1]).toBe('07000000' + '0800' + '0000' + '07000000' + '03000000');
  });

  test('that is refused throws its name and errno, and is seen all the same', async () => {
    const { cm, seen } = conversation({ result: -1, errno: ENOENT });
    await expect(cm.tell(LINUX.DISCONNECT, { id: 1 })).rejects.toMatchObject({
      call: 'DISCONNECT',
      errno: ENOENT,
    });
    expect(kernelCommandJson(seen[0] ?? never())).toMatchObject({
      command: { value: 10, name: 'DISCONNECT' },
      brief: 'DISCONNECT id=1',
      result: -1,
      errno: { name: 'ENOENT' },
      answer: null,
    });
  });

  test('that is taken in part only has failed', async () => {
    const { cm } = conversation({ result: 8 });
    await expect(cm.tell(LINUX.DISCONNECT, { id: 1 })).rejects.toMatchObject({ errno: ENODATA });
    expect(refusalOf('DISCONNECT', ENODATA)?.meaning).toBe('the kernel took fewer bytes than were written');
  });

  test('put together by hand: a header that lies, bytes left away, no room, no address', async () => {
    const { cm, written, seen } = conversation({ result: -1, errno: EINVAL });
    const body = Uint8Array.of(1, 2, 3, 4);
    const plain = { number: 10, body, declared: null, out: 0, responseAt: null, rooms: [], cut: 0 };
    await cm.raw({ ...plain, declared: 64 });
    await cm.raw({ ...plain, cut: 9 });
    await cm.raw({ ...plain, cut: 100 });
    // The place for the address lies beyond the end: it stays away.
    await cm.raw({ ...plain, responseAt: 0, out: 16 });
    expect(written).toEqual(['0a0000004000000001020304', '0a0000', '', '0a0000000400100001020304']);
    const failures = seen.map((exchange) => writeFailure(kernelCommandJson(exchange))?.message);
    expect(failures[0]).toContain('the header tells 64 bytes and 4 follow: the kernel answers EINVAL');
    expect(failures[1]).toContain('3 bytes, and the header alone has 8');
    expect(failures[2]).toContain('0 bytes, and the header alone has 8');
  });
});

describe('why the kernel refuses', () => {
  test.each([
    ['GET_OPTION', ENOSYS, 'nothing behind it, in every kernel'],
    ['SET_OPTION', ENOSYS, 'no option of that level and name'],
    ['LISTEN', ENOENT, 'no id of that number'],
    ['RESOLVE_IB_SERVICE', EINVAL, 'a kernel of late 2025'],
  ])('%s %i', (name, errno, words) => {
    expect(refusalOf(name, errno)?.meaning).toContain(words);
    expect(refusalOf(name, errno)?.next).not.toBe('');
  });

  test('nothing is said where the errno says it all, nor of calls that are none of its', () => {
    expect(refusalOf('BIND_IP', constants.errno.EADDRINUSE)).toBeNull();
    expect(refusalOf('RESOLVE_ADDR', EINVAL)).toBeNull();
    expect(refusalOf('rdma_listen', ENOENT)).toBeNull();
  });

  test('of several notes that which fits the errno is told', async () => {
    const { cm, seen } = conversation({ result: -1, errno: ENOSPC });
    const body = new Uint8Array(16);
    await cm.raw({ number: 5, body, declared: null, out: 10, responseAt: null, rooms: [], cut: 0 });
    const failure = writeFailure(kernelCommandJson(seen[0] ?? never()));
    expect(failure?.message).toContain('room for 10 bytes, and the answer has 200');
    expect(failure?.message).not.toContain('address 0');
  });
});

test('a kernel of another ABI is not spoken to, one that tells none is', async () => {
  const old = machineOf({ files: { 'class/misc/rdma_cm/abi_version': '3\n' } });
  await expect(kernelBackend(old).openChannel()).rejects.toMatchObject({
    code: 'OLD_KERNEL',
    message: expect.stringContaining('version 3'),
  });
  // It goes on to open the node, which is not there.
  const silent = machineOf({});
  await expect(kernelBackend(silent).openChannel()).rejects.toMatchObject({ call: 'open' });
});

function never(): never {
  throw new Error('nothing was seen');
}
