/** A way to the kernel and a session on it, for as long as some work takes. */
import { Failure } from '../explain/failure.ts';
import { MissingLibraryError } from '../native/errors.ts';
import { thisMachine } from '../system/this-machine.ts';
import type { HeaderKind, TransportName, Umad } from './backend.ts';
import { noLibrary, noOldHeaderInLibrary } from './failures.ts';
import { MadSession, type SessionOptions } from './session.ts';

/** How the kernel is spoken to; null for what goes with the other, libibumad and the new header if both are. */
export interface TransportChoice {
  readonly transport: TransportName | null;
  readonly header: HeaderKind | null;
}

/** Loads the transport that is wanted, and no other. Throws Failure. */
export async function loadUmad({ transport, header }: TransportChoice): Promise<Umad> {
  // libibumad turns the new header on by itself.
  if (header === 'old' && transport === 'libibumad') throw noOldHeaderInLibrary();
  if (transport === 'device' || header === 'old') {
    const { deviceBackend } = await import('./device-backend.ts');
    return deviceBackend(header ?? 'new');
  }
  const { Libibumad } = await import('../native/libibumad.ts');
  const { libibumadBackend } = await import('./libibumad-backend.ts');
  try {
    return libibumadBackend(new Libibumad());
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
  wanted: Umad | TransportChoice,
  work: (session: MadSession, signal: AbortSignal) => Promise<T>,
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
    const umad = 'openPort' in wanted ? wanted : await loadUmad(wanted);
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
