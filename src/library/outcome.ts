/** How the functions of the library fail: by a Failure, which has what was found out until then. */
import { Failure, type FailureJson } from '../explain/failure.ts';

/** A failure of an operation that came some way: its document, as `--json` of the command prints it. */
export class OperationFailure<R extends object = object> extends Failure {
  /** What was found out until then: the steps that were done, the route, the answers. */
  readonly result: R;

  constructor(error: FailureJson, result: R) {
    super(error.code, error.message, error.hint, { errno: error.errno });
    this.result = result;
  }
}

/** The document itself where it tells of no failure. Throws OperationFailure. */
export function orThrow<R extends { readonly error: FailureJson | null }>(result: R): R {
  if (result.error !== null) throw new OperationFailure(result.error, result);
  return result;
}
