import { MissingLibraryError } from '../native/errors.ts';
import { NativeLibrary } from '../native/library.ts';

export type LoadedLibrary =
  | { readonly path: string | null; readonly version: string | null }
  /** What the dynamic linker said. */
  | { readonly reason: string };

export interface SharedLibraries {
  /** Loads a library as a program would, and says which file answered. */
  load(soname: string): LoadedLibrary;
}

/** The libraries of the running machine. */
export function openSharedLibraries(): SharedLibraries {
  return {
    load(soname) {
      try {
        return new NativeLibrary(soname).origin();
      } catch (error) {
        if (error instanceof MissingLibraryError) return { reason: error.reason };
        throw error;
      }
    },
  };
}
