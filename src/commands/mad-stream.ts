/** What the commands share whose output is a stream of objects, and whose end may be a failure. */
import { Failure, type FailureJson } from '../explain/failure.ts';
import type { Block } from '../output/blocks.ts';
import type { Context, ResultDocument } from './spec.ts';

/** Shows one object of the stream. */
export type Tell = (object: ResultDocument, view: () => Promise<readonly Block[]>) => Promise<void>;

/**
 * Runs `work`, whose failure is the last object of the stream, and gives the exit status.
 * @param empty makes that object
 */
export async function streamed(
  context: Context,
  empty: (error: FailureJson | null) => ResultDocument,
  work: (tell: Tell) => Promise<FailureJson | null>,
): Promise<number> {
  const tell: Tell = async (object, view) => {
    await context.event(object, view);
  };
  let failure: FailureJson | null;
  try {
    failure = await work(tell);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    failure = error.toJSON();
  }
  if (failure !== null && context.json) await context.emit(empty(failure), '');
  return context.fail(failure);
}
