/** Keeps a guest up for other processes, until one of them, or a signal, ends it. */
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { LabError } from '../error.ts';
import { guestKey, prepareBootFiles } from './boot-files.ts';
import { bootGuest, type Guest, quoted } from './guest.ts';
import { accelerations } from './qemu.ts';
import { Relay } from './relay.ts';
import { ResidentFolder, type ResidentRecord } from './resident.ts';

export interface Keeping {
  readonly emulate: boolean;
  readonly say: (line: string) => void;
  /** Ends the guest, or its start. */
  readonly abort: AbortSignal;
  /** Called once the guest takes commands. */
  readonly ready: (record: ResidentRecord) => void;
}

/**
 * Starts a guest and keeps it until it is ended.
 * @returns false where another process keeps one, or is about to
 * @throws LabError where it does not start, or ends by itself
 */
export async function keepGuest({ emulate, say, abort, ready }: Keeping): Promise<boolean> {
  const folder = new ResidentFolder();
  const lock = await folder.lock();
  if (lock === null) return false;
  let guest: Guest | undefined;
  let service: Service | undefined;
  try {
    // A predecessor that was killed has left its own.
    rmSync(folder.socketPath, { force: true });
    const files = await prepareBootFiles({ say, abort });
    guest = await bootGuest({ files, accelerations: accelerations(emulate), say, abort });
    const record = recordOf(guest);
    service = await serve(guest, folder.socketPath, abort);
    folder.write(record);
    ready(record);
    const reason = await Promise.race([guest.ended, service.stopped]);
    if (reason === null) return true;
    // For whoever asks next.
    folder.write({ ...record, death: { reason, console: guest.console.lines } });
    lock.release();
    throw new LabError(
      'guest_died',
      `lab roce: the guest has ended: ${reason}${quoted(guest.console.lines)}`,
      null,
      1,
    );
  } finally {
    service?.refuseMore();
    await guest?.stop();
    if (!lock.isReleased) folder.remove(lock);
    // Last, because it tells clients that the guest has gone.
    service?.close();
  }
}

const recordOf = ({ kernel, acceleration, pid }: Guest): ResidentRecord => ({
  guest: guestKey(),
  kernel,
  acceleration,
  pid: process.pid,
  qemuPid: pid,
  since: new Date().toISOString(),
  death: null,
});

interface Service {
  /** Resolves to null when a client, or the signal, asks for the end. */
  readonly stopped: Promise<null>;
  refuseMore(): void;
  close(): void;
}

async function serve(guest: Guest, path: string, abort: AbortSignal): Promise<Service> {
  let stop: () => void = () => {};
  const stopped = new Promise<null>((resolve) => {
    stop = () => resolve(null);
  });
  abort.addEventListener('abort', stop, { once: true });
  const relay = new Relay(guest.wire, guest.kernel, stop);
  const server: Server = createServer((socket) => relay.add(socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return { stopped, refuseMore: () => server.close(), close: () => relay.close() };
}
