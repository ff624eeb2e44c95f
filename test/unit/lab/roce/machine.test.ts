import { describe, expect, it } from 'vitest';
import { ConsoleTail } from '../../../../src/lab/roce/console.ts';
import { debianSuite, kernelDependency } from '../../../../src/lab/roce/kernel-package.ts';
import { isKvmUsable, qemuArguments } from '../../../../src/lab/roce/qemu.ts';
import { missingPackages, requirePackages, requireProcessor } from '../../../../src/lab/roce/requirements.ts';

describe("QEMU's command line", () => {
  const machine = {
    files: { kernel: '/c/vmlinux', initramfs: '/c/initramfs' },
    acceleration: 'emulation',
    processors: 2,
    port: 3,
    kernelArguments: ['extra=1'],
  } as const;
  const line = qemuArguments(machine).join(' ');

  it('has the files, the processors and the port', () => {
    expect(line).toContain('-kernel /c/vmlinux -initrd /c/initramfs');
    expect(line).toContain('-smp 2');
    expect(line).toContain('-chardev socket,id=agent,fd=3');
    expect(line).toMatch(/-append .* extra=1 -/);
  });

  it('emulates or accelerates', () => {
    expect(line).toContain('-accel tcg,thread=multi');
    expect(qemuArguments({ ...machine, acceleration: 'kvm' }).join(' ')).toContain('-accel kvm');
  });

  it('gives the guest no network, and opens nothing to others', () => {
    expect(line).toContain('-nic none');
    expect(line).not.toMatch(/-netdev|hostfwd|-vnc|-monitor|-qmp|tcp:|server=on/);
  });
});

describe('KVM', () => {
  it('is not tried on a processor that shows no virtualisation', () => {
    expect(isKvmUsable('processor : 0\nflags\t\t: fpu vme sse2 vmxish\n')).toBe(false);
  });
});

describe('a processor of another kind', () => {
  it('is told plainly', () => {
    expect(() => requireProcessor('x64')).not.toThrow();
    expect(() => requireProcessor('arm64')).toThrow('lab roce is for x86-64 only as yet, and this is arm64');
  });
});

describe("the guest's console", () => {
  it('is kept as its last lines, without escape sequences', () => {
    const tail = new ConsoleTail(2);
    tail.push('one\r\ntw');
    tail.push('o\r\n\x1b[1;31mthr\x1b[0mee\r\n\r\n');
    tail.push('fo\x07ur');
    expect(tail.lines).toEqual(['two', 'three', 'four']);
  });
});

describe('the kernel package', () => {
  it("is what Debian's meta package depends on", () => {
    expect(kernelDependency('linux-image-amd64\n  Depends: linux-image-6.1.0-57-amd64\n')).toBe(
      'linux-image-6.1.0-57-amd64',
    );
    expect(kernelDependency('linux-image-amd64\n  Depends: linux-base\n')).toBeNull();
    expect(kernelDependency('')).toBeNull();
  });

  it('is of the suite that runs here, and of Debian only', () => {
    expect(debianSuite('ID=debian\nVERSION_CODENAME=bookworm\n')).toBe('bookworm');
    expect(debianSuite('PRETTY_NAME="Debian"\nID=debian\n')).toBe('sid');
    expect(() => debianSuite('ID=fedora\nPRETTY_NAME="Fedora 43"\n')).toThrow('this is Fedora 43');
    expect(() => debianSuite('')).toThrow('another system');
  });
});

describe('packages that are missing', () => {
  it('are all named at once, with why and with the command', () => {
    const names = ['qemu-system-x86', 'iproute2', 'xz-utils'];
    expect(() => requirePackages(names, () => true)).not.toThrow();
    expect(() => requirePackages(names, (path) => path.includes('rdma'))).toThrowError(
      expect.objectContaining({
        message: expect.stringMatching(/qemu-system-x86 \(.*\); xz-utils \(/),
        hint: 'apt install qemu-system-x86 xz-utils',
        exit: 69,
      }),
    );
    expect(missingPackages('x', ['zstd'])).toMatchObject({ code: 'no_package', hint: 'apt install zstd' });
  });
});
