/** The machine as the checks look at it: facts that several of them need are found out once. */
import type { Endpoint } from '../cm/address.ts';
import { failedDevice } from '../devices/device.ts';
import { gidDevice } from '../devices/list-gids.ts';
import { portEntries } from '../devices/list-ports.ts';
import { readSysfsDevice, sysfsDeviceNames } from '../devices/sysfs-device.ts';
import { Failure } from '../explain/failure.ts';
import type { CmConnectResult } from '../model/cm.ts';
import type { CheckId, DoctorCheck, DoctorPurpose } from '../model/doctor.ts';
import type { GidPort } from '../model/gid.ts';
import type { PortEntry } from '../model/port.ts';
import type { Device, QueryDeviceResult, SysfsDevice } from '../model/query-device.ts';
import { containerSign } from '../system/container.ts';
import { type Credentials, credentials } from '../system/credentials.ts';
import type { Machine } from '../system/machine.ts';
import type { LoadedLibrary } from '../system/shared-libraries.ts';

/** What the checks work on; tests put recorded systems in. */
export interface DoctorEnvironment {
  readonly machine: Machine;
  /** What libibverbs and libefa tell of all devices. */
  queryDevices(): Promise<QueryDeviceResult>;
  /** Tries to connect, with a deadline. */
  connect(peer: Endpoint): Promise<CmConnectResult>;
}

/** The way to an address, once it is known. */
export interface Way {
  readonly destination: string;
  readonly source: string;
  readonly netdev: string | null;
}

export class View {
  readonly machine: Machine;
  /** Findings so far, from the bottom up. */
  readonly found: DoctorCheck[] = [];
  /** Checks that were not made, each with the failed one at the bottom of it. */
  readonly moot = new Map<CheckId, CheckId>();
  /** Set by the check `route`. */
  way: Way | null = null;
  #names: string[] | undefined;
  #container: string | null | undefined;
  #who: Credentials | null | undefined;
  #queried: Promise<readonly Device[]> | undefined;
  readonly #libraries = new Map<string, LoadedLibrary>();

  constructor(
    readonly environment: DoctorEnvironment,
    readonly purpose: DoctorPurpose | null,
    readonly peer: Endpoint | null,
  ) {
    this.machine = environment.machine;
  }

  /** RDMA devices that the kernel shows. */
  get names(): readonly string[] {
    this.#names ??= sysfsDeviceNames(this.machine) ?? [];
    return this.#names;
  }

  sysfsDevice(name: string): SysfsDevice {
    return readSysfsDevice(this.machine, name);
  }

  get efaNames(): readonly string[] {
    return this.names.filter((name) => this.sysfsDevice(name).driver === 'efa');
  }

  /** Devices that are not EFA: those with a connection manager, and perhaps with management datagrams. */
  get otherNames(): readonly string[] {
    return this.names.filter((name) => this.sysfsDevice(name).driver !== 'efa');
  }

  /** Why a purpose is not to be had from the devices here, whatever is repaired; null where it may be. */
  whyNot(purpose: 'cm' | 'mad'): string | null {
    if (this.names.length === 0 || this.otherNames.length > 0) return null;
    const what = purpose === 'cm' ? 'connection manager' : 'management datagrams';
    return `EFA has no ${what}, and there are only EFA devices here`;
  }

  /** What says that this is a container; null where nothing does. */
  get container(): string | null {
    if (this.#container === undefined) this.#container = containerSign(this.machine);
    return this.#container;
  }

  get who(): Credentials | null {
    if (this.#who === undefined) this.#who = credentials(this.machine);
    return this.#who;
  }

  /** A command that needs root and the machine's own system: ` (as root, on the host)`. */
  get asRoot(): string {
    const words = [
      ...(this.who?.uid === 0 && this.container === null ? [] : ['as root']),
      ...(this.container === null ? [] : ['on the host']),
    ];
    return words.length === 0 ? '' : ` (${words.join(', ')})`;
  }

  /** How bad it is that something is missing which these purposes need, and query-device does not. */
  lack(...purposes: readonly DoctorPurpose[]): 'failure' | 'warning' {
    return this.purpose !== null && purposes.includes(this.purpose) ? 'failure' : 'warning';
  }

  /** Whether a check has found something wrong with a subject. */
  failed(id: CheckId, subject: string | null): boolean {
    return this.found.some(
      (check) => check.id === id && check.subject === subject && check.status === 'failure',
    );
  }

  /** Loads a library, once. */
  library(soname: string): LoadedLibrary {
    const known = this.#libraries.get(soname) ?? this.machine.libraries.load(soname);
    this.#libraries.set(soname, known);
    return known;
  }

  /** Every device, asked through libibverbs where the purpose needs that, else as sysfs shows it. */
  devices(): Promise<readonly Device[]> {
    this.#queried ??= this.#devices();
    return this.#queried;
  }

  async #devices(): Promise<readonly Device[]> {
    if (this.purpose !== 'mad') return (await this.environment.queryDevices()).devices;
    const notAsked = new Failure('QUERY_FAILED', 'management datagrams do not need libibverbs', '');
    return this.names.map((name) => failedDevice(this.machine, name, this.sysfsDevice(name), notAsked));
  }

  async ports(): Promise<PortEntry[]> {
    return (await this.devices()).flatMap((device) => portEntries(this.machine, device));
  }

  /** The GID table of each port, by `DEVICE/PORT`. */
  async gidPorts(): Promise<{ readonly device: Device; readonly title: string; readonly port: GidPort }[]> {
    return (await this.devices()).flatMap((device) =>
      gidDevice(this.machine, device, null, false).ports.map((port) => ({
        device,
        title: `${device.name}/${port.port}`,
        port,
      })),
    );
  }
}
