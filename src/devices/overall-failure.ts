import { Failure, type FailureJson } from '../explain/failure.ts';

const MOST_NAMES = 8;

/** One of several things that were asked. */
export interface Asked {
  readonly name: string;
  readonly error: FailureJson | null;
}

/**
 * The failure of the whole: the one that everything has, or that some have failed; null where nothing has.
 * @param what the things are, in the plural
 */
export function overallFailure(all: readonly Asked[], what: string): FailureJson | null {
  const failed = all.flatMap(({ name, error }) => (error === null ? [] : [{ name, error }]));
  const [first] = failed;
  if (first === undefined) return null;
  if (all.length === 1) return first.error;
  const count = `${failed.length} of ${all.length} ${what} failed`;
  if (failed.length === 1) {
    const { message, hint, errno } = first.error;
    return new Failure('SOME_DEVICES_FAILED', `${count}: ${message}`, hint, { errno }).toJSON();
  }
  // What is wrong with the machine is wrong with each device, and said once.
  if (failed.every(({ error }) => error.message === first.error.message)) {
    return failed.length === all.length
      ? first.error
      : new Failure('SOME_DEVICES_FAILED', `${count}: ${first.error.message}`, first.error.hint, {
          errno: first.error.errno,
        }).toJSON();
  }
  const sameCode = failed.every(({ error }) => error.code === first.error.code);
  const names = failed
    .slice(0, MOST_NAMES)
    .map(({ name }) => name)
    .join(', ');
  return new Failure(
    sameCode && failed.length === all.length ? first.error.code : 'SOME_DEVICES_FAILED',
    `${count}: ${names}${failed.length > MOST_NAMES ? ' …' : ''}${sameCode ? `; the first: ${first.error.message}` : ''}`,
    sameCode ? first.error.hint : 'rdmatool query-device NAME says why, for each',
    { errno: sameCode ? first.error.errno : null },
  ).toJSON();
}
