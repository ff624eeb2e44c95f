/**
 * The same card under each generation of rdma-core: a short look at each that can be had. test:long runs the whole
 * suite on them.
 */
import { describe, expect, it } from 'vitest';
import { fetchGeneration, GENERATIONS } from '../../../scripts/setup/generations.mjs';
import { OTHER_RDMA_CORE, RELEASE_TEXT } from '../support/generation.ts';
import { lab } from '../support/labs.ts';
import { queryDevice, rdmatool, run } from '../support/rdmatool.ts';

it('says which one it runs on', async () => {
  const { document } = await queryDevice([], { lab: await lab() });
  expect(document.libraries.libibverbs.version).toBe(RELEASE_TEXT);
  console.log(`rdma-core ${RELEASE_TEXT}${OTHER_RDMA_CORE === undefined ? '' : ` in ${OTHER_RDMA_CORE}`}`);
});

/** What one and the same card is said to be able to do. */
const CAPABILITIES = [
  ['RDMA_READ', 27],
  ['CQ_WITH_SGID', 43],
  ['RDMA_WRITE', 46],
  ['UNSOLICITED_WRITE_RECV', 52],
  ['CQ_WITH_EXT_MEM_DMABUF', 59],
] as const;

// A run on one of them looks at that one only.
describe.runIf(OTHER_RDMA_CORE === undefined).each(GENERATIONS)(
  'rdma-core $atLeast or newer, of Debian $suite',
  ({ suite, atLeast }) => {
    it('tells what it knows of a card that can do everything, and no more', async ({ skip }) => {
      const rdmaCore = await fetchGeneration(suite).catch((error: unknown) => skip(String(error)));
      const place = await lab({ rdmaCore, devices: ['rdmap0s6:efa4'], faults: ['rdmap0s6:caps=0xffffffff'] });
      const { status, document } = await queryDevice([], { lab: place });
      expect(status).toBe(0);
      const version = document.libraries.libibverbs.version ?? '';
      const release = Number.parseInt(version, 10);
      expect(release).toBeGreaterThanOrEqual(atLeast);
      console.log(`rdma-core ${version} of Debian ${suite}`);
      expect(place.summary).toContain(`under rdma-core ${version} in ${rdmaCore}`);
      expect(document.libraries.libibverbs.path).toContain(rdmaCore);
      expect(document.libraries.libefa.path).toContain(rdmaCore);
      const [device] = document.devices;
      for (const [name, since] of CAPABILITIES) {
        expect(device?.efa?.caps[name]).toBe(release >= since ? true : null);
        expect(device?.efa?.needs[name]).toBe(release >= since ? undefined : `rdma-core ${since}`);
      }
      const reasons = JSON.stringify([
        device?.unavailable,
        device?.ports[0]?.unavailable,
        device?.efa?.unavailable,
      ]);
      for (const newer of [49, 62, 63, 65]) {
        expect(reasons.includes(`needs rdma-core ${newer};`)).toBe(release < newer);
      }
    });

    it('serves any program, and what that starts', async ({ skip }) => {
      const rdmaCore = await fetchGeneration(suite).catch((error: unknown) => skip(String(error)));
      const place = await lab({ rdmaCore });
      // Its own ibv_devinfo asks for its own C library; those of the system do not.
      const own = await run(['ibv_devinfo'], { lab: place });
      expect(own).toMatchObject({ status: 0, stderr: '' });
      expect(own.stdout).toContain('rdmap0s6');
      const inside = `node -p process.execPath; node -e "console.log(require('child_process').execFileSync(process.execPath, ['-p', '40 + 2']).toString().trim())"; ibv_devices; rdmatool query-device | tail -1; exit 3`;
      const { status, stdout, stderr } = await run(['sh', '-c', inside], { lab: place });
      expect({ status, stderr }).toEqual({ status: 3, stderr: '' });
      const [path = '', answer] = stdout.split('\n');
      expect([path.split('/').at(-1), answer]).toEqual(['node', '42']);
      expect(stdout).toContain('rdmap0s6');
      expect(stdout).toContain(`(${rdmaCore}/`);
      const { stdout: table } = await rdmatool(['gid'], { lab: place });
      expect(table).toMatch(/^rdmap0s6 +1 +0 \* +fe80::/m);
    });
  },
);
