import { Failure, type FailureJson } from '../explain/failure.ts';
import type { Device, QueryDeviceResult } from '../model/query-device.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import type { Machine } from '../system/machine.ts';
import { naturalOrder } from '../system/sysfs.ts';
import { thisMachine } from '../system/this-machine.ts';
import { failedDevice, queryDevice } from './device.ts';
import { noDevice, notListed, unknownDevice } from './failures.ts';
import { VerbsLibraries } from './libraries.ts';
import { readSysfsDevice, sysfsDeviceNames } from './sysfs-device.ts';

export interface QueryDevicesOptions {
  /** Devices by name; all of them where it is empty. */
  readonly names?: readonly string[];
  /** Only this port of each device. */
  readonly port?: number | null;
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
  try {
    const known = [...new Set([...kernelNames, ...libraries.devices.keys()])].sort(naturalOrder);
    const asked = options.names?.length ? [...new Set(options.names)] : known;
    const devices = await Promise.all(
      asked.map((name): Device | Promise<Device> => {
        const sysfs = readSysfsDevice(machine, name);
        const failed = (failure: Failure): Device => failedDevice(machine, name, sysfs, failure);
        if (!known.includes(name)) return failed(libraries.failure ?? unknownDevice(name, known));
        if (libraries.failure) return failed(libraries.failure);
        const device = libraries.devices.get(name);
        if (!device) return failed(notListed(machine, name, sysfs));
        return queryDevice(machine, libraries, device, sysfs, options.port ?? null);
      }),
    );
    const failure = libraries.failure ?? (devices.length === 0 ? noDevice(machine) : null);
    return {
      schema: SCHEMA_IDS.queryDevice,
      error: failure?.toJSON() ?? overall(devices),
      libraries: libraries.origins(),
      devices,
    };
  } finally {
    libraries.close();
  }
}

/** The failure of the whole: the one that every device has, or that some have failed; null where none has. */
function overall(devices: readonly Device[]): FailureJson | null {
  const failed = devices.flatMap(({ name, error }) => (error === null ? [] : [{ name, error }]));
  const [first] = failed;
  if (first === undefined) return null;
  if (devices.length === 1) return first.error;
  const count = `${failed.length} of ${devices.length} devices failed`;
  if (failed.length === 1) {
    const { message, hint, errno } = first.error;
    return new Failure('SOME_DEVICES_FAILED', `${count}: ${message}`, hint, { errno }).toJSON();
  }
  const sameCode = failed.every(({ error }) => error.code === first.error.code);
  return new Failure(
    sameCode && failed.length === devices.length ? first.error.code : 'SOME_DEVICES_FAILED',
    `${count}: ${failed.map(({ name }) => name).join(', ')}${sameCode ? `; the first: ${first.error.message}` : ''}`,
    sameCode ? first.error.hint : 'rdmatool query-device NAME says why, for each',
    { errno: sameCode ? first.error.errno : null },
  ).toJSON();
}
