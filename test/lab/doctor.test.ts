/** `rdmatool doctor` on simulated EFA cards with faults, on a simulated InfiniBand fabric, and on this machine. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CheckId, DoctorResult } from '../../src/model/doctor.ts';
import { product } from './support/json.ts';
import { lab, withFaults } from './support/labs.ts';
import { RDMATOOL, rdmatool, rdmatoolJson } from './support/rdmatool.ts';
import { checkDocument } from './support/schemas.ts';

function asDoctor(document: ReturnType<typeof checkDocument>): DoctorResult {
  if (document.schema !== 'rdmatool/doctor/1') throw new Error(document.schema);
  return document;
}

/** `doctor --json`: the document and the exit status, which follows from it. */
async function doctor(args: readonly string[], options: Parameters<typeof rdmatoolJson>[1]) {
  const { status, document, stderr } = await rdmatoolJson(['doctor', ...args], options);
  const result = asDoctor(document);
  expect(stderr).toBe('');
  expect(status).toBe(result.counts.failure > 0 ? 1 : 0);
  return result;
}

const checksOf = (result: DoctorResult, id: CheckId) => result.checks.filter((check) => check.id === id);
const rootOf = (result: DoctorResult) =>
  result.checks.find(
    ({ id, subject, status }) =>
      status === 'failure' && id === result.root_cause?.id && subject === result.root_cause.subject,
  );

describe.concurrent('EFA', () => {
  it('a card with everything: what it can do, and that the network is not to be seen', async () => {
    const result = await doctor(['--for', 'efa'], { lab: await lab({ devices: ['rdmap0s6:efa2'] }) });
    expect(result.counts.failure).toBe(0);
    const query = await rdmatoolJson(['query-device'], { lab: await lab({ devices: ['rdmap0s6:efa2'] }) });
    if (query.document.schema !== 'rdmatool/query-device/1') throw new Error(query.document.schema);
    const [device] = query.document.devices;
    expect(checksOf(result, 'efa-capabilities')[0]?.fact).toBe(`rdmap0s6: ${device?.efa?.verdict}`);
    expect(checksOf(result, 'efa-network')).toMatchObject([{ status: 'skipped' }]);
  });

  it.each<[fault: string, root: CheckId, fact: RegExp, repair: RegExp]>([
    [
      'no-driver',
      'card',
      /Elastic Fabric Adapter \(0xefa2\) and has no driver: the module efa/,
      /modprobe efa|aws-efa-installer/,
    ],
    ['no-device', 'card', /no RDMA card here/, /rdmatool lab run efa/],
    ['rdmap0s6:open=EMFILE', 'uverbs-node', /too many open files/, /ulimit -n/],
    ['no-module', 'ib_uverbs', /module ib_uverbs is not/, /ib_uverbs/],
    [
      'rdmap0s6:no-node',
      'uverbs-node',
      /\/dev\/infiniband\/uverbs0 does not exist/,
      /--device=|udevadm trigger/,
    ],
    [
      'rdmap0s6:open=EPERM',
      'uverbs-node',
      /may not open \/dev\/infiniband\/uverbs0: EPERM \(1\)/,
      /--device=/,
    ],
    [
      'rdmap0s6:open=EACCES',
      'uverbs-node',
      /EACCES \(13\).*mode 0600, owner root:root/,
      /SELinux|run as root/,
    ],
    ['no-provider', 'open', /libibverbs has no provider for it/, /install/],
    ['hide-library=libibverbs.so.1', 'libibverbs', /libibverbs\.so\.1 is not installed/, /install/],
    ['rdmap0s6:context=EIO', 'open', /rdmap0s6.*EIO/, /dmesg/],
    ['rdmap0s6:query-device=EIO', 'open', /rdmap0s6.*EIO \(5\)/, /dmesg/],
  ])('%s is the root cause', async (fault, root, fact, repair) => {
    const place = await withFaults(fault);
    const result = await doctor([], { lab: place });
    expect(rootOf(result)).toMatchObject({ id: root, status: 'failure' });
    expect(rootOf(result)?.fact).toMatch(fact);
    expect(rootOf(result)?.repair).toMatch(repair);
    const { status, stdout, stderr } = await rdmatool(['doctor'], { lab: place });
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    // The first line that is read is the root.
    expect(stdout.split('\n')[0]).toBe(`Root cause: ${rootOf(result)?.fact}`);
    expect(stdout).toContain(`next: ${rootOf(result)?.repair}`);
  });

  it('libefa hidden: a warning, and a failure where EFA is wanted', async () => {
    const place = await withFaults('hide-library=libefa.so.1');
    const [all, efa] = await Promise.all([
      doctor([], { lab: place }),
      doctor(['--for', 'efa'], { lab: place }),
    ]);
    expect(checksOf(all, 'libefa')).toMatchObject([{ status: 'warning', subject: 'libefa.so.1' }]);
    expect(efa.root_cause).toEqual({ id: 'libefa', subject: 'libefa.so.1' });
  });

  it('capability bits decide, not the part id', async () => {
    const result = await doctor(['--for', 'efa'], { lab: await withFaults('rdmap0s6:caps=0') });
    expect(checksOf(result, 'efa-capabilities')[0]?.fact).toMatch(/RDMA read no/);
  });

  it('one card of 32 without its node is named, and the others are good', async () => {
    const place = await lab({ instance: 'p5.48xlarge', faults: ['rdmap80s0:no-node'] });
    const result = await doctor([], { lab: place });
    expect(result.root_cause).toEqual({ id: 'uverbs-node', subject: 'rdmap80s0' });
    expect(result.counts.failure).toBe(1);
    expect(checksOf(result, 'open').filter(({ status }) => status === 'ok')).toHaveLength(31);
  });

  it('a GUID of 0 is a driver before 2.12', async () => {
    const result = await doctor(['--for', 'efa'], { lab: await withFaults('rdmap0s6:guid=0') });
    expect(checksOf(result, 'efa-driver')[0]?.fact).toContain('older than 2.12');
  });

  it('EFA has no connection manager, and an address is not tried', async () => {
    const result = await doctor(['--for', 'cm'], { lab: await lab({ devices: ['rdmap0s6:efa2'] }) });
    expect(rootOf(result)?.fact).toContain('EFA has no connection manager');
    expect(rootOf(result)?.repair).toContain('libfabric');
  });

  it('an address goes with cm alone', async () => {
    const { status, stderr } = await rdmatool(['doctor', '--for', 'mad', '10.0.0.1']);
    expect(status).toBe(2);
    expect(stderr).toContain('an address goes with --for cm');
  });
});

describe('InfiniBand', () => {
  const inFabric = async (args: readonly string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'rdmatool-ib-doctor-'));
    try {
      const { status, stdout, stderr } = await rdmatool(
        ['lab', 'run', 'ib', ...args, '--', 'rdmatool', 'doctor', '--for', 'mad', '--json'],
        { cwd: folder },
      );
      return { status, stderr, result: asDoctor(checkDocument(stdout)) };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it('a fabric with a subnet manager: LID, subnet manager, and the node opens', async () => {
    const { status, stderr, result } = await inFabric([]);
    expect(status, stderr).toBe(0);
    expect(result.counts.failure).toBe(0);
    expect(checksOf(result, 'port')[0]?.fact).toMatch(
      /^ibsim0\/1 is ACTIVE.*LID [1-9]\d*, subnet manager at LID [1-9]/,
    );
    expect(checksOf(result, 'umad-node')).toMatchObject([{ status: 'ok', subject: 'ibsim0/1' }]);
  });

  it('a cable that is pulled is the root cause', async () => {
    const { status, result } = await inFabric(['--fault', 'H2:1:unlink']);
    expect(status).toBe(1);
    expect(result.root_cause).toEqual({ id: 'port', subject: 'ibsim0/1' });
    expect(rootOf(result)?.fact).toMatch(/DOWN.*no link/);
  });
});

const hasDevices = (): boolean => {
  try {
    return readdirSync('/sys/class/infiniband').length > 0;
  } catch {
    return false;
  }
};

it('in lab ib it looks at what there is: management datagrams', async () => {
  const { status, stdout, stderr } = await rdmatool([
    ...['lab', 'run', 'ib', '--', process.execPath, RDMATOOL, 'doctor', '--json'],
  ]);
  expect(status, stderr).toBe(0);
  expect(product(stdout)).toMatchObject({ for: 'mad', root_cause: null, counts: { failure: 0 } });
});

it('a lab that cannot keep what it builds says where, and what to set', async () => {
  const { status, stderr } = await rdmatool(['lab', 'run', 'efa', '--', 'true'], {
    env: { XDG_CACHE_HOME: '/dev/null' },
  });
  expect(status).toBe(77);
  expect(stderr).toMatch(/^rdmatool: .* in \/dev\/null\/rdmatool: ENOTDIR\nnext: set XDG_CACHE_HOME/);
});

describe.skipIf(hasDevices())('this machine, without RDMA hardware', () => {
  it('says what is missing first, and everything above is moot', async () => {
    const result = await doctor([], {});
    expect(result.counts.failure).toBe(1);
    const above = result.checks.slice(result.checks.findIndex(({ status }) => status === 'failure') + 1);
    for (const { id, status } of above.filter(({ id }) => id !== 'libibverbs'))
      expect(status, id).toBe('skipped');
  });

  it('-v shows every check, and a pipe gets no escape codes', async () => {
    const { stdout } = await rdmatool(['doctor', '-v']);
    expect(stdout).not.toContain('\u001b');
    for (const check of ['sysfs', 'ib_core', 'open', 'umad-node'])
      expect(stdout).toMatch(new RegExp(`^\\w+ +${check} `, 'm'));
  });
});
