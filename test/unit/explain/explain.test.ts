import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { errnoMeaning, errnoName, errnoText, errnoValue } from '../../../src/explain/errno.ts';
import {
  EXIT_MEANINGS,
  ExitStatus,
  FAILURES,
  Failure,
  type FailureCode,
} from '../../../src/explain/failure.ts';
import { nearest } from '../../../src/explain/nearest.ts';
import { installCommand, PACKAGES } from '../../../src/explain/packages.ts';
import { sizeText } from '../../../src/explain/quantities.ts';

describe('errno', () => {
  it.each([
    [1, 'EPERM'],
    [2, 'ENOENT'],
    [5, 'EIO'],
    [11, 'EAGAIN'],
    [13, 'EACCES'],
    [19, 'ENODEV'],
    [28, 'ENOSPC'],
    [38, 'ENOSYS'],
    [61, 'ENODATA'],
    [71, 'EPROTO'],
    [93, 'EPROTONOSUPPORT'],
    [95, 'EOPNOTSUPP'],
    [110, 'ETIMEDOUT'],
    [121, 'EREMOTEIO'],
  ])('%i is %s', (value, name) => {
    expect(errnoName(value)).toBe(name);
    expect(errnoValue(value)).toEqual({ value, name });
    expect(errnoText(value)).toBe(`${name} (${value}), ${errnoMeaning(value)}`);
  });

  it('that nobody knows keeps its number', () => {
    expect(errnoName(4000)).toBe('errno 4000');
    expect(errnoText(4000)).toBe('errno 4000 (4000), see errno(3)');
  });

  it('has the names that python knows on this machine', ({ skip }) => {
    const script = 'import errno; print("\\n".join(f"{v} {n}" for v, n in errno.errorcode.items()))';
    const { status, stdout } = spawnSync('python3', ['-c', script], { encoding: 'utf8' });
    if (status !== 0) skip('no python3');
    const others = { EDEADLK: 'EDEADLOCK', EOPNOTSUPP: 'ENOTSUP' };
    for (const line of stdout.trim().split('\n')) {
      const [value = '', name = ''] = line.split(' ');
      const own = errnoName(Number(value));
      if (own.startsWith('errno ')) continue;
      expect([
        name,
        Reflect.get(others, name),
        Object.entries(others).find(([, v]) => v === name)?.[0],
      ]).toContain(own);
    }
  });
});

describe('failures', () => {
  it('each code has one of the exit statuses of the manual', () => {
    const documented = EXIT_MEANINGS.map(([status]) => status);
    for (const [code, status] of Object.entries(FAILURES)) {
      expect(documented, code).toContain(status);
      expect(status, code).not.toBe(ExitStatus.DONE);
    }
  });

  it.each<[FailureCode, number]>([
    ['USAGE', 2],
    ['NO_LIBRARY', 69],
    ['NO_PROVIDER', 69],
    ['NO_DEVICE', 69],
    ['NO_NODE', 69],
    ['NO_MODULE', 69],
    ['TIMED_OUT', 75],
    ['NO_PERMISSION', 77],
    ['INTERRUPTED', 130],
    ['SOME_DEVICES_FAILED', 1],
  ])('%s ends with %i', (code, status) => {
    expect(new Failure(code, 'm', 'h').exitStatus).toBe(status);
  });

  it('are plain data in JSON', () => {
    const failure = new Failure('OPEN_FAILED', 'message', 'hint', {
      errno: errnoValue(5),
      cause: new Error('x'),
    });
    expect(JSON.parse(JSON.stringify(failure))).toEqual({
      code: 'OPEN_FAILED',
      errno: { value: 5, name: 'EIO' },
      message: 'message',
      hint: 'hint',
    });
  });
});

describe('nearest', () => {
  const devices = ['mlx5_0', 'mlx5_1', 'mlx5_10', 'rdmap16s27', 'rdmap32s27', 'rxe0'];
  it.each([
    ['mlx5-0', ['mlx5_0']],
    ['MLX5_1', ['mlx5_1', 'mlx5_0', 'mlx5_10']],
    ['rdmap16s28', ['rdmap16s27', 'rdmap32s27']],
    ['rxe1', ['rxe0']],
    ['eth0', []],
    ['', []],
    ['something_else_entirely', []],
  ])('%s', (name, expected) => {
    const found = nearest(name, devices);
    expect(found.slice(0, 1)).toEqual(expected.slice(0, 1));
    for (const one of expected) expect(found).toContain(one);
    expect(found.length).toBeLessThanOrEqual(3);
    if (expected.length === 0) expect(found).toEqual([]);
  });

  it('of no candidates is none', () => {
    expect(nearest('mlx5_0', [])).toEqual([]);
  });
});

describe('the command that installs', () => {
  it.each([
    [['debian'], 'apt install ibverbs-providers'],
    [['ubuntu', 'debian'], 'apt install ibverbs-providers'],
    [['linuxmint', 'ubuntu', 'debian'], 'apt install ibverbs-providers'],
    [['fedora'], 'dnf install libibverbs'],
    [['rocky', 'rhel', 'centos', 'fedora'], 'dnf install libibverbs'],
    [['amzn', 'fedora'], 'dnf install libibverbs'],
    [['sles', 'suse'], 'zypper install libibverbs'],
    [['opensuse-leap', 'suse', 'opensuse'], 'zypper install libibverbs'],
    [['arch'], 'pacman -S rdma-core'],
    [['manjaro', 'arch'], 'pacman -S rdma-core'],
    [['alpine'], 'apk add rdma-core'],
  ])('on %j', (ids, command) => {
    expect(installCommand(ids, 'providers')).toBe(command);
  });

  it('names a package once, though two purposes need it', () => {
    expect(installCommand(['fedora'], 'libibverbs', 'providers')).toBe('dnf install libibverbs');
    expect(installCommand(['debian'], 'libibverbs', 'providers')).toBe(
      'apt install libibverbs1 ibverbs-providers',
    );
  });

  it.each([[[]], [['haiku']], [['constructor', 'toString']]])('on %j says whose names it has', (ids) => {
    expect(installCommand(ids, 'libefa')).toBe(
      "install ibverbs-providers (Debian's names; part of rdma-core)",
    );
  });

  it('knows every purpose in every family', () => {
    const families = Object.keys(PACKAGES.libibverbs);
    for (const packages of Object.values(PACKAGES)) expect(Object.keys(packages)).toEqual(families);
  });
});

describe('sizes', () => {
  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1023, '1023 bytes'],
    [1024, '1 KiB'],
    [8928, '8928 bytes'],
    [1536, '1536 bytes'],
    [2 ** 30, '1 GiB'],
    [3 * 2 ** 40, '3 TiB'],
    [2n ** 63n, '8 EiB'],
    [2n ** 64n - 1n, '18446744073709551615 bytes'],
  ])('%s', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});
