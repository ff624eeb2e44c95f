/** A guest: QEMU, from its start until the agent says that it is ready, and to its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { LabError } from '../error.ts';
import type { BootFiles } from './boot-files.ts';
import { ConsoleTail } from './console.ts';
import { type Frame, FrameType, PROTOCOL, readStrings, Wire } from './frames.ts';
import { type Acceleration, processorCount, QEMU, qemuArguments } from './qemu.ts';

export interface BootOptions {
  readonly files: BootFiles;
  /** To be tried in this order. */
  readonly accelerations: readonly Acceleration[];
  readonly say: (line: string) => void;
  readonly abort?: AbortSignal | undefined;
  /** For tests. */
  readonly kernelArguments?: readonly string[];
  readonly deadlineMs?: number;
}

/** A machine that is ready for commands. */
export interface Guest {
  /** The kernel's release, as uname(1) gives it in the guest. */
  readonly kernel: string;
  readonly acceleration: Acceleration;
  /** Of QEMU. */
  readonly pid: number;
  readonly wire: Wire;
  /** Resolves when QEMU has ended, with why. */
  readonly ended: Promise<string>;
  readonly console: ConsoleTail;
  /** Ends QEMU; resolves when it has. */
  stop(): Promise<void>;
}

/** A machine that is not emulated starts within two seconds. */
const KVM_DEADLINE_MS = 30_000;
const EMULATION_DEADLINE_MS = 120_000;
/** The descriptor under which QEMU finds its end of the agent's socket. */
const PORT_DESCRIPTOR = 3;

/**
 * Boots a guest.
 * @throws LabError with the end of the guest's console
 */
export async function bootGuest(options: BootOptions): Promise<Guest> {
  const [acceleration = 'emulation', ...others] = options.accelerations;
  try {
    return await boot(options, acceleration);
  } catch (error) {
    options.abort?.throwIfAborted();
    if (others.length === 0 || !(error instanceof LabError)) throw error;
    options.say('lab roce: the machine does not start with KVM here; emulating it');
    return bootGuest({ ...options, accelerations: others });
  }
}

async function boot(
  { files, abort, kernelArguments = [], deadlineMs }: BootOptions,
  acceleration: Acceleration,
): Promise<Guest> {
  abort?.throwIfAborted();
  const processors = processorCount();
  const machine = { files, acceleration, processors, port: PORT_DESCRIPTOR, kernelArguments };
  // QEMU ends with this process, however that ends. A session of its own keeps Ctrl-C from it.
  const qemu = spawn('setpriv', ['--pdeathsig', 'KILL', '--', QEMU, ...qemuArguments(machine)], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
    cwd: '/',
  });
  const console = new ConsoleTail();
  qemu.stdout?.setEncoding('utf8').on('data', (text: string) => console.push(text));
  qemu.stderr?.setEncoding('utf8').on('data', (text: string) => console.push(text));
  const ended = endOf(qemu);
  const stop = async (): Promise<void> => {
    qemu.kill('SIGKILL');
    await ended;
  };
  try {
    const wire = new Wire(portOf(qemu));
    const hello = await readiness(wire, ended, deadlineMs ?? deadlineOf(acceleration), abort);
    return { kernel: kernelOf(hello), acceleration, pid: qemu.pid ?? 0, wire, ended, console, stop };
  } catch (error) {
    await stop();
    if (!(error instanceof BootError)) throw error;
    throw new LabError(
      error.isLate ? 'late' : 'boot_failed',
      `lab roce: the guest ${error.message}${quoted(console.lines)}`,
      error.isLate
        ? 'see what else keeps this machine busy, and try again'
        : `if it fails again, remove ${files.initramfs.replace(/\/[^/]*$/, '')}, which is then made anew`,
      error.isLate ? 75 : 1,
    );
  }
}

const deadlineOf = (acceleration: Acceleration): number =>
  acceleration === 'kvm' ? KVM_DEADLINE_MS : EMULATION_DEADLINE_MS;

class BootError extends Error {
  constructor(
    message: string,
    readonly isLate: boolean,
  ) {
    super(message);
  }
}

/** The end of a console, under a message. */
export const quoted = (lines: readonly string[]): string =>
  lines.length === 0
    ? '; its console is empty'
    : `; its console ends with:\n${lines.map((line) => `  ${line}`).join('\n')}`;

function endOf(qemu: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    qemu.on('error', (error) => {
      // Also raised for a signal that could not be sent.
      if (qemu.pid === undefined) resolve(`QEMU cannot be started: ${error.message}`);
    });
    // After the last of its output.
    qemu.on('close', (code, signal) =>
      resolve(signal === null ? `QEMU ended with ${code}` : `QEMU was ended by ${signal}`),
    );
  });
}

function portOf(qemu: ChildProcess): Socket {
  const port = qemu.stdio[PORT_DESCRIPTOR];
  if (!(port instanceof Socket)) throw new Error('no socket to QEMU');
  return port;
}

/** The agent's first frame. */
function readiness(
  wire: Wire,
  ended: Promise<string>,
  deadlineMs: number,
  abort: AbortSignal | undefined,
): Promise<Frame> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new BootError(`was not ready within ${deadlineMs / 1000} s`, true)),
      deadlineMs,
    );
    const aborted = (): void => reject(abort?.reason);
    abort?.addEventListener('abort', aborted, { once: true });
    const settle = (): void => {
      clearTimeout(late);
      abort?.removeEventListener('abort', aborted);
    };
    wire.listen((frame) => {
      settle();
      resolve(frame);
    });
    ended.then((reason) => {
      settle();
      reject(new BootError(`did not start: ${reason}`, false));
    });
  });
}

/** The kernel's release, from an agent's hello. */
function kernelOf({ type, bytes }: Frame): string {
  const [protocol, kernel] = readStrings(bytes);
  if (type === FrameType.HELLO && protocol === PROTOCOL && kernel !== undefined) return kernel;
  throw new BootError(`says something else than hello: ${bytes.toString('latin1', 0, 80)}`, false);
}
