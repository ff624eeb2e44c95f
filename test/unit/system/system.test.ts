import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openDeviceNodes } from '../../../src/system/device-nodes.ts';
import { naturalOrder, openSysfs, sysfsRoot } from '../../../src/system/sysfs.ts';
import { parseOsIds } from '../../../src/system/this-machine.ts';

const root = mkdtempSync(join(tmpdir(), 'rdmatool-unit-'));
afterAll(() => rmSync(root, { recursive: true }));

describe('the order of names', () => {
  it.each([
    ['mlx5_2 before mlx5_10', ['mlx5_10', 'mlx5_2', 'mlx5_0'], ['mlx5_0', 'mlx5_2', 'mlx5_10']],
    [
      'rdmap9s0 before rdmap16s0',
      ['rdmap115s0', 'rdmap16s27', 'rdmap9s0', 'rdmap16s3'],
      ['rdmap9s0', 'rdmap16s3', 'rdmap16s27', 'rdmap115s0'],
    ],
    ['a name before those that begin with it', ['eth10', 'eth', 'eth1'], ['eth', 'eth1', 'eth10']],
    ['zeros in front', ['a010', 'a9', 'a10'], ['a9', 'a010', 'a10']],
    ['numbers beyond all counting', [`a${'9'.repeat(30)}`, 'a1'], ['a1', `a${'9'.repeat(30)}`]],
    ['words', ['rxe0', 'mlx5_0', 'efa_0'], ['efa_0', 'mlx5_0', 'rxe0']],
    ['nothing', [], []],
  ])('%s', (_what, names, sorted) => {
    expect([...names].sort(naturalOrder)).toEqual(sorted);
    expect([...names].reverse().sort(naturalOrder)).toEqual(sorted);
  });
});

describe('the root of sysfs', () => {
  it.each([
    [{}, '/sys'],
    [{ SYSFS_PATH: '/tmp/sys' }, '/tmp/sys'],
    [{ SYSFS_PATH: '/tmp/sys///' }, '/tmp/sys'],
    // libibverbs takes these as they are.
    [{ SYSFS_PATH: '' }, ''],
    [{ SYSFS_PATH: '/' }, ''],
    [{ SYSFS_PATH: 'relative' }, 'relative'],
  ])('%j is %j', (environment, expected) => {
    expect(sysfsRoot(environment)).toBe(expected);
  });
});

describe('sysfs', () => {
  const sysfs = openSysfs(root);
  mkdirSync(join(root, 'class/infiniband/mlx5_10'), { recursive: true });
  mkdirSync(join(root, 'class/infiniband/mlx5_9'));
  writeFileSync(join(root, 'class/infiniband/mlx5_9/node_desc'), 'two\nlines\n\n');
  writeFileSync(join(root, 'empty'), '');
  writeFileSync(join(root, 'binary'), Buffer.from([0xff, 0xfe, 0x00, 0x41]));
  symlinkSync('../../bus/pci/drivers/efa', join(root, 'driver'));

  it('reads an attribute without its last newline', () => {
    expect(sysfs.read('class/infiniband/mlx5_9/node_desc')).toBe('two\nlines\n');
    expect(sysfs.read('empty')).toBe('');
    expect(sysfs.read('binary')).toContain('A');
  });

  it('says null for what it cannot read', () => {
    for (const path of ['nothing', 'class', 'class/infiniband/mlx5_9/node_desc/below', 'with\0nul']) {
      expect(sysfs.read(path)).toBeNull();
    }
    for (const path of ['nothing', 'empty', 'with\0nul']) expect(sysfs.list(path)).toBeNull();
    for (const path of ['nothing', 'empty', 'class']) expect(sysfs.linkName(path)).toBeNull();
  });

  it.skipIf(process.getuid?.() === 0)('says null for what it may not read', () => {
    writeFileSync(join(root, 'secret'), 'x');
    chmodSync(join(root, 'secret'), 0);
    expect(sysfs.read('secret')).toBeNull();
  });

  it('lists names in natural order, and follows links by their last part', () => {
    expect(sysfs.list('class/infiniband')).toEqual(['mlx5_9', 'mlx5_10']);
    expect(sysfs.linkName('driver')).toBe('efa');
  });
});

describe('os-release', () => {
  it.each([
    ['ID=debian\nVERSION_ID="12"\n', ['debian']],
    ['NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n', ['ubuntu', 'debian']],
    ['ID="rocky"\nID_LIKE="rhel centos fedora"\n', ['rocky', 'rhel', 'centos', 'fedora']],
    ["ID='amzn'\nID_LIKE='fedora'\n", ['amzn', 'fedora']],
    ['ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', ['opensuse-leap', 'suse', 'opensuse']],
    ['PRETTY_NAME="ID=wrong"\nID=arch\n', ['arch']],
    ['VARIANT_ID=server\nID=fedora', ['fedora']],
    ['', []],
    ['# nothing\n', []],
    ['ID=\n', []],
  ])('%j', (text, ids) => {
    expect(parseOsIds(text)).toEqual(ids);
  });
});

describe('device nodes', () => {
  it('that do not exist have no mode', async () => {
    const nodes = openDeviceNodes();
    expect(nodes.node('uverbs99999')).toEqual({
      path: '/dev/infiniband/uverbs99999',
      mode: null,
      owner: null,
      group: null,
      accessErrno: 2,
    });
    expect(await nodes.tryOpen('uverbs99999')).toBe(2);
  });
});
