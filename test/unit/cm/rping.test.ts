import { describe, expect, it } from 'vitest';
import { durations } from '../../../src/cm/durations.ts';
import { PingText, rpingMessage } from '../../../src/cm/rping.ts';

const text = (size: number, index: number, terminated = true): string => {
  const bytes = new Uint8Array(size).fill(0xee);
  new PingText(size).write(index, bytes, terminated);
  return Buffer.from(bytes).toString('latin1');
};

describe('the text of a ping', () => {
  it('is that of rping -v', () => {
    // As rping 44 prints it for -S 40: the second begins with another letter.
    expect(text(40, 0)).toBe('rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ\0');
    expect(text(40, 1)).toBe('rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\0');
  });

  it('has no NUL but the last byte, whatever its size, and only letters of A to z', () => {
    for (const size of [2, 13, 14, 26, 64, 1000]) {
      const written = text(size, 123456);
      expect(written).toHaveLength(size);
      expect(written.indexOf('\0')).toBe(size - 1);
    }
    expect(text(1, 5)).toBe('\0');
  });

  it('tells neighbours apart where there is no room for the number', () => {
    const texts = [0, 1, 2, 57].map((index) => text(1, index, false));
    expect(new Set(texts).size).toBe(4);
  });
});

describe('the message', () => {
  it('has the byte order of the network', () => {
    // be64 address, be32 rkey, be32 size: librdmacm/examples/rping.c, struct rping_rdma_info.
    const bytes = rpingMessage.encode({ address: 0x0102030405060708n, rkey: 0x0a0b0c0d, size: 64 });
    expect(Buffer.from(bytes).toString('hex')).toBe('01020304050607080a0b0c0d00000040');
  });
});

describe('durations', () => {
  it('are minimum, median, p99 and maximum in microseconds', () => {
    const times = Array.from({ length: 100 }, (_, index) => (100 - index) / 1000);
    expect(durations(times)).toEqual({ min_us: 1, median_us: 50, p99_us: 99, max_us: 100 });
    expect(durations([2])).toEqual({ min_us: 2000, median_us: 2000, p99_us: 2000, max_us: 2000 });
    expect(durations([])).toBeNull();
  });
});
