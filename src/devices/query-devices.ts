import { Failure, type FailureJson } from '../explain/failure.ts';
import type { Device, QueryDeviceResult } from '../model/query-device.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import type { Machine } from '../system/machine.ts';
import { naturalOrder } from '../system/sysfs.ts';
import { thisMachine } from '../system/this-machine.ts';
import { sideBySide } from '../waiting/side-by-side.ts';
import { failedDevice, queryDevice } from './device.ts';
import { internalFault, noDevice, notAsked, notListed, unknownDevice } from './failures.ts';
import { VerbsLibraries } from './libraries.ts';
import { NO_SYSFS_DEVICE, readSysfsDevice, sysfsDeviceNames } from './sysfs-device.ts';

export interface QueryDevicesOptions {
  /** Devices by name; all of them where it is empty. */
  readonly names?: readonly string[];
  /** Only this port of each device. */
  readonly port?: number | null;
  /** false: nothing of libefa. */
  readonly efa?: boolean;
  /** Told when a device is begun and when it is done. */
  readonly onProgress?: (progress: QueryProgress) => void;
}

/** How far a query of several devices is. */
export interface QueryProgress {
  readonly done: number;
  readonly total: number;
  /** Devices that are being asked. */
  readonly asking: readonly string[];
}

/**
 * Every device that the kernel or libibverbs knows, with all that libibverbs, libefa and sysfs tell of it.
 * Never throws for what a device or the machine lacks: the failure stands in the device's entry, and in
 * `error` of the result, which is null exactly when all that was asked for was answered.
 */
export async function queryDevices(
  options: QueryDevicesOptions = {},
  machine: Machine = thisMachine(),
): Promise<QueryDeviceResult> {
  const kernelNames = sysfsDeviceNames(machine) ?? [];
  const libraries = await VerbsLibraries.open(machine, kernelNames);
  const wanted = { port: options.port ?? null, efa: options.efa ?? true };
  try {
    const known = [...new Set([...kernelNames, ...libraries.devices.keys()])].sort(naturalOrder);
    const asked = options.names?.length ? [...new Set(options.names)] : known;
    const failed = (name: string, failure: Failure): Device => {
      const sysfs = known.includes(name) ? readSysfsDevice(machine, name) : NO_SYSFS_DEVICE;
      return failedDevice(machine, name, sysfs, failure);
    };
    const ask = async (name: string): Promise<Device> => {
      if (!known.includes(name)) {
        return failed(name, unknownDevice(machine, name, known, libraries.failure?.(null) ?? null));
      }
      if (libraries.failure) return failed(name, libraries.failure(name));
      const sysfs = readSysfsDevice(machine, name);
      const device = libraries.devices.get(name);
      if (!device) return failed(name, notListed(machine, name, sysfs, libraries.providerRelease()));
      return queryDevice(machine, libraries, device, sysfs, wanted);
    };
    const asking = new Set<string>();
    let done = 0;
    const tell = (): void => options.onProgress?.({ done, total: asked.length, asking: [...asking] });
    const askAndTell = async (name: string): Promise<Device> => {
      asking.add(name);
      tell();
      const device = await ask(name).catch((error: unknown) => failed(name, internalFault(name, error)));
      asking.delete(name);
      done++;
      tell();
      return device;
    };
    const devices = await sideBySide(asked, askAndTell, (name) => failed(name, notAsked(name)));
    const failure = devices.length > 0 ? null : (libraries.failure?.(null) ?? noDevice(machine));
    return {
      schema: SCHEMA_IDS.queryDevice,
      error: failure?.toJSON() ?? overallFailure(devices),
      libraries: libraries.origins(),
      devices,
    };
  } finally {
    libraries.close();
  }
}

const MOST_NAMES = 8;

/** The failure of the whole: the one that every device has, or that some have failed; null where none has. */
export function overallFailure(
  devices: readonly { readonly name: string; readonly error: FailureJson | null }[],
): FailureJson | null {
  const failed = devices.flatMap(({ name, error }) => (error === null ? [] : [{ name, error }]));
  const [first] = failed;
  if (first === undefined) return null;
  if (devices.length === 1) return first.error;
  const count = `${failed.length} of ${devices.length} devices failed`;
  if (failed.length === 1) {
    const { message, hint, errno } = first.error;
    return new Failure('SOME_DEVICES_FAILED', `${count}: ${message}`, hint, { errno }).toJSON();
  }
  // What is wrong with the machine is wrong with each device, and said once.
  if (failed.every(({ error }) => error.message === first.error.message)) {
    return failed.length === devices.length
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
    sameCode && failed.length === devices.length ? first.error.code : 'SOME_DEVICES_FAILED',
    `${count}: ${names}${failed.length > MOST_NAMES ? ' …' : ''}${sameCode ? `; the first: ${first.error.message}` : ''}`,
    sameCode ? first.error.hint : 'rdmatool query-device NAME says why, for each',
    { errno: sameCode ? first.error.errno : null },
  ).toJSON();
}
