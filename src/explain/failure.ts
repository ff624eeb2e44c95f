import type { ErrnoValue } from './errno.ts';

/** Exit statuses, after sysexits(3) where it has one. */
export const ExitStatus = {
  DONE: 0,
  FAILED: 1,
  USAGE: 2,
  UNAVAILABLE: 69,
  TIMED_OUT: 75,
  NO_PERMISSION: 77,
  INTERRUPTED: 130,
} as const;

/** What each exit status tells, for the manual. */
export const EXIT_MEANINGS: ReadonlyArray<readonly [number, string]> = [
  [ExitStatus.DONE, 'all that was asked for was done'],
  [ExitStatus.FAILED, 'something failed, or the finding is negative; one device of several failed'],
  [ExitStatus.USAGE, 'the command line was not understood'],
  [ExitStatus.UNAVAILABLE, 'a device, driver, library, module or device node is missing'],
  [ExitStatus.TIMED_OUT, 'no answer in time'],
  [ExitStatus.NO_PERMISSION, 'a device node may not be opened'],
  [ExitStatus.INTERRUPTED, 'interrupted (Ctrl-C)'],
];

/** What a command can fail with: a word for scripts, and the exit status that belongs to it. */
export const FAILURES = {
  USAGE: ExitStatus.USAGE,
  UNSUPPORTED_PLATFORM: ExitStatus.UNAVAILABLE,
  NO_LIBRARY: ExitStatus.UNAVAILABLE,
  NO_SYMBOL: ExitStatus.UNAVAILABLE,
  NO_PROVIDER: ExitStatus.UNAVAILABLE,
  NO_MODULE: ExitStatus.UNAVAILABLE,
  NO_DEVICE: ExitStatus.UNAVAILABLE,
  NO_NODE: ExitStatus.UNAVAILABLE,
  NO_COMPILER: ExitStatus.UNAVAILABLE,
  NO_PACKAGE: ExitStatus.UNAVAILABLE,
  OLD_KERNEL: ExitStatus.UNAVAILABLE,
  NOT_IN_BACKEND: ExitStatus.UNAVAILABLE,
  UNKNOWN_DEVICE: ExitStatus.UNAVAILABLE,
  NO_PERMISSION: ExitStatus.NO_PERMISSION,
  NO_UMAD: ExitStatus.UNAVAILABLE,
  NO_SM: ExitStatus.UNAVAILABLE,
  NO_SUCH_PORT: ExitStatus.FAILED,
  PORT_DOWN: ExitStatus.FAILED,
  DEVICE_GONE: ExitStatus.FAILED,
  REGISTER_FAILED: ExitStatus.FAILED,
  SEND_FAILED: ExitStatus.FAILED,
  MAD_STATUS: ExitStatus.FAILED,
  BAD_REPLY: ExitStatus.FAILED,
  INCOMPLETE: ExitStatus.FAILED,
  DAMAGED_LOG: ExitStatus.FAILED,
  NO_STRACE: ExitStatus.UNAVAILABLE,
  NOT_TRACED: ExitStatus.FAILED,
  SOME_LOST: ExitStatus.FAILED,
  COMPLETION_FAILED: ExitStatus.FAILED,
  DISCONNECTED: ExitStatus.FAILED,
  BAD_MESSAGE: ExitStatus.FAILED,
  BAD_DATA: ExitStatus.FAILED,
  OPEN_FAILED: ExitStatus.FAILED,
  QUERY_FAILED: ExitStatus.FAILED,
  SOME_DEVICES_FAILED: ExitStatus.FAILED,
  OUTPUT_FAILED: ExitStatus.FAILED,
  LAB_FAILED: ExitStatus.FAILED,
  INTERNAL: ExitStatus.FAILED,
  UNKNOWN_HOST: ExitStatus.FAILED,
  ADDRESS_NOT_LOCAL: ExitStatus.FAILED,
  ADDRESS_IN_USE: ExitStatus.FAILED,
  NO_ROUTE: ExitStatus.FAILED,
  PRIVATE_DATA_TOO_LONG: ExitStatus.USAGE,
  MEMLOCK_LIMIT: ExitStatus.FAILED,
  CM_CALL_FAILED: ExitStatus.FAILED,
  CM_EVENT_FAILED: ExitStatus.FAILED,
  REJECTED: ExitStatus.FAILED,
  UNREACHABLE: ExitStatus.TIMED_OUT,
  DEVICE_REMOVED: ExitStatus.UNAVAILABLE,
  SOME_CONNECTIONS_FAILED: ExitStatus.FAILED,
  SCRIPT_INVALID: ExitStatus.USAGE,
  EXPECTATION_FAILED: ExitStatus.FAILED,
  WRONG_ORDER: ExitStatus.FAILED,
  TIMED_OUT: ExitStatus.TIMED_OUT,
  INTERRUPTED: ExitStatus.INTERRUPTED,
} as const;

export type FailureCode = keyof typeof FAILURES;

/** A failure as JSON has it. */
export interface FailureJson {
  readonly code: FailureCode;
  readonly errno: ErrnoValue | null;
  readonly message: string;
  readonly hint: string;
}

/** A failure that a user can act on: what failed and why, and what to do next. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: FailureCode;
  readonly errno: ErrnoValue | null;
  /** What to do next. */
  readonly hint: string;

  constructor(
    code: FailureCode,
    message: string,
    hint: string,
    options: { errno?: ErrnoValue | null; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.errno = options.errno ?? null;
    this.hint = hint;
  }

  get exitStatus(): number {
    return FAILURES[this.code];
  }

  toJSON(): FailureJson {
    return { code: this.code, errno: this.errno, message: this.message, hint: this.hint };
  }
}
