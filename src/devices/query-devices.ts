import type { Failure } from '../explain/failure.ts';
import type { Device, QueryDeviceResult } from '../model/query-device.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import type { Machine } from '../system/machine.ts';
import { naturalOrder } from '../system/sysfs.ts';
import { thisMachine } from '../system/this-machine.ts';
import { sideBySide } from '../waiting/side-by-side.ts';
import { failedDevice, queryDevice } from './device.ts';
import { internalFault, noDevice, notAsked, notListed, unknownDevice } from './failures.ts';
import { VerbsLibraries } from './libraries.ts';
import { overallFailure } from './overall-failure.ts';
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
      error: failure?.toJSON() ?? overallFailure(devices, 'devices'),
      libraries: libraries.origins(),
      devices,
    };
  } finally {
    libraries.close();
  }
}
