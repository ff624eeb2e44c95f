/** A way to the kernel and a session on it, for as long as some work takes. */
import { Failure } from '../explain/failure.ts';
import { MissingLibraryError } from '../native/errors.ts';
import { thisMachine } from '../system/this-machine.ts';
import type { HeaderKind, TransportName, Umad } from './backend.ts';
import { noLibrary, noOldHeaderInLibrary } from './failures.ts';
import { MadSession, type SessionOptions } from './session.ts';
import { possibleWindow } from './simulator.ts';

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
 * Opens a session for `work`, and closes it whatever happens: agents left behind would hold their classes. The signal
 * closes the session; what then fails is an interruption. Throws Failure.
 */
export async function withSession<T>(
  options: SessionOptions,
  wanted: Umad | TransportChoice,
  signal: AbortSignal,
  work: (session: MadSession, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  let session: MadSession | undefined;
  const close = (): void => void session?.close();
  signal.addEventListener('abort', close);
  try {
    signal.throwIfAborted();
    const umad = 'openPort' in wanted ? wanted : await loadUmad(wanted);
    const possible = { ...options, window: possibleWindow(options.window) };
    session = await MadSession.open(umad, possible, thisMachine().sysfs.list('class/infiniband') ?? []);
    signal.throwIfAborted();
    return await work(session, signal);
  } catch (error) {
    if (signal.aborted)
      throw new Failure('INTERRUPTED', 'interrupted', 'everything was taken down', { cause: error });
    throw error;
  } finally {
    signal.removeEventListener('abort', close);
    await session?.close();
  }
}
