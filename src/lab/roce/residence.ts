/** `lab up`, `lab down` and `lab status` for lab roce. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { packageRoot } from '../../package-root.ts';
import { SignalWatch, statusOfSignal } from '../../processes/child.ts';
import { LabError } from '../error.ts';
import { nodeProgram } from '../node-program.ts';
import type { LabStatus } from '../status.ts';
import { FrameType } from './frames.ts';
import { keepGuest } from './keeper.ts';
import { outcomeOf, Parent } from './parent.ts';
import { awaitResident, findResident, type Resident, requireSameVersion } from './resident.ts';
import { machineText } from './run.ts';

export interface RoceUpOptions {
  /** Not to use KVM even where it is. */
  readonly emulate: boolean;
  readonly say: (line: string) => void;
}

/** What there is to say, or the exit status where a signal came first. */
export type Outcome = LabStatus | { readonly interrupted: number };

/**
 * Starts a guest that stays up when this process has ended, unless one is up.
 * @throws LabError where it does not start
 */
export function upRoceLab({ emulate, say }: RoceUpOptions): Promise<Outcome> {
  return untilSignal(async (abort) => {
    const found = await awaitResident(abort);
    if (found.state === 'up') {
      requireSameVersion(found);
      found.wire.close();
      say('lab roce: it is up already');
      return statusOf(found);
    }
    await startKeeper(emulate, say, abort);
    const resident = await awaitResident(abort);
    if (resident.state === 'up') resident.wire.close();
    return statusOf(resident);
  });
}

async function startKeeper(emulate: boolean, say: (line: string) => void, abort: AbortSignal): Promise<void> {
  const program = join(packageRoot(), 'bin/rdmatool.js');
  const keeper = spawn(
    nodeProgram(),
    [program, 'lab', 'up', 'roce', '--foreground', ...(emulate ? ['--emulate'] : [])],
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], detached: true, cwd: '/' },
  );
  const interrupt = (): void => {
    keeper.kill('SIGTERM');
  };
  abort.addEventListener('abort', interrupt, { once: true });
  try {
    await outcomeOf(keeper, say);
  } catch (error) {
    abort.throwIfAborted();
    throw error;
  } finally {
    abort.removeEventListener('abort', interrupt);
    if (keeper.connected) keeper.disconnect();
    keeper.stderr?.destroy();
    keeper.unref();
  }
}

/**
 * Keeps a guest in this process until a signal, or `lab down`, ends it. Returns the exit status.
 * @throws LabError where it does not start, or ends by itself
 */
export async function keepRoceLab({ emulate, say }: RoceUpOptions): Promise<number> {
  const parent = Parent.ofThisProcess();
  const result = await untilSignal(async (abort) => {
    const gone = new AbortController();
    parent?.lost.then(() => gone.abort());
    try {
      const isOurs = await keepGuest({
        emulate,
        abort: AbortSignal.any([abort, gone.signal]),
        say: (line) => (parent ? parent.say(line) : say(line)),
        ready: ({ kernel, acceleration }) => {
          if (parent) parent.conclude('ready');
          else say(`lab roce: up: ${machineText(kernel, acceleration)}`);
        },
      });
      if (!isOurs && !parent)
        throw new LabError('busy', 'lab roce is up already', 'rdmatool lab down roce', 1);
      await parent?.conclude('busy');
      return 0;
    } catch (error) {
      if (!parent || !(error instanceof LabError)) throw error;
      await parent.conclude(error);
      return error.exit;
    } finally {
      parent?.leave();
    }
  });
  return typeof result === 'number' ? result : result.interrupted;
}

/** Ends the guest that is up. */
export async function downRoceLab(say: (line: string) => void): Promise<Outcome> {
  return untilSignal(async (abort) => {
    const found = await awaitResident(abort);
    if (found.state !== 'up') {
      if (found.state === 'down') say('lab roce: it is not up');
      return statusOf(found);
    }
    found.wire.send(0, FrameType.STOP);
    const isStuck = await Promise.race([
      found.wire.closed.then(() => false),
      setTimeout(STOP_DEADLINE_MS, true, { ref: false, signal: abort }),
    ]);
    found.wire.close();
    if (!isStuck) return statusOf({ state: 'down' });
    throw new LabError(
      'stuck',
      `lab roce: process ${found.record.pid}, which keeps the guest, does not end`,
      `kill -KILL ${found.record.pid}`,
      75,
    );
  });
}

const STOP_DEADLINE_MS = 15_000;

/** Whether a guest is up; what one that has ended left is removed. */
export async function roceLabStatus(): Promise<LabStatus> {
  const found = await findResident();
  if (found.state === 'up') found.wire.close();
  return statusOf(found);
}

async function untilSignal<T>(
  work: (abort: AbortSignal) => Promise<T>,
): Promise<T | { readonly interrupted: number }> {
  const watch = new SignalWatch();
  const abort = new AbortController();
  watch.forward = () => abort.abort();
  try {
    return await work(abort.signal);
  } catch (error) {
    const { received } = watch;
    if (received === null || !abort.signal.aborted) throw error;
    return { interrupted: statusOfSignal(received) };
  } finally {
    watch.close();
  }
}

function statusOf(resident: Resident): LabStatus {
  const name = 'roce';
  if (resident.state === 'down' || resident.state === 'starting') return { name, state: resident.state };
  const { kernel, acceleration, since, pid, qemuPid } = resident.record;
  const machine = { kernel, acceleration, since };
  return resident.state === 'up'
    ? { name, state: 'up', machine, process: { pid, memoryBytes: residentMemory(qemuPid) } }
    : { name, state: 'died', machine, death: resident.death };
}

/** VmRSS of proc(5); a process that has ended uses none. */
function residentMemory(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
