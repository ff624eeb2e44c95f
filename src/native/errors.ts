/** A C call that failed: which one, and the errno it left or returned. */
export class NativeCallError extends Error {
  override readonly name = 'NativeCallError';
  constructor(
    readonly call: string,
    readonly errno: number,
  ) {
    super(`${call} failed with errno ${errno}`);
  }
}

/** A shared library that the dynamic linker cannot load. */
export class MissingLibraryError extends Error {
  override readonly name = 'MissingLibraryError';
  constructor(
    readonly library: string,
    readonly reason: string,
  ) {
    super(`${library} cannot be loaded: ${reason}`);
  }
}

/** A function that the loaded library does not export. */
export class MissingSymbolError extends Error {
  override readonly name = 'MissingSymbolError';
  constructor(
    readonly library: string,
    readonly symbol: string,
    /** The release of rdma-core that brought it, where that is known. */
    readonly since?: number,
  ) {
    super(
      `${library} has no ${symbol}${since === undefined ? '' : `; it needs rdma-core ${since} or newer`}`,
    );
  }
}

/** A machine whose C structures rdmatool does not know. */
export class UnsupportedPlatformError extends Error {
  override readonly name = 'UnsupportedPlatformError';
}

/** A call on a handle that has been closed; it never reaches C. */
export class ClosedHandleError extends Error {
  override readonly name = 'ClosedHandleError';
}

/** Flags of a registration that the kernel does not know. */
export class RefusedFlagsError extends NativeCallError {
  constructor(
    call: string,
    errno: number,
    /** Those that it knows; null where the library has not passed that on. */
    readonly supported: number | null,
  ) {
    super(call, errno);
  }
}
