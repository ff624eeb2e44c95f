import { describe, expect, it } from 'vitest';
import { releaseInFileName } from '../../../src/abi/library-file.ts';
import {
  MissingLibraryError,
  MissingSymbolError,
  UnsupportedPlatformError,
} from '../../../src/native/errors.ts';
import { mappedFiles, NativeLibrary } from '../../../src/native/library.ts';
import { refuseUnknownPlatform } from '../../../src/native/platform.ts';

describe('the release in the name of a library', () => {
  it.each([
    ['/usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0', '44.0'],
    ['/usr/lib/x86_64-linux-gnu/libefa.so.1.2.44.0', '44.0'],
    ['/usr/lib64/libefa.so.1.4.60.0', '60.0'],
    ['/lib64/libibverbs.so.1.14.58.amzn0', '58.amzn0'],
    ['/usr/lib64/libibverbs.so.1.16.65.0', '65.0'],
    // A vendor's own count says nothing of rdma-core's.
    ['/usr/lib64/libibverbs.so.1.14.2404mlnx51', null],
    ['/usr/lib64/libibverbs.so.1.14.58mlnx43', null],
    ['/usr/lib64/libibverbs.so.1.22.2404.0', null],
    ['/opt/lib/libibverbs.so.1', null],
    ['/usr/lib/libibverbs/libefa-rdmav34.so', null],
    ['', null],
  ])('%s: %s', (path, release) => {
    expect(releaseInFileName(path)).toBe(release);
  });
});

describe('a shared library', () => {
  it('that there is not: its name, and what the linker says', () => {
    expect(() => new NativeLibrary('libnosuch.so.1')).toThrow(MissingLibraryError);
    expect(() => new NativeLibrary('libnosuch.so.1')).toThrow(
      'libnosuch.so.1 cannot be loaded: cannot open shared object file: No such file or directory',
    );
  });

  it('without the function: found null, got an error that names both', () => {
    const libc = new NativeLibrary(null);
    expect(libc.find('int no_such_function(int)')).toBeNull();
    expect(libc.find('int no_such_function(int)')).toBeNull();
    expect(() => libc.get('int no_such_function(int)')).toThrow(
      new MissingSymbolError('the program', 'no_such_function'),
    );
  });

  it('with it: result and errno', () => {
    const libc = new NativeLibrary(null);
    const { result, errno } = libc.get<number>('int chdir(const char *path)').call('/no/such/directory');
    expect({ result, errno }).toEqual({ result: -1, errno: 2 });
  });

  it('on another thread: result and errno of that thread', async () => {
    const libc = new NativeLibrary(null);
    const open = libc.get<number>('int access(const char *path, int mode)');
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        open.callAsync(index % 2 ? '/no/such/file' : '/dev/null/x', 0),
      ),
    );
    outcomes.forEach(({ result, errno }, index) => {
      expect({ result, errno }).toEqual({ result: -1, errno: index % 2 ? 2 : 20 });
    });
  });

  it('is among the mapped files', () => {
    expect(mappedFiles().some((path) => /libc(-[\d.]+)?\.so/.test(path))).toBe(true);
  });
});

describe('the platform', () => {
  it('is refused where the structures are not known', () => {
    expect(() => refuseUnknownPlatform('linux', 'x64', 'LE')).not.toThrow();
    expect(() => refuseUnknownPlatform('linux', 'arm64', 'LE')).not.toThrow();
    for (const [platform, arch, order] of [
      ['darwin', 'arm64', 'LE'],
      ['linux', 'ia32', 'LE'],
      ['linux', 's390x', 'BE'],
      ['win32', 'x64', 'LE'],
    ] as const) {
      expect(() => refuseUnknownPlatform(platform, arch, order)).toThrow(UnsupportedPlatformError);
    }
  });
});
