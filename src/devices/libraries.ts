import { releaseInFileName } from '../abi/library-file.ts';
import type { Failure } from '../explain/failure.ts';
import type { LibraryOrigin } from '../model/query-device.ts';
import { MissingLibraryError } from '../native/errors.ts';
import { Libefa, mappedLibefa } from '../native/libefa.ts';
import { Libibverbs, type VerbsDevice, type VerbsDeviceList } from '../native/libibverbs.ts';
import type { Machine } from '../system/machine.ts';
import { OPEN_DEADLINE_MS, within } from '../waiting/deadline.ts';
import { listFailed, noLibrary, reasonOf } from './failures.ts';

const notLoaded = (reason: string): LibraryOrigin => ({
  path: null,
  version: null,
  unavailable: { path: reason, version: reason },
});

/** The libraries of one query: libibverbs with its device list, and libefa from the first EFA device on. */
export class VerbsLibraries {
  /** Devices that libibverbs serves, by name. */
  readonly devices: ReadonlyMap<string, VerbsDevice>;
  #efa: { library: Libefa; origin: LibraryOrigin } | MissingLibraryError | undefined;

  private constructor(
    readonly libibverbs: LibraryOrigin,
    private readonly list: VerbsDeviceList | null,
    /** Why libibverbs serves none, said of one device or (null) of all; null where it serves some. */
    readonly failure: ((name: string | null) => Failure) | null,
  ) {
    this.devices = new Map((list?.devices ?? []).map((device) => [device.name, device]));
  }

  /**
   * @param kernelNames the devices that sysfs shows, for the explanation of a failure
   */
  static async open(machine: Machine, kernelNames: readonly string[]): Promise<VerbsLibraries> {
    let library: Libibverbs;
    try {
      library = new Libibverbs();
    } catch (error) {
      if (!(error instanceof MissingLibraryError)) throw error;
      const failure = noLibrary(machine, error, kernelNames.length > 0);
      return new VerbsLibraries(notLoaded(failure.message), null, () => failure);
    }
    const origin = withReasons(library.origin());
    try {
      const list = await within(OPEN_DEADLINE_MS, 'ibv_get_device_list', library.deviceList());
      return new VerbsLibraries(origin, list, null);
    } catch (error) {
      return new VerbsLibraries(origin, null, (name) => listFailed(machine, error, name));
    }
  }

  /** The release of the libefa that libibverbs has loaded as a provider, whether it serves a device or not. */
  providerRelease(): string | null {
    const path = mappedLibefa();
    return path === null ? null : releaseInFileName(path);
  }

  /** libefa, loaded when it is first asked for. Throws MissingLibraryError, every time. */
  efa(): { readonly library: Libefa; readonly version: string | null } {
    if (this.#efa === undefined) {
      try {
        const library = new Libefa();
        this.#efa = { library, origin: withReasons(library.origin()) };
      } catch (error) {
        if (!(error instanceof MissingLibraryError)) throw error;
        this.#efa = error;
      }
    }
    if (this.#efa instanceof MissingLibraryError) throw this.#efa;
    return { library: this.#efa.library, version: this.#efa.origin.version };
  }

  /** Which files answered. */
  origins(): { libibverbs: LibraryOrigin; libefa: LibraryOrigin } {
    const efa = this.#efa;
    return {
      libibverbs: this.libibverbs,
      libefa:
        efa === undefined
          ? notLoaded('not needed: no EFA device was queried')
          : efa instanceof MissingLibraryError
            ? notLoaded(reasonOf(efa))
            : efa.origin,
    };
  }

  close(): void {
    this.list?.close();
  }
}

/** The origin of a loaded library, with a word on what could not be found out. */
function withReasons(origin: { path: string | null; version: string | null }): LibraryOrigin {
  const unavailable: Record<string, string> = {};
  if (origin.path === null) unavailable['path'] = 'the library is not in /proc/self/maps';
  if (origin.version === null)
    unavailable['version'] = "the file's name does not tell the release of rdma-core";
  return { ...origin, unavailable };
}
