import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import {
  efaFailed,
  internalFault,
  listFailed,
  noDevice,
  nodeRefused,
  noLibrary,
  noSuchPort,
  notListed,
  openFailed,
  queryFailed,
  reasonOf,
  unknownDevice,
} from '../../../src/devices/failures.ts';
import { readSysfsDevice } from '../../../src/devices/sysfs-device.ts';
import { MissingLibraryError, MissingSymbolError, NativeCallError } from '../../../src/native/errors.ts';
import { DeadlineError } from '../../../src/waiting/deadline.ts';
import { EFA_FILES, type Recorded, recordedMachine } from './recorded.ts';

const { EAGAIN, EACCES, EPERM, EIO, ENOSYS, ENOMEM, ENODEV, EOPNOTSUPP } = constants.errno;
const node = { uverbs0: { mode: '0666' } };
const efa = (more: Recorded = {}) => recordedMachine({ files: EFA_FILES, nodes: node, ...more });
const sysfsOf = (more: Recorded = {}) => readSysfsDevice(efa(more), 'rdmap0s6');
const pci = (vendor: string, device: string, more: Recorded['files'] = {}) => ({
  'bus/pci/devices/0000:00:06.0/vendor': vendor,
  'bus/pci/devices/0000:00:06.0/device': device,
  ...more,
});

describe('no device', () => {
  it.each<[string, Recorded, string, RegExp, RegExp]>([
    ['no sysfs', {}, 'NO_DEVICE', /no sysfs at \/sys/, /mount -t sysfs/],
    ['a SYSFS_PATH to nowhere', { root: '/x' }, 'NO_DEVICE', /SYSFS_PATH is "\/x"/, /unset SYSFS_PATH/],
    ['no RDMA core', { directories: ['class/net'] }, 'NO_DEVICE', /ib_core\) is not loaded/, /lab run efa/],
    [
      'an empty RDMA core',
      { directories: ['class/infiniband'] },
      'NO_DEVICE',
      /core is loaded/,
      /rdmatool doctor looks for the card/,
    ],
    [
      'an EFA card without its module',
      { directories: ['class/net'], files: pci('0x1d0f', '0xefa2') },
      'NO_MODULE',
      /PCI 0000:00:06\.0 is an Elastic Fabric Adapter.*module efa is not loaded/,
      /modprobe efa/,
    ],
    [
      'a ConnectX-7 without its module',
      { directories: ['class/infiniband'], files: pci('0x15b3', '0x1021') },
      'NO_MODULE',
      /a ConnectX card.*mlx5_ib/,
      /modprobe mlx5_ib/,
    ],
    [
      'a ConnectX-3 without its module',
      { directories: ['class/infiniband'], files: pci('0x15b3', '0x1003') },
      'NO_MODULE',
      /ConnectX-3.*mlx4_ib/,
      /modprobe mlx4_ib/,
    ],
    [
      'a card whose driver refused it',
      { directories: ['class/infiniband', 'module/efa'], files: pci('0x1d0f', '0xefa2') },
      'NO_DEVICE',
      /has no driver, and the kernel shows no device/,
      /dmesg \| grep 0000:00:06\.0/,
    ],
    [
      'a card that a virtual machine has taken',
      {
        directories: ['class/infiniband', 'module/mlx5_ib'],
        files: pci('0x15b3', '0x1021', {
          'bus/pci/devices/0000:00:06.0/driver': { link: '../../../bus/pci/drivers/vfio-pci' },
        }),
      },
      'NO_DEVICE',
      /has the driver vfio-pci/,
      /dmesg/,
    ],
    [
      'an Ethernet card of the same vendor',
      { directories: ['class/infiniband'], files: pci('0x1d0f', '0xec20') },
      'NO_DEVICE',
      /core is loaded, and the kernel shows no device/,
      /rdmatool doctor looks for the card/,
    ],
  ])('%s', (_what, recorded, code, message, hint) => {
    const failure = noDevice(recordedMachine(recorded));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(/^no RDMA device: /);
    expect(failure.message).toMatch(message);
    expect(failure.hint).toMatch(hint);
  });

  it('of two cards the one without its module is told of', () => {
    const files = {
      'bus/pci/devices/0000:00:05.0/vendor': '0x15b3',
      'bus/pci/devices/0000:00:05.0/device': '0x1021',
      ...pci('0x1d0f', '0xefa2'),
    };
    const failure = noDevice(recordedMachine({ files, directories: ['class/infiniband', 'module/mlx5_ib'] }));
    expect(failure.message).toContain('module efa is not loaded');
  });
});

describe('a library', () => {
  const absent = new MissingLibraryError(
    'libibverbs.so.1',
    'cannot open shared object file: No such file or directory',
  );
  it('that is absent: the package, and a lab where there is no hardware either', () => {
    expect(noLibrary(efa(), absent, true).hint).toBe('apt install libibverbs1 ibverbs-providers');
    expect(noLibrary(efa({ osIds: ['fedora'] }), absent, false).hint).toMatch(
      /^dnf install libibverbs; .*lab run efa/,
    );
  });

  it.each([
    "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /opt/libibverbs.so.1)",
    'libnl-3.so.200: cannot open shared object file: No such file or directory',
    'wrong ELF class: ELFCLASS32',
  ])('that is there and does not load: %s', (reason) => {
    const failure = noLibrary(efa(), new MissingLibraryError('libibverbs.so.1', reason), true);
    expect(failure.message).toContain(reason);
    expect(failure.hint).toMatch(/does not load: apt install --reinstall libibverbs1 ibverbs-providers/);
  });
});

describe('ibv_get_device_list', () => {
  it('ENOSYS without ib_uverbs: the module', () => {
    const machine = recordedMachine({ files: { 'class/infiniband/rdmap0s6/node_guid': 'x' } });
    const failure = listFailed(machine, new NativeCallError('ibv_get_device_list', ENOSYS), 'rdmap0s6');
    expect(failure).toMatchObject({ code: 'NO_MODULE', errno: { name: 'ENOSYS' } });
    expect(failure.message).toContain('rdmap0s6');
    expect(listFailed(machine, new NativeCallError('ibv_get_device_list', ENOSYS), null).message).toContain(
      'no RDMA device',
    );
  });

  it('another errno is not taken for a missing module', () => {
    const failure = listFailed(efa(), new NativeCallError('ibv_get_device_list', ENOMEM), 'rdmap0s6');
    expect(failure).toMatchObject({ code: 'QUERY_FAILED', errno: { name: 'ENOMEM' } });
    expect(failure.hint).toContain('ulimit -l unlimited');
    const limited = listFailed(efa(), new NativeCallError('ibv_get_device_list', EAGAIN), 'rdmap0s6');
    expect(limited.hint).toContain('rdma.max');
  });

  it('hangs, or is not there', () => {
    expect(listFailed(efa(), new DeadlineError('ibv_get_device_list', 15000), null).code).toBe('TIMED_OUT');
    expect(
      listFailed(efa(), new MissingSymbolError('libibverbs.so.1', 'ibv_get_device_list'), null).code,
    ).toBe('NO_SYMBOL');
  });
});

describe('a device that libibverbs leaves out', () => {
  it('no ib_uverbs', () => {
    const files = Object.fromEntries(
      Object.entries(EFA_FILES).filter(([path]) => !path.includes('infiniband_verbs')),
    );
    const machine = recordedMachine({ files });
    const failure = notListed(machine, 'rdmap0s6', readSysfsDevice(machine, 'rdmap0s6'), null);
    expect(failure).toMatchObject({ code: 'NO_MODULE' });
    expect(failure.hint).toContain('modprobe ib_uverbs');
  });

  it('ib_uverbs is there and has no device for it', () => {
    const files = Object.fromEntries(
      Object.entries(EFA_FILES).filter(([path]) => !path.includes('/uverbs0/')),
    );
    const machine = recordedMachine({ files });
    const failure = notListed(machine, 'rdmap0s6', readSysfsDevice(machine, 'rdmap0s6'), null);
    expect(failure.code).toBe('NO_NODE');
    expect(failure.message).toContain('though module ib_uverbs is loaded');
  });

  it('no node', () => {
    const machine = efa({ nodes: {} });
    const failure = notListed(machine, 'rdmap0s6', readSysfsDevice(machine, 'rdmap0s6'), null);
    expect(failure).toMatchObject({ code: 'NO_NODE' });
    expect(failure.message).toContain('/dev/infiniband/uverbs0 does not exist');
  });

  it('no provider; on Fedora the package has another name', () => {
    const failure = notListed(efa({ osIds: ['fedora'] }), 'rdmap0s6', sysfsOf(), null);
    expect(failure).toMatchObject({ code: 'NO_PROVIDER' });
    expect(failure.hint).toContain('dnf install libibverbs;');
  });

  it.each([
    ['0xefa3', '44.0', 'needs rdma-core 53, this is 44.0'],
    ['0xefa4', '63.0', 'needs rdma-core 64, this is 63.0'],
    ['0xefa1', '30.0', 'needs rdma-core 31, this is 30.0'],
  ])('libefa is older than the card: %s under %s', (part, release, says) => {
    const files = { ...EFA_FILES, 'class/infiniband/rdmap0s6/device/device': part };
    expect(notListed(efa({ files }), 'rdmap0s6', sysfsOf({ files }), release).message).toContain(says);
  });

  it.each([
    ['0xefa3', null],
    ['0xefa3', '53.0'],
    ['0xefa9', '44.0'],
  ])('is not blamed on the release without a reason: %s under %s', (part, release) => {
    const files = { ...EFA_FILES, 'class/infiniband/rdmap0s6/device/device': part };
    expect(notListed(efa({ files }), 'rdmap0s6', sysfsOf({ files }), release).message).toContain(
      'no provider for it',
    );
  });
});

describe('a node that may not be opened', () => {
  it.each([
    ['0600', 'root', /run as root, or set mode 0666/],
    ['0660', 'rdma', /join the group rdma: usermod -aG rdma USER/],
    ['0660', 'root', /run as root, or set mode 0666/],
    ['0640', 'rdma', /run as root, or set mode 0666/],
  ])('mode %s, group %s', (mode, group, hint) => {
    const nodes = { uverbs0: { mode, group, errno: EACCES } };
    const failure = nodeRefused('rdmap0s6', sysfsOf({ nodes }), EACCES);
    expect(failure).toMatchObject({ code: 'NO_PERMISSION', errno: { name: 'EACCES' } });
    expect(failure.message).toBe(
      `rdmap0s6: /dev/infiniband/uverbs0 may not be opened: EACCES (13), permission denied; mode ${mode}, owner root:${group}`,
    );
    expect(failure.hint).toMatch(hint);
  });

  it('by the cgroup of a container', () => {
    expect(nodeRefused('rdmap0s6', sysfsOf(), EPERM).hint).toContain(
      'docker run --device=/dev/infiniband/uverbs0',
    );
  });

  it('whose place is not known', () => {
    const failure = nodeRefused('x', { ...sysfsOf(), uverbs: null, uverbs_node: null }, EACCES);
    expect(failure.message).toBe('x: its device node may not be opened: EACCES (13), permission denied');
  });
});

describe('calls that fail', () => {
  it('open', () => {
    const failure = openFailed(efa(), 'rdmap0s6', sysfsOf(), new NativeCallError('open', EIO));
    expect(failure.message).toMatch(/^rdmap0s6: \/dev\/infiniband\/uverbs0 cannot be opened: EIO \(5\), /);
    expect(openFailed(efa(), 'd', sysfsOf(), new NativeCallError('open', ENODEV)).hint).toContain(
      'went away',
    );
    expect(openFailed(efa(), 'd', sysfsOf(), new NativeCallError('open', EACCES)).code).toBe('NO_PERMISSION');
    expect(openFailed(efa(), 'd', sysfsOf(), new DeadlineError('d: ibv_open_device', 1)).code).toBe(
      'TIMED_OUT',
    );
  });

  it('without an errno', () => {
    const failure = openFailed(efa(), 'd', sysfsOf(), new NativeCallError('ibv_open_device', 0));
    expect(failure.errno).toBeNull();
    expect(failure.message).toContain('ibv_open_device: it leaves no errno');
  });

  it('queries', () => {
    expect(queryFailed(efa(), 'd port 2', new NativeCallError('ibv_query_port', EIO)).message).toMatch(
      /^d port 2: ibv_query_port: EIO \(5\), input\/output error/,
    );
  });

  it('libefa', () => {
    const absent = new MissingLibraryError('libefa.so.1', 'cannot open shared object file');
    expect(efaFailed(efa(), 'd', absent)).toMatchObject({
      code: 'NO_LIBRARY',
      hint: 'apt install ibverbs-providers',
    });
    expect(efaFailed(efa({ osIds: ['sles', 'suse'] }), 'd', absent).hint).toBe('zypper install libefa1');
    expect(efaFailed(efa(), 'd', new MissingSymbolError('libefa.so.1', 'efadv_query_device')).code).toBe(
      'NO_SYMBOL',
    );
    expect(efaFailed(efa(), 'd', new NativeCallError('efadv_query_device', EOPNOTSUPP)).hint).toContain(
      'second copy',
    );
  });

  it('a mistake of ours is not hidden among them', () => {
    const mistake = new TypeError('x is not a function');
    for (const explain of [
      () => queryFailed(efa(), 'd', mistake),
      () => openFailed(efa(), 'd', sysfsOf(), mistake),
      () => reasonOf(mistake),
      () => efaFailed(efa(), 'd', mistake),
    ]) {
      expect(explain).toThrow(mistake);
    }
    expect(internalFault('d', mistake)).toMatchObject({ code: 'INTERNAL' });
  });
});

describe('names', () => {
  const known = ['rdmap0s6', 'mlx5_0'];
  it.each([
    ['rdmap0s7', 'did you mean rdmap0s6?'],
    ['uverbs0', 'uverbs0 is the device node of rdmap0s6: use that name'],
    ['0000:00:06.0', '0000:00:06.0 is the PCI address of rdmap0s6: use that name'],
    ['eth7', 'the devices are: rdmap0s6, mlx5_0'],
  ])('%s', (name, hint) => {
    const failure = unknownDevice(efa(), name, known, null);
    expect(failure.message).toBe(`${name}: there is no RDMA device of that name`);
    expect(failure.hint).toContain(hint);
  });

  it('a network device', () => {
    const files = { ...EFA_FILES, 'class/infiniband/rdmap0s6/device/net/ens5/mtu': '9001' };
    expect(unknownDevice(efa({ files }), 'ens5', known, null).hint).toContain(
      'ens5 is a network device of rdmap0s6',
    );
  });

  it('of many devices a few are named', () => {
    const many = Array.from({ length: 32 }, (_, index) => `mlx5_${index}`);
    const { hint } = unknownDevice(efa(), 'nothing-like-it', many, null);
    expect(hint).toContain('mlx5_7 … (rdmatool list shows all 32)');
    expect(hint).not.toContain('mlx5_8');
  });

  it.each([
    [0, 'the device has no port'],
    [1, 'the device has one port, 1'],
    [2, 'the device has ports 1 to 2'],
  ])('a port of %i', (count, hint) => {
    expect(noSuchPort('d', 9, count)).toMatchObject({
      code: 'NO_SUCH_PORT',
      message: 'd: there is no port 9',
      hint,
    });
  });
});
