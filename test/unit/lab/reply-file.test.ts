import { describe, expect, it } from 'vitest';
import { encodeReplyFile, type ReplyFile } from '../../../src/lab/efa/reply-file.ts';

/** The file's numbers, as the structures of interpose.c lie in it. */
function reader(file: Uint8Array) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const u16 = (at: number) => view.getUint16(at, true);
  const u32 = (at: number) => view.getUint32(at, true);
  const u64 = (at: number) => view.getBigUint64(at, true);
  const text = (at: number) => Buffer.from(file.subarray(at, file.indexOf(0, at))).toString();
  return { u16, u32, u64, text };
}

const EMPTY: ReplyFile = { devices: [], redirects: [], hidden: [], netlink: [] };
const NODE = { major: 231, minor: 192, mode: 0o666, nodeErrno: 0, accessErrno: 0, openErrno: 0 };

describe('encodeReplyFile', () => {
  it('begins with the mark, the version and its own size', () => {
    const file = encodeReplyFile(EMPTY);
    const { u32, text } = reader(file);
    expect(text(0)).toBe('RDMALAB');
    expect([u32(8), u32(12)]).toEqual([1, file.length]);
    expect([u32(16), u32(24), u32(32), u32(40)]).toEqual([0, 0, 0, 0]);
  });

  it('holds devices with their node and faults', () => {
    const device = { ...NODE, node: 7, nodeErrno: 2, accessErrno: 13, openErrno: 19, calls: [] };
    const { u32 } = reader(encodeReplyFile({ ...EMPTY, devices: [{ ...device, node: 6 }, device] }));
    expect(u32(16)).toBe(2);
    const second = u32(20) + 36;
    expect([0, 4, 8, 12, 16, 20, 24, 28].map((at) => u32(second + at))).toEqual([
      7, 231, 192, 0o666, 2, 13, 19, 0,
    ]);
  });

  it('sorts replies by key and keeps those of one key in order', () => {
    const reply = (key: number[], errno: number) => ({ key, errno });
    const call = {
      object: 3,
      method: 6,
      keyAttributes: [0, 1],
      otherwise: 22,
      replies: [reply([2, 0], 5), reply([1, 300], 4), { ...reply([1, 2], 2), uses: 1 }, reply([1, 2], 3)],
    };
    const { u16, u32, u64 } = reader(
      encodeReplyFile({ ...EMPTY, devices: [{ ...NODE, node: 0, calls: [call] }] }),
    );
    const device = u32(20);
    expect(u32(device + 28)).toBe(1);
    const at = u32(device + 32);
    expect([u16(at), u16(at + 2), u16(at + 4), u16(at + 6), u32(at + 8), u32(at + 12)]).toEqual([
      3, 6, 0, 1, 22, 4,
    ]);
    const replies = u32(at + 16);
    expect([0, 1, 2, 3].map((index) => u32(replies + index * 40 + 24))).toEqual([2, 3, 4, 5]);
    expect([u64(replies), u64(replies + 8), u32(replies + 16)]).toEqual([1n, 2n, 1]);
  });

  it('says which bytes go into which attribute', () => {
    const outputs = [
      {
        attribute: 1,
        bytes: Uint8Array.of(1, 2, 3, 4, 5),
        atLeast: { bytes: 4, errno: 28 },
        lengthAt: 0,
        serialWords: [0, 2],
      },
      { attribute: 9, descriptor: true as const },
    ];
    const call = {
      object: 0,
      method: 0,
      keyAttributes: [],
      otherwise: 95,
      replies: [{ key: [], delayUs: 7, outputs }],
    };
    const file = encodeReplyFile({ ...EMPTY, netlink: [call] });
    const { u16, u32 } = reader(file);
    expect(u32(40)).toBe(1);
    const at = u32(44);
    // No key attribute.
    expect([u16(at + 4), u16(at + 6)]).toEqual([0xffff, 0xffff]);
    const reply = u32(at + 16);
    expect([u32(reply + 20), u32(reply + 24), u32(reply + 28)]).toEqual([7, 0, 2]);
    const [first, second] = [u32(reply + 32), u32(reply + 32) + 32];
    expect([u16(first), u16(first + 2), u32(first + 4)]).toEqual([1, 0, 5]);
    expect([...file.subarray(u32(first + 8), u32(first + 8) + 5)]).toEqual([1, 2, 3, 4, 5]);
    expect([u32(first + 12), u32(first + 16), u32(first + 20), u32(first + 24)]).toEqual([4, 28, 0, 5]);
    expect([u16(second), u16(second + 2), u32(second + 20)]).toEqual([9, 1, 0xffffffff]);
  });

  it('holds redirects and what is hidden', () => {
    const { u32, text } = reader(
      encodeReplyFile({
        ...EMPTY,
        redirects: [{ from: '/dev/ä', to: '/t/dev' }],
        hidden: [
          { kind: 'symbol', name: 'f' },
          { kind: 'library prefix', name: 'libefa' },
        ],
      }),
    );
    const redirect = u32(28);
    expect(u32(24)).toBe(1);
    // Bytes, not characters.
    expect([text(u32(redirect)), u32(redirect + 4), text(u32(redirect + 8))]).toEqual([
      '/dev/ä',
      7,
      '/t/dev',
    ]);
    const hidden = u32(36);
    expect([u32(hidden), text(u32(hidden + 4)), u32(hidden + 8), text(u32(hidden + 12))]).toEqual([
      0,
      'f',
      2,
      'libefa',
    ]);
  });
});
