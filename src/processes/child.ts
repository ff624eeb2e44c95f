/** Programs that run in the terminal of this process. */
import { type StdioOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

/** Signals that end a program in an orderly way. */
export const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type EndingSignal = (typeof ENDING_SIGNALS)[number];

/** The exit status that a shell gives a command that a signal ended. */
export const statusOfSignal = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** Whether Ctrl-C reaches the whole process group from the terminal: fields pgrp and tpgid of proc(5). */
function isForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[2] === fields[5];
  } catch {
    return false;
  }
}

/**
 * Catches the signals that end a process, from its construction until `close`. Before a child runs they are
 * remembered; while one runs they are passed on to it.
 */
export class SignalWatch {
  #received: EndingSignal | null = null;
  #forward: ((signal: EndingSignal) => void) | null = null;
  readonly #listeners = new Map<EndingSignal, () => void>();

  constructor() {
    for (const signal of ENDING_SIGNALS) {
      const listener = () => {
        this.#received ??= signal;
        this.#forward?.(signal);
      };
      this.#listeners.set(signal, listener);
      process.on(signal, listener);
    }
  }

  /** The first signal that came, or null. */
  get received(): EndingSignal | null {
    return this.#received;
  }

  /** As if the signal had come: it is passed on. */
  pass(signal: EndingSignal): void {
    this.#forward?.(signal);
  }

  set forward(to: ((signal: EndingSignal) => void) | null) {
    this.#forward = to;
  }

  close(): void {
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
    this.#forward = null;
  }
}

/** For so long, and so often, it is looked for processes that were just being started when a signal was passed on. */
const STRAGGLER_MS = 1000;
const STRAGGLER_EVERY_MS = 50;

function signalTo(pid: number, signal: EndingSignal): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended, or is another user's.
  }
}

/**
 * Runs a command in the terminal of this process, to its end. Returns its exit status as a shell would: 128 and the
 * signal that ended it, 127 when there is no such command, 126 when it cannot be executed.
 * @param targets the processes that signals are for, by the command's pid: itself unless given. Asked again for a
 *   moment, with those that were told: for what one of them had just started, and left behind
 */
export function runInTerminal(
  command: readonly string[],
  environment: NodeJS.ProcessEnv,
  watch: SignalWatch,
  complain: (message: string) => void,
  stdio: StdioOptions = 'inherit',
  targets?: (pid: number, told: ReadonlySet<number>) => readonly number[],
): Promise<number> {
  const [file = '', ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio, env: environment });
    watch.forward = (signal) => {
      // The terminal has sent Ctrl-C to the child as well: a second one would mean more than the user meant.
      if (signal === 'SIGINT' && isForeground()) return;
      const { pid } = child;
      if (!targets || pid === undefined) {
        child.kill(signal);
        return;
      }
      const told = new Set<number>();
      const tell = (): void => {
        for (const target of targets(pid, told)) {
          told.add(target);
          signalTo(target, signal);
        }
      };
      tell();
      const again = setInterval(tell, STRAGGLER_EVERY_MS);
      const enough = setTimeout(() => clearInterval(again), STRAGGLER_MS);
      child.once('exit', () => {
        clearInterval(again);
        clearTimeout(enough);
      });
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      // A signal that could not be sent is reported here too, while the child runs on.
      if (child.pid !== undefined) return;
      const isMissing = error.code === 'ENOENT';
      complain(
        `${file}: ${isMissing ? 'command not found' : `cannot be executed (${error.code ?? error.message})`}`,
      );
      resolve(isMissing ? 127 : 126);
    });
    child.on('exit', (code, signal) => resolve(code ?? statusOfSignal(signal ?? 'SIGKILL')));
  });
}
