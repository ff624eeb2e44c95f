/**
 * Devices, ports, GIDs and counters. What one device lacks does not hide the others: its entry carries the error, and
 * so does the document (`error`, null where all was answered); nothing is thrown for it.
 */
import type { CounterReader } from '../devices/counters.ts';
import { type PortSelector, parsePortSelector } from '../devices/port-selector.ts';
import { Failure } from '../explain/failure.ts';
import type { CountersResult } from '../model/counters.ts';
import type { GidResult } from '../model/gid.ts';
import type { ListResult } from '../model/list.ts';
import type { PortResult } from '../model/port.ts';
import type { QueryDeviceResult } from '../model/query-device.ts';

/** Which devices are asked. */
export interface DeviceOptions {
  /** Devices by name; all of them where it is empty. */
  readonly names?: readonly string[];
  /** Only this port of each device. */
  readonly port?: number;
}

/** What GID tables are shown. */
export interface GidOptions extends DeviceOptions {
  /** Empty entries of the tables too. */
  readonly all?: boolean;
}

/** Every device with all that libibverbs, libefa and sysfs tell of it: `rdmatool query-device`. */
export async function queryDevices(options: DeviceOptions = {}): Promise<QueryDeviceResult> {
  return (await import('../devices/query-devices.ts')).queryDevices(options);
}

/** The devices in short: `rdmatool list`. */
export async function listDevices(options: Pick<DeviceOptions, 'names'> = {}): Promise<ListResult> {
  return (await import('../devices/list-devices.ts')).listDevices(options);
}

/** The GID tables, each with the entry that programs want: `rdmatool gid`. */
export async function listGids(options: GidOptions = {}): Promise<GidResult> {
  return (await import('../devices/list-gids.ts')).listGids(options);
}

/**
 * Ports with state, addresses and network devices: `rdmatool port`. Throws Failure USAGE for what is no selector.
 * @param ports `DEVICE` or `DEVICE/PORT`; all of them where it is empty
 */
export async function listPorts(ports: readonly string[] = []): Promise<PortResult> {
  return (await import('../devices/list-ports.ts')).listPorts({ selectors: ports.map(selectorOf) });
}

/**
 * One reading of the counters in sysfs: `rdmatool counters`. Throws Failure USAGE for what is no selector.
 * @param ports `DEVICE` or `DEVICE/PORT`; all of them where it is empty
 */
export async function readCounters(ports: readonly string[] = []): Promise<CountersResult> {
  return (await counterReader(ports)).read();
}

/**
 * Readings of the counters so far apart, each with what has changed since the one before, until the loop is left or
 * the signal aborts. Throws Failure USAGE for what is no selector.
 * @param intervalMs between two readings
 * @param ports `DEVICE` or `DEVICE/PORT`; all of them where it is empty
 */
export async function* watchCounters(
  intervalMs: number,
  ports: readonly string[] = [],
  signal: AbortSignal | null = null,
): AsyncGenerator<CountersResult, void> {
  const { setTimeout: sleep } = await import('node:timers/promises');
  const reader = await counterReader(ports);
  while (!signal?.aborted) {
    yield await reader.read();
    await sleep(intervalMs, undefined, signal === null ? {} : { signal }).catch(() => {});
  }
}

async function counterReader(ports: readonly string[]): Promise<CounterReader> {
  const { CounterReader: Reader } = await import('../devices/counters.ts');
  return new Reader({ selectors: ports.map(selectorOf) });
}

function selectorOf(text: string): PortSelector {
  const selector = parsePortSelector(text);
  if (selector !== null) return selector;
  throw new Failure('USAGE', `'${text}' names no port: DEVICE, or DEVICE/PORT`, 'such as mlx5_0/1');
}
