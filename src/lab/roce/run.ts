/** Runs a program of this machine in a guest: the one that is up, or one of its own. */
import { realpathSync, statSync } from 'node:fs';
import { packageRoot } from '../../package-root.ts';
import { SignalWatch, statusOfSignal } from '../../processes/child.ts';
import { usageError } from '../error.ts';
import { nodeProgram } from '../node-program.ts';
import { prepareBootFiles } from './boot-files.ts';
import type { Wire } from './frames.ts';
import { bootGuest } from './guest.ts';
import { type Acceleration, accelerations } from './qemu.ts';
import type { CommandRequest } from './request.ts';
import { awaitResident, type Resident, requireSameVersion } from './resident.ts';
import { planShares, surroundingsOf, versionedPaths } from './surroundings.ts';
import { ownTerminal, runInOwnTerminal } from './terminal.ts';

export interface RoceRunOptions {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Directories that the program sees beside the current one. */
  readonly shares: readonly string[];
  /** Not to use KVM even where it is, if a guest has to be started. */
  readonly emulate: boolean;
  readonly say: (line: string) => void;
  /** Aborts when nobody reads this process's stdout any more. */
  readonly unread: AbortSignal;
}

/**
 * Runs a program with this process's own streams, to its end. Returns the exit status for this process.
 * @throws LabError where there is no guest to be had
 */
export async function runRoceLab(options: RoceRunOptions): Promise<number> {
  if (options.command.length === 0) throw usageError('no command to run in the lab');
  const shares = options.shares.map(sharedDirectory);
  const watch = new SignalWatch();
  const abort = new AbortController();
  watch.forward = () => abort.abort();
  try {
    const resident = await awaitResident(abort.signal);
    if (resident.state === 'died') options.say(deathNotice(resident));
    const run = (wire: Wire, kernel: string, acceleration: Acceleration): Promise<number> => {
      options.say(`lab roce: ${machineText(kernel, acceleration)}`);
      const request = requestFor(options.command, shares);
      const complain = (message: string): void => options.say(`lab roce: ${message}`);
      return runInOwnTerminal(wire, request, watch, complain, options.unread);
    };
    if (resident.state === 'up') {
      requireSameVersion(resident);
      const { wire, record } = resident;
      try {
        abort.signal.throwIfAborted();
        return await run(wire, record.kernel, record.acceleration);
      } finally {
        wire.close();
      }
    }
    const files = await prepareBootFiles({ say: options.say, abort: abort.signal });
    const guest = await bootGuest({
      files,
      accelerations: accelerations(options.emulate),
      say: options.say,
      abort: abort.signal,
    });
    try {
      abort.signal.throwIfAborted();
      return await run(guest.wire, guest.kernel, guest.acceleration);
    } finally {
      await guest.stop();
    }
  } catch (error) {
    const { received } = watch;
    if (received !== null && abort.signal.aborted) return statusOfSignal(received);
    throw error;
  } finally {
    watch.close();
  }
}

/** `Linux 6.1.0-57-amd64 in a virtual machine, emulated`. */
export const machineText = (kernel: string, acceleration: Acceleration): string =>
  `Linux ${kernel} in a virtual machine, ${acceleration === 'kvm' ? 'with KVM' : 'emulated'}`;

const deathNotice = ({ record, death }: Extract<Resident, { state: 'died' }>): string =>
  `lab roce: the guest that was up since ${record.since} has ended: ${death.reason}`;

function sharedDirectory(path: string): string {
  try {
    if (statSync(path).isDirectory()) return realpathSync(path);
  } catch {
    // The same as what is no directory.
  }
  throw usageError(`--share: ${path} is not a directory`);
}

function requestFor(command: readonly string[], shares: readonly string[]): CommandRequest {
  const places = {
    directory: currentDirectory(),
    shares,
    packageRoot: packageRoot(),
    node: realpathSync(nodeProgram()),
  };
  return {
    command,
    ...surroundingsOf(process.env, places),
    directory: places.directory,
    shares: planShares(places),
    versions: Object.fromEntries(versionedPaths(places).map((path) => [path, versionOf(path)])),
    terminal: ownTerminal(),
    now: Date.now(),
  };
}

function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw usageError('the current directory does not exist any more');
  }
}

function versionOf(path: string): string {
  const status = statSync(path, { throwIfNoEntry: false });
  return status === undefined ? '' : `${status.ino} ${status.mtimeMs} ${status.size}`;
}
