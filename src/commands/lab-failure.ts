import { ExitStatus, Failure, type FailureCode } from '../explain/failure.ts';
import { LabError } from '../lab/error.ts';

const CODES: Readonly<Record<string, FailureCode>> = {
  no_package: 'NO_PACKAGE',
  interrupted: 'INTERRUPTED',
};

/** Runs a lab's work; a LabError comes out as the failure that main explains. */
export async function labFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LabError)) throw error;
    throw new Failure(codeOf(error), error.message, error.hint ?? '', { cause: error });
  }
}

function codeOf(error: LabError): FailureCode {
  if (error.exit === ExitStatus.USAGE) return 'USAGE';
  if (error.exit === ExitStatus.UNAVAILABLE) return CODES[error.code] ?? 'NO_COMPILER';
  return CODES[error.code] ?? 'LAB_FAILED';
}
