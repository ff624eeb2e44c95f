/** Multicast groups in the lab. */
import { describe, expect, it, vi } from 'vitest';
import { bundleDriver } from './cm/bundle.ts';
import { LEFT, resources, useGuest } from './cm/lab.ts';
import { foreign } from './support/json.ts';

// A guest without KVM on a busy machine is slow.
vi.setConfig({ testTimeout: 240_000 });
const place = useGuest();

interface Joins {
  readonly events: readonly object[];
  readonly again: number;
  readonly before: object;
  readonly after: object;
}

describe('an id', () => {
  it('joins groups as mckey does, and leaves them', async () => {
    const before = await resources(place);
    const { stdout, stderr } = await place.inLab(['node', await bundleDriver(), 'joins', '1']);
    expect(stderr).not.toContain('Error');
    const joined = foreign<Joins>(stdout);
    const dgidOf = async (group: string): Promise<string | undefined> => {
      const mckey = await place.inLab(['mckey', '-m', group, '-b', LEFT, '-s', '-C', '0']);
      return /joined dgid: (\S+) mlid/.exec(mckey.stdout)?.[1];
    };
    expect(joined.events).toEqual([
      {
        name: 'MULTICAST_JOIN',
        status: 0,
        dataLength: 0,
        // <rdma/ib_verbs.h> IB_MULTICAST_QPN; the Q_Key is librdmacm's for UDP.
        qpNum: 0xffffff,
        qkey: 0x01234567,
        dgid: await dgidOf('239.9.1.1'),
      },
      expect.objectContaining({ name: 'MULTICAST_JOIN', status: 0, dgid: await dgidOf('239.9.1.2') }),
    ]);
    // EADDRNOTAVAIL: the group has been left.
    expect(joined.again).toBe(99);
    expect(joined.after).toEqual(joined.before);
    expect(await resources(place)).toBe(before);
  });
});
