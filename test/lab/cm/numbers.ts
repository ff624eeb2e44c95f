/** Many connections in one process, at once and one after another, and processes that are killed: nothing is left. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Place } from '../roce/tools.ts';
import { foreign } from '../support/json.ts';
import { bundleDriver } from './bundle.ts';
import { killConnected } from './kills.ts';
import { type BACKENDS, resources } from './lab.ts';

interface Counts {
  readonly codes?: Readonly<Record<string, number>>;
  readonly failure?: unknown;
  readonly events?: Readonly<Record<string, number>>;
  readonly established?: number;
  readonly serverMs?: number;
  readonly longestTickMs: number;
  readonly before: object;
  readonly after: object;
}

/** How many of each. */
export interface Numbers {
  readonly connects: number;
  readonly rejects: number;
  readonly atOnce: number;
  readonly untaken: number;
  readonly kills: number;
}

/** Declares the tests. */
export function inNumbers(
  place: Place,
  backend: (typeof BACKENDS)[number]['backend'],
  { connects, rejects, atOnce, untaken, kills }: Numbers,
): void {
  describe('in numbers', { timeout: 300_000 }, () => {
    let driver = '';
    beforeAll(async () => {
      driver = await bundleDriver();
    });
    const drive = async (kind: string, count: number): Promise<Counts> => {
      const { stdout, stderr } = await place.inLab(['node', driver, kind, String(count), backend]);
      expect(stdout, stderr).not.toBe('');
      const counts = foreign<Counts>(stdout);
      expect(counts.after).toEqual(counts.before);
      // An emulated machine that is busy stops for a while now and then; a call that waits in C takes seconds.
      expect(counts.longestTickMs).toBeLessThan(2000);
      return counts;
    };

    it(`${connects} connects in one process`, async () => {
      expect(await drive('connects', connects)).toMatchObject({
        codes: { DONE: connects },
        failure: null,
        events: { RDMA_CM_EVENT_ESTABLISHED: connects, RDMA_CM_EVENT_DISCONNECTED: connects },
      });
    });

    it(`${rejects} rejects in one process`, async () => {
      expect(await drive('rejects', rejects)).toMatchObject({ codes: { REJECTED: rejects }, failure: null });
    });

    it(`${atOnce} at once to one listener`, async () => {
      expect(await drive('concurrent', atOnce)).toMatchObject({ established: atOnce, failure: null });
    });

    it('ids with events that nobody took are destroyed at once', async () => {
      expect((await drive('pending', untaken)).serverMs).toBeLessThan(2000);
    });

    it(`${kills} listeners and clients that are killed`, () =>
      killConnected(place, kills, 200_000, backend === 'kernel' ? ['--backend', 'kernel'] : []));

    it('nothing is left', async () => {
      expect(await resources(place)).toMatch(
        /^rxe0: .* cm_id 0 .* ctx 0 .*\nrxe1: .* cm_id 0 .* ctx 0 .*\n$/,
      );
    });
  });
}
