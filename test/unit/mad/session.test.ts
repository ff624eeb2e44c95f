import { describe, expect, it } from 'vitest';
import { requiredAttribute } from '../../../src/datagram/attributes.ts';
import { encodeMad } from '../../../src/datagram/message.ts';
import { Failure, type FailureCode } from '../../../src/explain/failure.ts';
import { MadEngine, NoReplyError } from '../../../src/mad/engine.ts';
import { getAllPorts, getAttribute } from '../../../src/mad/get.ts';
import { withSession } from '../../../src/mad/open.ts';
import { MadSession, type SessionOptions } from '../../../src/mad/session.ts';
import { tableQuery } from '../../../src/mad/table.ts';
import type { Target } from '../../../src/mad/target.ts';
import { NativeCallError } from '../../../src/native/errors.ts';
import { FakeChannel, type FakeOptions, fakeUmad, type Responder } from './fake-umad.ts';

const OPTIONS: SessionOptions = { device: null, port: null, timeoutMs: 20, retries: 2, window: 4 };
const ADDRESS = { lid: 3, qpn: 1, qkey: 0, sl: 0, pathBits: 0, pkeyIndex: 0, grh: null };
const LID: Target = { kind: 'lid', lid: 3 };

const answerOf: Responder = (mad) => Uint8Array.from(mad, (byte, index) => (index === 3 ? 0x81 : byte));
const withStatus =
  (status: number): Responder =>
  (mad) => {
    const answer = Uint8Array.from(answerOf(mad, 1) as Uint8Array);
    answer[4] = status >> 8;
    answer[5] = status & 0xff;
    return answer;
  };

async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Failure)) throw new Error(`no failure: ${String(error)}`);
  return error;
}

describe('requests', () => {
  const request = (engine: MadEngine, retries = 2, timeoutMs = 20) =>
    engine.request({ agent: 0, address: ADDRESS, mad: new Uint8Array(256), timeoutMs, retries });

  it('keep to the window, and each gets its own answer', async () => {
    const channel = new FakeChannel(answerOf);
    const engine = new MadEngine(channel, 4, 0xfffffffe);
    const replies = await Promise.all(Array.from({ length: 50 }, () => request(engine)));
    expect(channel.mostInFlight).toBe(4);
    const tids = replies.map(({ mad }) => new DataView(mad.buffer, mad.byteOffset).getUint32(12));
    expect(new Set(tids).size).toBe(50);
    expect(tids).not.toContain(0);
    await engine.close();
    expect(channel.closed).toBe(1);
  });

  it('are sent again when the kernel says that nobody answered', async () => {
    const channel = new FakeChannel((mad, attempt) => (attempt < 3 ? 'timeout' : answerOf(mad, attempt)));
    const engine = new MadEngine(channel, 4);
    expect((await request(engine)).attempts).toBe(3);
    await engine.close();
  });

  it('are given up when not even the kernel says a word', async () => {
    const channel = new FakeChannel(() => null);
    const engine = new MadEngine(channel, 4);
    await expect(request(engine, 1, 1)).rejects.toThrow(NoReplyError);
    expect(channel.sent.length).toBe(2);
    await engine.close();
  });

  it('pass over answers that nobody waits for, however short', async () => {
    const channel = new FakeChannel((mad) => {
      channel.deliver(new Uint8Array(64 + 256));
      channel.deliver(new Uint8Array(64 + 3));
      channel.deliver(new Uint8Array(10));
      return answerOf(mad, 1);
    });
    const engine = new MadEngine(channel, 4);
    expect((await request(engine)).attempts).toBe(1);
    await engine.close();
  });

  it('take an answer longer than the buffer', async () => {
    const channel = new FakeChannel((mad) => {
      const long = new Uint8Array(200_000);
      long.set(answerOf(mad, 1) as Uint8Array);
      return long;
    });
    const engine = new MadEngine(channel, 4);
    expect((await request(engine)).mad.length).toBe(200_000);
    await engine.close();
  });

  describe('whose writes wait in the kernel until it knows the neighbour', () => {
    /** Writes last 20 ms. */
    class SlowChannel extends FakeChannel {
      writing = 0;
      mostWriting = 0;
      override async sendAsync(message: Uint8Array): Promise<void> {
        this.mostWriting = Math.max(this.mostWriting, ++this.writing);
        await new Promise((resolve) => setTimeout(resolve, 20));
        this.writing--;
        this.send(message);
      }
    }
    const grh = { gid: new Uint8Array(16), gidIndex: 0, hopLimit: 64, trafficClass: 0, flowLabel: 0 };
    const address = { ...ADDRESS, grh };
    const mad = new Uint8Array(256);

    it('take turns on a few threads, however many there are', async () => {
      const channel = new SlowChannel(answerOf);
      const engine = new MadEngine(channel, 200);
      const requests = Array.from({ length: 100 }, () =>
        engine.request({ agent: 0, address, mad, timeoutMs: 1000, retries: 0 }),
      );
      const posts = Array.from({ length: 100 }, () => engine.post({ agent: 0, address, mad, tid: null }));
      expect(await Promise.all(requests)).toHaveLength(100);
      await Promise.all(posts);
      expect(channel.sent).toHaveLength(200);
      expect(channel.mostWriting).toBe(8);
      await engine.close();
    });

    it('are given up when the port is closed, those that have begun awaited', async () => {
      const channel = new SlowChannel(() => null);
      const engine = new MadEngine(channel, 200);
      const posts = Array.from({ length: 20 }, () =>
        engine.post({ agent: 0, address, mad, tid: null }).then(
          () => 'sent',
          (error: unknown) => String(error),
        ),
      );
      await engine.close();
      expect(channel.closed).toBe(1);
      const outcomes = await Promise.all(posts);
      expect(outcomes.filter((each) => each === 'sent')).toHaveLength(8);
      expect(outcomes.filter((each) => /closed/.test(each))).toHaveLength(12);
      expect(channel.sent).toHaveLength(8);
    });
  });

  it('end when the port is closed, which waits for the thread that polls', async () => {
    const channel = new FakeChannel(() => null);
    const engine = new MadEngine(channel, 4);
    const lost = request(engine, 0, 10_000).catch((error: unknown) => error);
    await engine.close();
    expect(String(await lost)).toMatch(/closed/);
    expect([channel.closed, channel.polling]).toEqual([1, 0]);
  });
});

describe('failures', () => {
  const open = async (channel: FakeChannel, fake: FakeOptions = {}, options = OPTIONS) =>
    MadSession.open(fakeUmad(channel, fake), options);
  const quiet = (): FakeChannel => new FakeChannel(() => 'timeout');

  it.each<[string, FakeOptions, Partial<SessionOptions>, FailureCode, RegExp]>([
    ['no device', { names: [] }, {}, 'NO_DEVICE', /no RDMA device/],
    [
      'only the name that libibumad makes up',
      { names: ['mthca0'], madeUp: ['mthca0'] },
      {},
      'NO_DEVICE',
      /no RDMA device/,
    ],
    ['another device', {}, { device: 'mlx5_1' }, 'UNKNOWN_DEVICE', /mlx5_1/],
    ['another port', {}, { device: 'mlx5_0', port: 2 }, 'NO_SUCH_PORT', /no port 2/],
    ['not root', { openError: new NativeCallError('open', 13) }, {}, 'NO_PERMISSION', /EACCES/],
    ['no node', { openError: new NativeCallError('open', 2) }, {}, 'NO_NODE', /does not exist/],
    ['no module', { openError: new NativeCallError('umad_open_port', 95) }, {}, 'NO_MODULE', /ib_umad/],
    ['no umad', { openError: new NativeCallError('umad_open_port', 22) }, {}, 'NO_UMAD', /no umad device/],
    ['gone', { openError: new NativeCallError('open', 6) }, {}, 'OPEN_FAILED', /ENXIO/],
  ])('%s', async (_name, fake, options, code, message) => {
    const failure = await failureOf(open(quiet(), fake, { ...OPTIONS, ...options }));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(message);
    expect(failure.message).not.toContain('mthca0');
    expect(failure.hint).not.toBe('');
  });

  it('a device that the kernel has and libibumad passes over has no umad', async () => {
    const failure = await failureOf(MadSession.open(fakeUmad(quiet(), { names: [] }), OPTIONS, ['rdmap0s6']));
    expect(failure.code).toBe('NO_UMAD');
    expect(failure.message).toContain('rdmap0s6');
  });

  const get = async (
    channel: FakeChannel,
    fake: FakeOptions = {},
    target: Target | null = LID,
    attribute = 'NodeInfo',
  ) => {
    const session = await open(channel, fake);
    const nothing = { mgmtClass: null, modifier: null, portNum: null, inPort: null, block: null };
    return getAttribute(session, { attribute, target, ...nothing }).finally(() => session.close());
  };

  it.each<[string, (channel: FakeChannel) => void, FailureCode, RegExp]>([
    [
      'SMI on a RoCE port',
      (c) => {
        c.registerErrno = 93;
      },
      'REGISTER_FAILED',
      /Ethernet \(RoCE\)/,
    ],
    [
      'the fabric gone on send',
      (c) => {
        c.sendErrno = 5;
      },
      'DEVICE_GONE',
      /went away/,
    ],
    [
      'an impossible address',
      (c) => {
        c.sendErrno = 22;
      },
      'SEND_FAILED',
      /EINVAL/,
    ],
    ['no answer', () => {}, 'TIMED_OUT', /LID 3.*3 attempts of 20 ms \(status 110\)/],
  ])('%s', async (_name, prepare, code, message) => {
    const channel = quiet();
    prepare(channel);
    const failure = await failureOf(get(channel));
    expect([failure.code, failure.message]).toEqual([code, expect.stringMatching(message)]);
    expect(channel.closed).toBe(1);
  });

  it('the fabric gone between request and answer', async () => {
    const channel = new FakeChannel((mad, attempt) => {
      channel.receiveErrno = 5;
      return answerOf(mad, attempt);
    });
    expect((await failureOf(get(channel))).code).toBe('DEVICE_GONE');
  });

  it('a short answer', async () => {
    const channel = new FakeChannel((mad) => (answerOf(mad, 1) as Uint8Array).subarray(0, 100));
    const failure = await failureOf(get(channel));
    expect([failure.code, failure.message]).toEqual(['BAD_REPLY', expect.stringMatching(/36 for it/)]);
  });

  it('no subnet manager, port down', async () => {
    const noSm = { port: { sm_lid: 0, state: 2 } };
    expect((await failureOf(get(quiet(), noSm, null, 'SMInfo'))).code).toBe('NO_SM');
    expect((await failureOf(get(quiet(), { port: { state: 1 } }, null, 'SMInfo'))).code).toBe('PORT_DOWN');
  });

  it.each([
    [0x000c, 'UNSUPPORTED_METHOD_ATTRIB'],
    [0x001c, 'INVALID_ATTRIB_VALUE'],
    [0x0001, 'BUSY'],
  ])('status 0x%s in words', async (status, name) => {
    const result = await get(new FakeChannel(withStatus(status)));
    expect(result.error?.code).toBe('MAD_STATUS');
    expect(result.error?.message).toContain(name);
    expect(result.mad?.status).toEqual({ value: status, name });
    expect(result.fields).toBeNull();
  });

  it('unknown attributes, records and fields name what is near', async () => {
    expect((await failureOf(get(quiet(), {}, LID, 'NodeInof'))).hint).toContain('NodeInfo');
    expect((await failureOf(get(quiet(), {}, LID, 'PathRecord'))).hint).toContain('mad table PathRecord');
    const table = (record: string, selection: string[]) =>
      failureOf(Promise.resolve().then(() => tableQuery({ record, selection, single: false, from: null })));
    expect((await table('PathRecrd', [])).hint).toContain('PathRecord');
    expect((await table('PathRecord', ['dgidd=::1'])).hint).toContain('dgid');
    expect((await table('PathRecord', ['preference=1'])).message).toContain('cannot be chosen by preference');
  });

  it('one silent port does not hide the others', async () => {
    const info = requiredAttribute('NodeInfo', 'subnet');
    const channel = new FakeChannel((mad) => {
      const attribute = (mad[16] ?? 0) * 256 + (mad[17] ?? 0);
      if (attribute === info.id) {
        return encodeMad({
          header: {
            base_version: 1,
            mgmt_class: 1,
            method: 0x81,
            attr_id: info.id,
            tid: new DataView(mad.buffer, mad.byteOffset).getBigUint64(8),
          },
          attribute: info,
          fields: { node_type: 1, num_ports: 3 },
        });
      }
      return mad[23] === 2 ? 'timeout' : answerOf(mad, 1);
    });
    const session = await open(channel);
    const nothing = { mgmtClass: null, modifier: null, portNum: null, inPort: null, block: null };
    const result = await getAllPorts(session, { attribute: 'PortInfo', target: LID, ...nothing });
    expect(result.ports.map(({ error }) => error?.code ?? null)).toEqual([null, 'TIMED_OUT', null]);
    expect(result.error?.code).toBe('TIMED_OUT');
    await session.close();
  });

  it('an interruption closes the port', async () => {
    const channel = new FakeChannel(() => null);
    const interruption = new AbortController();
    const options = { ...OPTIONS, timeoutMs: 10_000 };
    const work = withSession(options, fakeUmad(channel), interruption.signal, (session) =>
      session.ask({
        attribute: requiredAttribute('NodeInfo', 'subnet'),
        mgmtClass: 1,
        method: 1,
        target: LID,
      }),
    );
    setTimeout(() => interruption.abort(), 20);
    expect((await failureOf(work)).code).toBe('INTERRUPTED');
    expect(channel.closed).toBe(1);
  });
});
