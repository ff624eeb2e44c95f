import { describe, expect, it } from 'vitest';
import { ibvWc } from '../../../src/abi/verbs-work.ts';
import { senderGid } from '../../../src/cm/global-route.ts';

const completion = (wc_flags: number) => ibvWc.decode(ibvWc.encode({ wc_flags }));

describe('the sender of a datagram', () => {
  it('is in the IPv4 header at the end of the room, over RoCE v2', () => {
    const header = new Uint8Array(40);
    // 20 bytes of an IPv4 header from 20 on (RFC 791): version and length, then the source at 12 of them.
    header[20] = 0x45;
    header.set([10, 9, 0, 1], 32);
    header.set([10, 9, 1, 1], 36);
    expect(senderGid(completion(1), header)).toBe('::ffff:10.9.0.1');
  });

  it('is in the global route header over InfiniBand and RoCE over IPv6', () => {
    const header = new Uint8Array(40);
    // IBTA volume 1, 8.3: IPVer 6 in the first four bits, the source GID at 8.
    header[0] = 0x60;
    header.set([0xfd, 0x09, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 8);
    expect(senderGid(completion(1), header)).toBe('fd09::1');
  });

  it('is not told without IBV_WC_GRH', () => {
    expect(senderGid(completion(0), new Uint8Array(40))).toBeNull();
  });
});
