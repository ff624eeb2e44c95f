/** Runs a command in a guest with this process's own streams, terminal and signals. */
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import type { SignalWatch } from '../../processes/child.ts';
import { LabError } from '../error.ts';
import { type CommandEnd, GuestCommand } from './command.ts';
import type { Wire } from './frames.ts';
import { makeTerminalRaw } from './raw-terminal.ts';
import type { CommandRequest, TerminalSize } from './request.ts';

const SESSION = 1;
const ENOENT = constants.errno.ENOENT;

/** What the command needs to know of this process's terminal, if it has one. */
export function ownTerminal(): CommandRequest['terminal'] {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return null;
  return { ...ownSize(), errorApart: !process.stderr.isTTY };
}

const ownSize = (): TerminalSize => ({ columns: process.stdout.columns, rows: process.stdout.rows });

/**
 * Runs a command over a wire that is its own, to its end. Returns its exit status as a shell would: 128 and the signal
 * that ended it, 127 when there is no such command, 126 when it cannot be executed.
 * @param unread aborts when nobody reads this process's stdout any more
 * @throws LabError where the guest ends before the command does
 */
export async function runInOwnTerminal(
  wire: Wire,
  request: CommandRequest,
  watch: SignalWatch,
  complain: (message: string) => void,
  unread: AbortSignal,
): Promise<number> {
  const command = new GuestCommand(wire, SESSION, request, (stream, bytes) => writeOwn(stream, bytes));
  const leaveUnread = (): void => command.outputUnread();
  const resized = (): void => command.resize(ownSize());
  wire.listen((frame) => command.handle(frame));
  unread.addEventListener('abort', leaveUnread);
  watch.forward = (signal) => command.signal(constants.signals[signal]);
  // Keys are for the terminal in the guest, Ctrl-C as well.
  const restore = request.terminal === null ? null : makeTerminalRaw();
  if (restore) process.stdout.on('resize', resized);
  // Ends with an error when the input is closed below.
  command.feed(process.stdin).catch(() => {});
  try {
    return statusOf(await command.end, request, complain);
  } finally {
    watch.forward = null;
    unread.removeEventListener('abort', leaveUnread);
    process.stdout.off('resize', resized);
    restore?.();
    process.stdin.destroy();
  }
}

function writeOwn(stream: 'stdout' | 'stderr', bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    process[stream].write(bytes, (error) => resolve(!error));
  });
}

function statusOf(
  end: CommandEnd,
  { command, directory }: CommandRequest,
  complain: (message: string) => void,
): number {
  if (end.kind === 'exited') return end.status;
  if (end.kind === 'signalled') return 128 + end.signal;
  if (end.kind === 'lost') {
    throw new LabError('guest_died', 'lab roce: the guest has ended, and the command with it', null, 1);
  }
  const isMissing = end.errno === ENOENT && end.what === command[0];
  if (isMissing) complain(`${end.what}: command not found; see --share for directories outside of /usr`);
  else if (end.what === directory) complain(`${end.what}: the lab has no such directory to start in`);
  else complain(`${end.what}: ${getSystemErrorName(-end.errno)}`);
  return isMissing ? 127 : 126;
}
