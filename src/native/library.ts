/**
 * Shared libraries through koffi. A library is loaded when it is first asked for, and a function is looked up
 * when it is first called, so that an old library fails only where it is too old.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import koffi from 'koffi';
import { releaseInFileName } from '../abi/library-file.ts';
import { MissingLibraryError, MissingSymbolError } from './errors.ts';
import { refuseUnknownPlatform } from './platform.ts';

/** A pointer. It never leaves src/native except inside an object that knows whether it is still valid. */
export type Pointer = bigint;

/** What a C function takes: numbers, pointers, and memory that the callee fills. */
export type Argument = number | bigint | string | null | Uint8Array | Pointer[] | number[];

/** A result with the errno that the call left. errno means something only when the result says so. */
export interface Outcome<R> {
  readonly result: R;
  readonly errno: number;
}

/** A function of a shared library, called on this thread or on one of the pool's. */
export interface NativeFunction<R> {
  /** The bare function, for what is called so often that an object for each outcome counts: see lastErrno. */
  readonly raw: (...args: Argument[]) => R;
  call(...args: Argument[]): Outcome<R>;
  /** On a thread of the pool, or where the library is called `here`, at once on this one. */
  callAsync(...args: Argument[]): Promise<Outcome<R>>;
  /** For a call that may wait for a peer: on a thread of the pool in any case. */
  callOnPool(...args: Argument[]): Promise<Outcome<R>>;
}

/** The file that answered, and the rdma-core release that its name tells. */
export interface LibraryOrigin {
  readonly path: string | null;
  readonly version: string | null;
}

/** The files that are mapped into this process, in order of their addresses; none where /proc does not tell. */
export function mappedFiles(): string[] {
  let maps: string;
  try {
    maps = readFileSync('/proc/self/maps', 'utf8');
  } catch {
    return [];
  }
  const files = maps
    .split('\n')
    .filter((line) => line.includes('/'))
    // A library that was replaced under the running process.
    .map((line) => line.slice(line.indexOf('/')).replace(/ \(deleted\)$/, ''));
  return [...new Set(files)];
}

type KoffiLibrary = ReturnType<typeof koffi.load>;
type KoffiFunction = ReturnType<KoffiLibrary['func']>;

/** Where callAsync makes its calls: on a thread of the pool, or at once on this one, which then must be able to wait. */
export type Calling = 'pool' | 'here';

function wrap<R>(fn: KoffiFunction, calling: Calling): NativeFunction<R> {
  const call: NativeFunction<R>['call'] = (...args) => {
    const result: R = fn(...args);
    return { result, errno: koffi.errno() };
  };
  const callOnPool: NativeFunction<R>['callOnPool'] = (...args) =>
    new Promise((resolve, reject) => {
      fn.async(...args, (error: Error | null, result: R) => {
        // First thing in the callback: koffi carries the thread's errno over only until the next call.
        const errno = koffi.errno();
        if (error) reject(error);
        else resolve({ result, errno });
      });
    });
  return {
    raw: fn,
    call,
    callOnPool,
    callAsync: calling === 'pool' ? callOnPool : async (...args) => call(...args),
  };
}

/** The errno that the last call of a bare function left; of no use after any other call. */
export const lastErrno = (): number => koffi.errno();

const functionsAt = new Map<Pointer, NativeFunction<unknown>>();

/**
 * A function at an address, as the ops in a verbs context are. An address has one prototype: contexts of the
 * same provider share their ops.
 */
export function functionAt<R>(
  address: Pointer,
  prototype: ReturnType<typeof koffi.proto>,
): NativeFunction<R> {
  const known = functionsAt.get(address);
  if (known) return known as NativeFunction<R>;
  const found = wrap<R>(koffi.decode(address, prototype), 'pool');
  functionsAt.set(address, found as NativeFunction<unknown>);
  return found;
}

export class NativeLibrary {
  readonly #handle: KoffiLibrary;
  readonly #functions = new Map<string, NativeFunction<unknown> | null>();

  /** Loads `soname`, or the running program itself where it is null. Throws MissingLibraryError. */
  constructor(
    readonly soname: string | null,
    readonly calling: Calling = 'pool',
  ) {
    refuseUnknownPlatform();
    try {
      this.#handle = koffi.load(soname);
    } catch (error) {
      const reason = (error instanceof Error ? error.message : String(error)).replace(
        /^Failed to load shared library: /,
        '',
      );
      throw new MissingLibraryError(soname ?? 'the program', reason);
    }
  }

  /**
   * The function of that C prototype, or null where the library does not export it.
   * @param prototype for example `int ibv_close_device(void *context)`
   */
  find<R>(prototype: string): NativeFunction<R> | null {
    const known = this.#functions.get(prototype);
    if (known !== undefined) return known as NativeFunction<R> | null;
    let found: NativeFunction<R> | null = null;
    try {
      found = wrap<R>(this.#handle.func(prototype), this.calling);
    } catch (error) {
      // koffi says "Cannot find function"; anything else is a wrong prototype, a mistake of ours.
      if (!(error instanceof Error && /cannot find function/i.test(error.message))) throw error;
    }
    this.#functions.set(prototype, found as NativeFunction<unknown> | null);
    return found;
  }

  /**
   * As find, but a missing function throws MissingSymbolError.
   * @param since the release of rdma-core that brought the function, where not every one has it
   */
  get<R>(prototype: string, since?: number): NativeFunction<R> {
    const found = this.find<R>(prototype);
    if (found) return found;
    const symbol = /(\w+)\s*\(/.exec(prototype)?.[1] ?? prototype;
    throw new MissingSymbolError(this.soname === null ? 'the program' : basename(this.soname), symbol, since);
  }

  /** Where the dynamic linker found the library: rdma-core puts its release into the file's name. */
  origin(): LibraryOrigin {
    const stem = basename(`${this.soname}`);
    const path = mappedFiles().find((mapped) => basename(mapped).startsWith(stem)) ?? null;
    return { path, version: path === null ? null : releaseInFileName(path) };
  }
}

export const readU64 = (pointer: Pointer): bigint => BigInt(koffi.decode.uint64(pointer));
export const readS32 = (pointer: Pointer): number => koffi.decode.int32(pointer);
export const readPointer = (pointer: Pointer): Pointer => readU64(pointer);

/** A copy of `length` bytes at an address that C handed out. */
export const readBytes = (pointer: Pointer, length: number): Uint8Array => {
  if (length === 0) return new Uint8Array();
  const copy: Uint8Array = koffi.decode(pointer, 'uint8_t', length);
  return copy;
};

/** The bytes at an address, not a copy of them: for memory that is this process's own and outlives the view. */
export const bytesAt = (pointer: Pointer, length: number): Uint8Array =>
  new Uint8Array(koffi.view(pointer, length));

/** The NUL-terminated text at an address, null for the null pointer. */
export function readText(pointer: Pointer): string | null {
  if (pointer === 0n) return null;
  const found: string = koffi.decode(pointer, 'char', -1);
  return found;
}

/** Where `bytes` lie. They must be kept referenced for as long as C may look there. */
export const addressOf = (bytes: Uint8Array): Pointer => BigInt(koffi.address(bytes));

/** Declares a C function type for functionAt. */
export const prototype = (definition: string): ReturnType<typeof koffi.proto> => koffi.proto(definition);
