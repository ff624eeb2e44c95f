/** QEMU's command line. */
import { accessSync, constants, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { BootFiles } from './boot-files.ts';
import { PORT_NAME } from './frames.ts';

/** How the guest's processor comes about: by the host's own, or in software. */
export type Acceleration = 'kvm' | 'emulation';

export interface Machine {
  readonly files: BootFiles;
  readonly acceleration: Acceleration;
  readonly processors: number;
  /** The descriptor of a socket for the agent's port. */
  readonly port: number;
  /** For tests: further arguments of the kernel. */
  readonly kernelArguments: readonly string[];
}

export const QEMU = 'qemu-system-x86_64';
const MEMORY = '1024M';
const MAXIMUM_PROCESSORS = 2;

/**
 * `panic` and `reboot`: a kernel that fails resets the machine, and QEMU then ends. The others make the start
 * quicker, or spare an emulated processor what it is slow at.
 */
const KERNEL_ARGUMENTS = [
  'console=ttyS0',
  'quiet',
  'panic=-1',
  'reboot=t',
  'rdinit=/init',
  'mitigations=off',
  'no_timer_check',
  'random.trust_cpu=on',
  'audit=0',
  'apparmor=0',
  'init_on_alloc=0',
  'cryptomgr.notests',
];

/**
 * An emulated processor that is starved while the kernel measures its counter is taken for a slow one, and time then
 * runs many times too fast. The timer of the machine has a known rate.
 */
const CLOCK: Readonly<Record<Acceleration, string>> = {
  kvm: 'tsc=reliable',
  emulation: 'clocksource=hpet',
};

/** The arguments for a guest without network and disks: a console, the agent's port, and the host's files. */
export function qemuArguments({ files, acceleration, processors, port, kernelArguments }: Machine): string[] {
  return [
    ...['-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none', '-nic', 'none'],
    ...['-machine', 'q35', '-accel', acceleration === 'kvm' ? 'kvm' : 'tcg,thread=multi'],
    // la57 costs an emulated processor another level of page tables.
    ...['-cpu', 'max,-la57', '-smp', String(processors), '-m', MEMORY],
    ...['-kernel', files.kernel, '-initrd', files.initramfs],
    ...['-append', [...KERNEL_ARGUMENTS, CLOCK[acceleration], ...kernelArguments].join(' ')],
    ...['-chardev', 'stdio,id=console,signal=off', '-serial', 'chardev:console'],
    ...['-device', 'virtio-serial-pci', '-chardev', `socket,id=agent,fd=${port}`],
    ...['-device', `virtserialport,chardev=agent,name=${PORT_NAME}`],
    ...share('cached', 'readonly=on'),
    ...share('live', 'readonly=off'),
  ];
}

/** The host's files under a mount tag; the guest shows commands only parts of them. */
const share = (tag: string, access: string): string[] => [
  '-fsdev',
  `local,id=${tag},path=/,security_model=none,${access},multidevs=remap`,
  '-device',
  `virtio-9p-pci,fsdev=${tag},mount_tag=${tag}`,
];

export const processorCount = (): number => Math.min(MAXIMUM_PROCESSORS, availableParallelism());

/** What to try: KVM where it is usable, and then emulation. */
export const accelerations = (emulate: boolean): Acceleration[] =>
  !emulate && isKvmUsable() ? ['kvm', 'emulation'] : ['emulation'];

/**
 * Whether KVM is there for this user. A /dev/kvm on a machine whose processor shows no virtualisation does not work
 * as QEMU needs it.
 */
export function isKvmUsable(cpuinfo: string = readFileSync('/proc/cpuinfo', 'utf8')): boolean {
  if (!/^flags\s*:.*\b(vmx|svm)\b/m.test(cpuinfo)) return false;
  try {
    accessSync('/dev/kvm', constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
