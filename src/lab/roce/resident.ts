/** The guest that `lab up` leaves: its folder, and who finds it there. */
import { existsSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { LabError } from '../error.ts';
import { type Lock, lockFile } from '../lock.ts';
import { makePrivate, requirePrivate, runtimeDirectory } from '../runtime.ts';
import type { LabDeath } from '../status.ts';
import { guestKey } from './boot-files.ts';
import { type Frame, Wire } from './frames.ts';
import type { Acceleration } from './qemu.ts';

/** What is on record of a guest that is up, or was. */
export interface ResidentRecord {
  /** `guestKey` of the rdmatool that started it. */
  readonly guest: string;
  readonly kernel: string;
  readonly acceleration: Acceleration;
  /** Of the process that keeps the guest, and of QEMU. */
  readonly pid: number;
  readonly qemuPid: number;
  /** RFC 3339. */
  readonly since: string;
  /** Why it has ended, if it has without being asked to, and the end of its console. */
  readonly death: LabDeath | null;
}

export type Resident =
  | { readonly state: 'up'; readonly record: ResidentRecord; readonly wire: Wire }
  | { readonly state: 'starting' }
  /** It ended by itself. Its folder has been removed. */
  | { readonly state: 'died'; readonly record: ResidentRecord; readonly death: LabDeath }
  | { readonly state: 'down' };

const UNKNOWN_END = 'the process that kept it was killed';
const HELLO_DEADLINE_MS = 10_000;
const POLL_MS = 50;
/** The kernel may have to be fetched first. */
const START_DEADLINE_MS = 10 * 60_000;
/** bind(2) takes no longer path. */
const LONGEST_SOCKET_PATH = 107;

/** The files of a resident guest. A process that holds the lock keeps one, or is about to. */
export class ResidentFolder {
  readonly path = join(runtimeDirectory(), 'roce');
  readonly socketPath = join(this.path, 'socket');
  readonly #recordPath = join(this.path, 'guest.json');

  constructor() {
    if (this.socketPath.length > LONGEST_SOCKET_PATH) {
      throw new LabError(
        'unsafe',
        `${this.socketPath} is too long for a socket`,
        'set XDG_RUNTIME_DIR to a shorter path',
        1,
      );
    }
    requirePrivate(dirname(this.path));
  }

  get exists(): boolean {
    return existsSync(this.path);
  }

  /** The right to keep a guest here, or null where another process does, or is about to. */
  async lock(): Promise<Lock | null> {
    makePrivate(dirname(this.path));
    return lockFile(join(this.path, 'lock'));
  }

  write(record: ResidentRecord): void {
    const fresh = `${this.#recordPath}.new`;
    writeFileSync(fresh, `${JSON.stringify(record)}\n`);
    renameSync(fresh, this.#recordPath);
  }

  read(): ResidentRecord | null {
    try {
      const record: ResidentRecord = JSON.parse(readFileSync(this.#recordPath, 'utf8'));
      return record;
    } catch {
      return null;
    }
  }

  /** Only for who holds the lock, which is let go. */
  remove(lock: Lock): void {
    for (const path of [this.socketPath, this.#recordPath, `${this.#recordPath}.new`])
      rmSync(path, { force: true });
    lock.release();
    try {
      rmdirSync(this.path);
      rmdirSync(dirname(this.path));
    } catch {
      // Another process begins to use it.
    }
  }
}

/** Looks for the guest that is up. The files of one that has ended are removed. */
export async function findResident(folder = new ResidentFolder()): Promise<Resident> {
  if (!folder.exists) return { state: 'down' };
  const up = await contact(folder);
  if (up !== null) return up;
  const lock = await folder.lock();
  if (lock === null) return { state: 'starting' };
  const record = folder.read();
  folder.remove(lock);
  if (record === null) return { state: 'down' };
  return { state: 'died', record, death: record.death ?? { reason: UNKNOWN_END, console: [] } };
}

/** Waits for a guest that another process is starting. */
export async function awaitResident(
  abort: AbortSignal,
  folder = new ResidentFolder(),
): Promise<Exclude<Resident, { state: 'starting' }>> {
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline) {
    const resident = await findResident(folder);
    if (resident.state !== 'starting') return resident;
    await setTimeout(POLL_MS, undefined, { signal: abort });
  }
  throw new LabError(
    'stuck',
    'lab roce: another process has been starting the guest for ten minutes',
    `see which one has ${folder.path} open`,
    75,
  );
}

async function contact(folder: ResidentFolder): Promise<Extract<Resident, { state: 'up' }> | null> {
  const socket = await connectTo(folder.socketPath);
  if (socket === null) return null;
  const wire = new Wire(socket);
  const hello = await Promise.race([
    new Promise<Frame>((resolve) => wire.listen(resolve)),
    wire.closed.then(() => null),
    setTimeout(HELLO_DEADLINE_MS, null, { ref: false }),
  ]);
  const record = folder.read();
  // It has ended at this moment, or hangs.
  if (hello === null || record === null) {
    wire.close();
    return null;
  }
  return { state: 'up', record, wire };
}

function connectTo(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });
}

/**
 * A guest's agent and its clients must be of one version; to end it, they need not.
 * @throws LabError, and closes the wire
 */
export function requireSameVersion({ record, wire }: Extract<Resident, { state: 'up' }>): void {
  if (record.guest === guestKey()) return;
  wire.close();
  throw new LabError(
    'other_version',
    'lab roce: the guest that is up was started by another version of rdmatool',
    'rdmatool lab down roce',
    1,
  );
}
