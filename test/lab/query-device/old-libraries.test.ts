/** Libraries of other releases than the one that is installed, and drivers that lack a call. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addFake, type Fakes, fakeDirectory } from '../support/fakes.ts';
import { lab, testFolder } from '../support/labs.ts';
import { queryDevice, rdmatool } from '../support/rdmatool.ts';

interface Libraries {
  readonly verbs?: number;
  readonly verbsDefines?: readonly string[];
  readonly efa?: number;
  readonly efaDefines?: readonly string[];
}

function fakes({ verbs = 44, verbsDefines = [], efa = 44, efaDefines = [] }: Libraries): Fakes {
  const made = fakeDirectory();
  addFake(made, 'verbs', verbs, verbsDefines);
  addFake(made, 'efa', efa, efaDefines);
  return made;
}

async function query(libraries: Libraries) {
  const { env } = fakes(libraries);
  const outcome = await queryDevice([], { lab: await lab(), env });
  const [device] = outcome.document.devices;
  if (!device) throw new Error(outcome.stderr);
  return { ...outcome, env, device };
}

describe.concurrent('libibverbs', () => {
  it.each([
    ['contexts without a verbs_context, as before 2013', 'OLD_CONTEXT', false],
    ['a verbs_context that ends below the ops', 'SMALL_CONTEXT', false],
    ['a driver without query_device_ex', 'NO_EX', true],
    ['a driver whose query_device_ex is not supported', 'EX_ERRNO=EOPNOTSUPP', true],
    ['a kernel without the extended call', 'EX_ERRNO=ENOSYS', true],
  ])('%s: the older calls answer', async (_what, define, hasPortOp) => {
    const whole = await query({});
    const { status, device } = await query({ verbsDefines: [define] });
    expect(status).toBe(0);
    expect(device.attributes).toEqual(whole.device.attributes);
    expect(device.attributes_ex).toBeNull();
    expect(device.unavailable['attributes_ex']).toContain('ibv_query_device_ex');
    // The exported ibv_query_port fills 48 bytes; what lies beyond is not known, and not 0.
    for (const [index, port] of device.ports.entries()) {
      const other = whole.device.ports[index];
      if (hasPortOp) expect(port).toEqual(other);
      else {
        expect(port).toMatchObject({ state: other?.state, flags: other?.flags, port_cap_flags2: null });
        expect(port.unavailable['port_cap_flags2']).toContain('ibv_query_port');
      }
    }
  });

  it('a driver that fails: no older call hides it', async () => {
    const { status, device } = await query({ verbsDefines: ['EX_ERRNO=EIO'] });
    expect(status).toBe(1);
    expect(device.error).toMatchObject({ code: 'QUERY_FAILED', errno: { name: 'EIO' } });
  });

  it('ibv_open_device fails and leaves no errno', async () => {
    const { status, device, stderr } = await query({ verbsDefines: ['OPEN_ERRNO=0'] });
    expect(status).toBe(1);
    expect(device.error).toMatchObject({ code: 'OPEN_FAILED', errno: null });
    expect(stderr).toContain('ibv_open_device: it leaves no errno');
  });

  it.each([
    [31, ['rdma-core 49', 'rdma-core 62', 'rdma-core 65']],
    [48, ['rdma-core 49', 'rdma-core 62', 'rdma-core 65']],
    [49, ['rdma-core 62', 'rdma-core 65']],
    [62, ['rdma-core 65']],
    [65, []],
  ])('of rdma-core %i: what it cannot tell is null, with the release that can', async (release, needed) => {
    const { status, device, document } = await query({ verbs: release });
    expect(status).toBe(0);
    expect(document.libraries.libibverbs.version).toBe(`${release}.0`);
    const [first, second] = device.ports;
    const reasons = [...Object.values(first?.unavailable ?? {}), ...Object.values(device.unavailable)];
    for (const need of ['rdma-core 49', 'rdma-core 62', 'rdma-core 65'].filter(
      (one) => !needed.includes(one),
    )) {
      expect(reasons.join()).not.toContain(need);
    }
    for (const need of needed) expect(reasons.join()).toContain(need);
    expect(first?.effective_speed_gbps).toBe(release >= 62 ? 799.5 : null);
    expect(device.comp_cntr_caps).toEqual(
      release >= 65
        ? {
            max_value: `${(0x76543210n << 32n) | 0xfedcba98n}`,
            max_counters: 1234,
            supported_qp_attach_ops: {
              value: '0x8000003f',
              flags: ['SEND', 'RECV', 'RDMA_READ', 'REMOTE_RDMA_READ', 'RDMA_WRITE', 'REMOTE_RDMA_WRITE'],
              unknown: '0x80000000',
            },
          }
        : null,
    );
    // XDR does not fit the eight bits of active_speed: from 49 on there are 32.
    expect(first).toMatchObject(
      release >= 49
        ? { active_speed: { value: 128 }, active_speed_ex: { value: 256, name: 'XDR' }, rate_gbps: 800 }
        : { active_speed: { value: 128, name: 'NDR' }, active_speed_ex: null, rate_gbps: 400 },
    );
    if (release >= 62) {
      expect(second).toMatchObject({ effective_speed_gbps: null });
      expect(second?.unavailable['effective_speed_gbps']).toContain('EOPNOTSUPP (95)');
    }
  });

  it('the effective speed stands in the table where it differs', async () => {
    const { env } = await query({ verbs: 65 });
    const { stdout } = await rdmatool(['query-device'], { lab: await lab(), env });
    expect(stdout).toMatch(/Port 1 .*800 Gb\/s \(4X XDR\), effective 799\.5 Gb\/s/);
  });

  it.each([
    ['all goes well', [], 3],
    ['the older calls answer', ['OLD_CONTEXT'], 3],
    ['a query fails', ['EX_ERRNO=EIO'], 3],
    ['nothing opens', ['OPEN_ERRNO=EIO'], 0],
  ])(
    'every context is closed, and the list freed after them, when %s',
    async (_what, verbsDefines, count) => {
      const { env } = fakes({ verbsDefines });
      const report = join(testFolder(), `calls-${verbsDefines.join('')}`);
      const names = ['rdmap0s6', 'rdmap1s6', 'rdmap2s6'];
      await queryDevice([], {
        lab: await lab({ devices: names.map((name) => `${name}:efa2`) }),
        env: { ...env, FAKE_VERBS_DEVICES: names.join(), FAKE_VERBS_REPORT: report },
      });
      const calls = readFileSync(report, 'utf8');
      expect(calls).toMatch(/^L[Cc]*l$/);
      expect([calls.split('C').length - 1, calls.split('c').length - 1]).toEqual([count, count]);
    },
  );
});

describe.concurrent('libefa', () => {
  const CAPS = [
    ['RDMA_READ', 27],
    ['RNR_RETRY', 32],
    ['CQ_WITH_SGID', 43],
    ['RDMA_WRITE', 46],
    ['UNSOLICITED_WRITE_RECV', 52],
    ['CQ_WITH_EXT_MEM_DMABUF', 59],
    ['COMP_CNTR', 65],
  ] as const;

  it.each([26, 27, 44, 46, 56, 63, 65])('of rdma-core %i: unknown is never no', async (release) => {
    const { status, device, env } = await query({ efa: release });
    expect(status).toBe(0);
    for (const [name, since] of CAPS) {
      expect(device.efa?.caps[name]).toBe(release >= since ? true : null);
      expect(device.efa?.needs[name]).toBe(release >= since ? undefined : `rdma-core ${since}`);
    }
    expect(device.efa).toMatchObject({ max_sq_wr: 4101, max_rq_wr: 32769, inlen: 32 });
    expect(device.efa?.max_rdma_size).toBe(release >= 27 ? 2 ** 30 : null);
    expect(device.efa?.inline_buf_size_ex).toBe(release >= 63 ? 49 : null);
    expect(device.efa?.max_sq_depth).toBe(release >= 63 ? 4095 : null);
    expect(device.efa?.max_rq_depth).toBeNull();
    expect(device.efa?.unavailable['max_rq_depth']).toContain(
      release >= 63 ? 'EOPNOTSUPP (95)' : 'rdma-core 63',
    );
    const { stdout } = await rdmatool(['query-device'], { lab: await lab(), env });
    const [read, write] = [release >= 27 ? 'yes' : 'unknown', release >= 46 ? 'yes' : 'unknown'];
    expect(stdout).toMatch(new RegExp(`EFA +RDMA read ${read}, RDMA write ${write}`));
    expect(stdout.includes('up to 1 GiB')).toBe(release >= 27);
    expect(stdout.includes(`(libefa ${release}.0 cannot tell, rdma-core 46 can)`)).toBe(release < 46);
  });

  it('before rdma-core 26 has no efadv_query_device', async () => {
    const { status, device } = await query({ efa: 25 });
    expect(status).toBe(69);
    expect(device.error).toMatchObject({ code: 'NO_SYMBOL' });
    expect(device.error?.hint).toContain('rdma-core 26');
  });

  it('of a time to come takes no shorter structure than its own: it is offered a longer one', async () => {
    const { status, device } = await query({ efa: 70, efaDefines: ['NEEDS=45'] });
    expect(status).toBe(0);
    expect(device.efa).toMatchObject({ inlen: 48, max_sq_wr: 4101 });
  });

  it('that takes none at all: its errno, and the rest of the device', async () => {
    const { status, device } = await query({ efaDefines: ['NEEDS=100000'] });
    expect(status).toBe(1);
    expect(device.error).toMatchObject({ code: 'QUERY_FAILED', errno: { name: 'EINVAL' } });
    expect(device.ports.length).toBe(2);
  });

  it('a second copy, which does not know the device that the driver says is EFA', async () => {
    const { status, device } = await query({ efaDefines: ['RESULT=EOPNOTSUPP'] });
    expect(status).toBe(1);
    expect(device).toMatchObject({
      efa: null,
      error: { code: 'QUERY_FAILED', errno: { name: 'EOPNOTSUPP' } },
    });
    expect(device.error?.hint).toContain('second copy of libefa');
  });
});
