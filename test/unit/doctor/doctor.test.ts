/** `doctor` on recorded machines: the root cause, its repair, and that nothing moot is a failure of its own. */
import { describe, expect, it } from 'vitest';
import { efadvDeviceAttr } from '../../../src/abi/efadv.ts';
import { ibvDeviceAttr } from '../../../src/abi/verbs.ts';
import { TransportType } from '../../../src/abi/verbs-codes.ts';
import { parseEndpoint } from '../../../src/cm/address.ts';
import { failedDevice } from '../../../src/devices/device.ts';
import { efaCapabilities, efaVerdict } from '../../../src/devices/efa.ts';
import { notListed } from '../../../src/devices/failures.ts';
import { readSysfsDevice, sysfsDeviceNames } from '../../../src/devices/sysfs-device.ts';
import { CHECKS } from '../../../src/doctor/checks.ts';
import { examine } from '../../../src/doctor/examine.ts';
import { Failure } from '../../../src/explain/failure.ts';
import { CHECK_IDS, type CheckId, type DoctorPurpose, type DoctorResult } from '../../../src/model/doctor.ts';
import type { Device } from '../../../src/model/query-device.ts';
import { renderBlocks } from '../../../src/output/blocks.ts';
import { createStyle } from '../../../src/output/style.ts';
import { doctorView } from '../../../src/views/doctor.ts';
import { type Recorded, recordedMachine } from '../devices/recorded.ts';
import {
  AS_USER,
  CONTAINER_TEXTS,
  EFA_CARD_ALONE,
  EFA_GOOD,
  IB_WITHOUT_SM,
  REFUSED,
  ROCE_DOWN,
  ROCE_GOOD,
  without,
} from './recorded-machines.ts';

interface Looked {
  readonly purpose?: DoctorPurpose;
  readonly address?: string;
  /** libibverbs has no provider. */
  readonly noProvider?: boolean;
}

/** A card that can read and not write, as libefa of rdma-core 56 tells. */
const capabilities = efaCapabilities(1, '56.1');
const recordedEfa: Device['efa'] = {
  ...efadvDeviceAttr.toJson(efadvDeviceAttr.decode(new Uint8Array(efadvDeviceAttr.size))),
  ...capabilities,
  inlen: 32,
  max_sq_depth: null,
  max_rq_depth: null,
  verdict: efaVerdict(capabilities, 2 ** 30, '56.1'),
  unavailable: {},
};

/** What libibverbs would tell: the ports are sysfs's. */
function answers(recorded: Recorded, noProvider: boolean): Device[] {
  const machine = recordedMachine(recorded);
  return (sysfsDeviceNames(machine) ?? []).map((name) => {
    const sysfs = readSysfsDevice(machine, name);
    if (noProvider) return failedDevice(machine, name, sysfs, notListed(machine, name, sysfs, null));
    const device = failedDevice(machine, name, sysfs, new Failure('QUERY_FAILED', 'not recorded', ''));
    const attributes = ibvDeviceAttr.toJson(ibvDeviceAttr.decode(new Uint8Array(ibvDeviceAttr.size)));
    const efa = sysfs.driver === 'efa' ? recordedEfa : null;
    return { ...device, error: null, attributes, transport: TransportType.show(0), efa };
  });
}

const look = (
  recorded: Recorded,
  { purpose, address, noProvider = false }: Looked = {},
): Promise<DoctorResult> =>
  examine(
    { purpose: purpose ?? null, peer: address === undefined ? null : parseEndpoint(address) },
    {
      machine: recordedMachine(recorded),
      queryDevices: async () => ({
        schema: 'rdmatool/query-device/1',
        error: null,
        libraries: {
          libibverbs: { path: null, version: null, unavailable: {} },
          libefa: { path: null, version: null, unavailable: {} },
        },
        devices: answers(recorded, noProvider),
      }),
      connect: () => Promise.reject(new Error('nobody connects here')),
    },
  );

const found = (result: DoctorResult, id: CheckId) => result.checks.filter((check) => check.id === id);
const failures = (result: DoctorResult) =>
  result.checks.filter(({ status }) => status === 'failure').map(({ id }) => id);
const text = (result: DoctorResult, width: number | null = 80): string =>
  renderBlocks(doctorView(result, { verbose: false }), { style: createStyle(false), width });

interface Case extends Looked {
  readonly what: string;
  readonly recorded: Recorded;
  readonly root: CheckId;
  readonly fact: RegExp;
  readonly repair: RegExp;
  /** All failures; the root alone if not given. */
  readonly failures?: readonly CheckId[];
}

const NOTHING = 'cannot open shared object file: No such file or directory';

const CASES: readonly Case[] = [
  {
    what: 'no hardware at all',
    recorded: { directories: ['class/net/eth0'], files: { 'bus/pci/devices/0000:00:01.0/vendor': '0x1af4' } },
    root: 'card',
    fact: /no RDMA card here: none of the 1 PCI functions/,
    repair: /rdma link add rxe0 type rxe netdev eth0/,
  },
  {
    what: 'an EC2 instance without an EFA interface',
    recorded: { directories: ['class/net'], files: { 'class/dmi/id/sys_vendor': 'Amazon EC2' } },
    root: 'card',
    fact: /this EC2 instance has no EFA interface/,
    repair: /--interface-type efa/,
  },
  {
    what: 'an EFA function without the driver',
    recorded: EFA_CARD_ALONE,
    root: 'card',
    fact: /PCI 0000:00:06\.0 is an Elastic Fabric Adapter \(0xefa2\) and has no driver: the module efa is not loaded/,
    repair: /^modprobe efa$/,
  },
  {
    what: 'the same, with a kernel that has no efa',
    recorded: {
      ...EFA_CARD_ALONE,
      texts: { ...EFA_CARD_ALONE.texts, '/lib/modules/6.8.0-1018-aws/modules.dep': 'kernel/fs/xfs/xfs.ko:' },
    },
    root: 'card',
    fact: /efa is not installed for this kernel \(6\.8\.0-1018-aws\)/,
    repair: /aws-efa-installer/,
  },
  {
    what: 'a blacklisted module',
    recorded: {
      ...EFA_CARD_ALONE,
      texts: { ...EFA_CARD_ALONE.texts, '/etc/modprobe.d/no-efa.conf': '# out\nblacklist efa\n' },
    },
    root: 'card',
    fact: /efa is blacklisted \(\/etc\/modprobe\.d\/no-efa\.conf: blacklist efa\)/,
    repair: /modprobe efa .*in spite of that.*take that line out/,
  },
  {
    what: "a module that the kernel's command line forbids",
    recorded: {
      ...EFA_CARD_ALONE,
      texts: {
        ...EFA_CARD_ALONE.texts,
        '/proc/cmdline': 'root=/dev/nvme0n1p1 module_blacklist=nouveau,efa quiet\n',
      },
    },
    root: 'card',
    fact: /command line: module_blacklist=nouveau,efa/,
    repair: /take that out, then modprobe efa/,
  },
  {
    what: 'a ConnectX whose RDMA module is missing on Ubuntu',
    recorded: {
      ...ROCE_GOOD,
      files: without(ROCE_GOOD.files, 'module/mlx5_ib', 'class/infiniband'),
      texts: { ...ROCE_GOOD.texts, '/lib/modules/6.8.0-1018-aws/modules.dep': 'kernel/fs/xfs/xfs.ko:' },
    },
    root: 'card',
    fact: /a ConnectX card \(0x1021\) and has the driver mlx5_core: the module mlx5_ib is not installed/,
    repair: /apt install linux-modules-extra-6\.8\.0-1018-aws, then modprobe mlx5_ib/,
  },
  {
    what: 'a container with sysfs and no nodes',
    recorded: { ...ROCE_GOOD, nodes: {}, texts: CONTAINER_TEXTS },
    root: 'uverbs-node',
    fact: /mlx5_0: its node \/dev\/infiniband\/uverbs0 does not exist/,
    repair: /--device=\/dev\/infiniband\/uverbs0/,
  },
  {
    what: 'nodes missing on a host',
    recorded: { ...ROCE_GOOD, nodes: {} },
    root: 'uverbs-node',
    fact: /uverbs0 does not exist/,
    repair: /^udevadm trigger --subsystem-match=infiniband_verbs$/,
  },
  {
    what: 'a device cgroup that refuses',
    recorded: {
      ...ROCE_GOOD,
      texts: CONTAINER_TEXTS,
      nodes: { ...ROCE_GOOD.nodes, uverbs0: { mode: '0666', openErrno: REFUSED.EPERM } },
    },
    root: 'uverbs-node',
    fact: /EPERM \(1\)/,
    repair: /start the container with --device/,
  },
  {
    what: 'exclusive network namespaces',
    recorded: {
      ...ROCE_GOOD,
      texts: CONTAINER_TEXTS,
      files: {
        ...without(ROCE_GOOD.files, 'class/infiniband/'),
        'module/ib_core/parameters/netns_mode': 'N',
      },
      directories: ['class/infiniband'],
    },
    root: 'namespace',
    fact: /no RDMA device in this network namespace/,
    repair: /rdma dev set DEVICE netns NAME.*on the host/,
  },
  {
    what: 'Amazon Linux without the provider',
    recorded: { ...EFA_GOOD, missingLibraries: { 'libefa.so.1': NOTHING } },
    noProvider: true,
    purpose: 'efa',
    root: 'open',
    fact: /rdmap0s6: libibverbs has no provider for it \(driver efa\)/,
    repair: /^dnf install libibverbs/,
    failures: ['open', 'libefa'],
  },
  {
    what: 'SUSE without libibverbs',
    recorded: { ...ROCE_GOOD, osIds: ['sles', 'suse'], missingLibraries: { 'libibverbs.so.1': NOTHING } },
    root: 'libibverbs',
    fact: /libibverbs\.so\.1 is not installed/,
    repair: /^zypper install libibverbs1 libibverbs$/,
  },
  {
    what: 'a library of another architecture',
    recorded: {
      ...ROCE_GOOD,
      missingLibraries: { 'libibverbs.so.1': '/usr/lib/libibverbs.so.1: wrong ELF class: ELFCLASS32' },
    },
    root: 'libibverbs',
    fact: /is there and does not load .*wrong ELF class/,
    repair: /does not load: apt install --reinstall libibverbs1/,
  },
  {
    what: 'a broken library that stands before the distribution’s',
    recorded: {
      ...ROCE_GOOD,
      missingLibraries: { 'libibverbs.so.1': '/opt/old/libibverbs.so.1: file too short' },
    },
    root: 'libibverbs',
    fact: /is there and does not load .*file too short/,
    repair: /^\/opt\/old\/libibverbs\.so\.1 .*LD_LIBRARY_PATH/,
  },
  {
    what: 'RoCE with its network device down',
    recorded: ROCE_DOWN,
    root: 'port',
    fact: /mlx5_0\/1 is DOWN, physical state DISABLED: its network device ens3np0 is down/,
    repair: /^ip link set ens3np0 up$/,
  },
  {
    what: 'InfiniBand without a subnet manager',
    recorded: IB_WITHOUT_SM,
    purpose: 'mad',
    root: 'port',
    fact: /mlx5_0\/1 is INIT, physical state LINK_UP, LID 0: the cable is good, and no subnet manager/,
    repair: /systemctl start opensm/,
  },
  {
    what: 'Ubuntu without rdma_ucm, for cm',
    recorded: { ...ROCE_GOOD, files: without(ROCE_GOOD.files, 'module/rdma_ucm', 'class/misc') },
    purpose: 'cm',
    root: 'rdma_ucm',
    fact: /rdma_ucm is not loaded: no connection manager for programs; librdmacm says only 'No such device'/,
    repair: /^modprobe rdma_ucm$/,
  },
  {
    what: 'a user and umad of mode 0600, for mad',
    recorded: {
      ...ROCE_GOOD,
      texts: { ...ROCE_GOOD.texts, ...AS_USER },
      nodes: {
        ...ROCE_GOOD.nodes,
        umad0: { mode: '0600', errno: REFUSED.EACCES, openErrno: REFUSED.EACCES },
      },
    },
    purpose: 'mad',
    root: 'umad-node',
    fact: /this process \(user 1000, groups ada, sudo\) may not open \/dev\/infiniband\/umad0: EACCES.*mode 0600/,
    repair: /run as root.*udev/,
  },
  {
    what: '64 KiB of locked memory, for cm',
    recorded: { ...ROCE_GOOD, texts: { ...ROCE_GOOD.texts, ...AS_USER }, lockedMemory: 65536 },
    purpose: 'cm',
    root: 'memlock',
    fact: /locked memory is limited to 64 KiB/,
    repair: /limits\.d.*LimitMEMLOCK=infinity/,
  },
  {
    what: 'EFA alone, for cm',
    recorded: EFA_GOOD,
    purpose: 'cm',
    root: 'rdma_ucm',
    fact: /EFA has no connection manager/,
    repair: /fi_info -p efa/,
  },
  {
    what: 'no EFA, for efa',
    recorded: ROCE_GOOD,
    purpose: 'efa',
    root: 'efa-device',
    fact: /no EFA device/,
    repair: /type efa/,
  },
  {
    what: 'an address behind a network device without RDMA',
    recorded: ROCE_GOOD,
    address: '192.168.7.7',
    root: 'route-device',
    fact: /the way to 192\.168\.7\.7 leaves through an unknown network device \(192\.168\.7\.1\), which has no RDMA/,
    repair: /--bind ADDR/,
  },
  {
    what: 'a loopback address',
    recorded: { ...ROCE_GOOD, routes: { '127.0.0.1': '127.0.0.1' } },
    address: '127.0.0.1',
    root: 'route-device',
    fact: /the way to 127\.0\.0\.1 leaves through .*which has no RDMA device/,
    repair: /^a loopback address says nothing of RDMA: rdmatool doctor 10\.0\.0\.1, /,
  },
  {
    what: 'an address without a route',
    recorded: ROCE_GOOD,
    address: '172.16.0.1:5000',
    root: 'route',
    fact: /no route leads to 172\.16\.0\.1 \(ENETUNREACH\)/,
    repair: /ip route get 172\.16\.0\.1/,
  },
];

describe('recorded machines', () => {
  it.each(CASES)('$what', async ({ recorded, root, fact, repair, failures: all = [root], ...asked }) => {
    const result = await look(recorded, asked);
    expect(failures(result)).toEqual(all);
    expect(result.root_cause?.id).toBe(root);
    const [cause] = found(result, root).filter(({ status }) => status === 'failure');
    expect(cause?.fact).toMatch(fact);
    expect(cause?.repair).toMatch(repair);
    // The first thing read is the root, and what follows from it is not a failure of its own.
    const shown = text(result, null);
    expect(shown.split('\n')[0]).toBe(`Root cause: ${cause?.fact}`);
    expect(shown).toContain(`next: ${cause?.repair}`);
    for (const line of text(result).split('\n')) {
      if (!/\S{40}/.test(line)) expect(line.length, line).toBeLessThanOrEqual(80);
    }
  });

  it.each([
    ['a ConnectX over RoCE', ROCE_GOOD],
    ['an EFA card', EFA_GOOD],
  ])('%s with everything: no failure and no warning', async (_what, recorded) => {
    const result = await look(recorded);
    expect(result.checks.filter(({ status }) => status === 'failure' || status === 'warning')).toEqual([]);
    expect(text(result)).toMatch(/^Nothing here stands in the way of RDMA\.\n/);
  });

  it('says which GID index is wanted, and what the MTU would need', async () => {
    const result = await look(ROCE_GOOD);
    expect(found(result, 'gid')[0]?.fact).toContain('GID index 3: RoCE v2, routable IPv4 address 10.0.0.1');
  });

  it('what only some need is a warning for all, and what stands on it is not told twice', async () => {
    const result = await look({
      ...ROCE_GOOD,
      files: without(ROCE_GOOD.files, 'module/rdma_ucm', 'class/misc'),
    });
    expect(failures(result)).toEqual([]);
    expect(found(result, 'rdma_ucm')[0]?.status).toBe('warning');
    expect(found(result, 'rdma_cm-node')).toMatchObject([
      { status: 'skipped', fact: 'moot before rdma_ucm is repaired' },
    ]);
  });

  it('a function that a virtual machine has is no failure of its own', async () => {
    const files = {
      ...ROCE_GOOD.files,
      'bus/pci/devices/0000:18:00.0/vendor': '0x15b3',
      'bus/pci/devices/0000:18:00.0/device': '0x101e',
      'bus/pci/devices/0000:18:00.0/driver': { link: '../drivers/vfio-pci' },
    };
    const result = await look({ ...ROCE_GOOD, files });
    expect(found(result, 'card').map(({ status }) => status)).toEqual(['ok', 'skipped']);
    expect(failures(result)).toEqual([]);
  });

  it('a network card that may have RDMA is spoken of only where there is nothing else', async () => {
    const card = {
      'bus/pci/devices/0000:65:00.0/vendor': '0x14e4',
      'bus/pci/devices/0000:65:00.0/device': '0x1750',
      'bus/pci/devices/0000:65:00.0/driver': { link: '../drivers/bnxt_en' },
    };
    const beside = await look({
      ...ROCE_GOOD,
      files: { ...ROCE_GOOD.files, ...card, 'module/bnxt_en/refcnt': '0' },
    });
    expect(found(beside, 'card')).toHaveLength(1);
    const alone = await look({
      files: { ...card, 'module/bnxt_en/refcnt': '0' },
      directories: ['class/net'],
    });
    expect(found(alone, 'card')[0]).toMatchObject({
      status: 'failure',
      repair: 'modprobe bnxt_re (as root)',
    });
  });

  it('with CAP_IPC_LOCK the limit of locked memory does not hold', async () => {
    const result = await look({ ...ROCE_GOOD, lockedMemory: 65536 }, { purpose: 'cm' });
    expect(found(result, 'memlock')[0]?.status).toBe('ok');
  });

  it('EFA: a reminder that the security group is not to be seen from here', async () => {
    const result = await look(EFA_GOOD, { purpose: 'efa' });
    expect(found(result, 'efa-network')[0]).toMatchObject({ status: 'skipped' });
    expect(text(result)).toContain('security group');
    expect(found(result, 'efa-capabilities')[0]?.fact).toBe(
      'rdmap0s6: RDMA read yes, RDMA write no, up to 1 GiB',
    );
    expect(found(result, 'efa-driver')[0]?.fact).toContain('2.13.0g');
    expect(found(result, 'port')[0]?.fact).toMatch(/ACTIVE, which an EFA port always is/);
  });
});

describe('the table of checks', () => {
  it('has every check of the schema once, and none needs a later one', () => {
    expect(CHECKS.map(({ id }) => id).sort()).toEqual([...CHECK_IDS].sort());
    CHECKS.forEach(({ id, needs }, index) => {
      const before = CHECKS.slice(0, index).map((check) => check.id);
      for (const need of needs) expect(before, `${id} needs ${need}`).toContain(need);
    });
  });
});
