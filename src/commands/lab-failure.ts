import { ExitStatus, Failure, type FailureCode } from '../explain/failure.ts';
import { LabError } from '../lab/error.ts';

const CODES: Readonly<Record<string, FailureCode>> = {
  no_package: 'NO_PACKAGE',
  unsupported: 'UNSUPPORTED_PLATFORM',
  interrupted: 'INTERRUPTED',
};

const BY_EXIT: Readonly<Record<number, FailureCode>> = {
  [ExitStatus.USAGE]: 'USAGE',
  [ExitStatus.UNAVAILABLE]: 'NO_COMPILER',
  [ExitStatus.TIMED_OUT]: 'TIMED_OUT',
  [ExitStatus.NO_PERMISSION]: 'NO_PERMISSION',
};

/** What a lab says as every command says it. Anything but a lab's error is thrown on. */
export function labFailure(error: unknown): Failure {
  if (!(error instanceof LabError)) throw error;
  const code = CODES[error.code] ?? BY_EXIT[error.exit] ?? 'LAB_FAILED';
  return new Failure(code, error.message, error.hint ?? '', { cause: error });
}
