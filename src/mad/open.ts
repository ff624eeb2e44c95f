/** libibumad and a session on it, for as long as some work takes. */
import { Failure } from '../explain/failure.ts';
import { MissingLibraryError } from '../native/errors.ts';
import { Libibumad, type Umad } from '../native/libibumad.ts';
import { thisMachine } from '../system/this-machine.ts';
import { noLibrary } from './failures.ts';
import { MadSession, type SessionOptions } from './session.ts';

/** Throws Failure. */
export function loadUmad(): Umad {
  try {
    return new Libibumad();
  } catch (error) {
    if (error instanceof MissingLibraryError) throw noLibrary(thisMachine(), error);
    throw error;
  }
}

/**
 * Opens a session for `work`, and closes it whatever happens: agents left behind would hold their classes. Ctrl-C
 * aborts the signal and closes the session; what then fails is an interruption. Throws Failure.
 */
export async function withSession<T>(
  options: SessionOptions,
  work: (session: MadSession, signal: AbortSignal) => Promise<T>,
  umad: Umad = loadUmad(),
): Promise<T> {
  const abort = new AbortController();
  let session: MadSession | undefined;
  const interrupt = (): void => {
    abort.abort();
    void session?.close();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, interrupt);
  try {
    session = await MadSession.open(umad, options, thisMachine().sysfs.list('class/infiniband') ?? []);
    return await work(session, abort.signal);
  } catch (error) {
    if (abort.signal.aborted) throw new Failure('INTERRUPTED', 'interrupted', '', { cause: error });
    throw error;
  } finally {
    await session?.close();
    for (const signal of signals) process.off(signal, interrupt);
  }
}
