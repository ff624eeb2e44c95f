import type { PortEntry, PortNetdev, PortResult } from '../model/port.ts';
import type { Device, Port } from '../model/query-device.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import type { Machine } from '../system/machine.ts';
import { thisMachine } from '../system/this-machine.ts';
import { noSuchPort } from './failures.ts';
import { overallFailure } from './overall-failure.ts';
import { isSelected, type PortSelector } from './port-selector.ts';
import { failedPort } from './ports.ts';
import { type QueryDevicesOptions, queryDevices } from './query-devices.ts';
import { portFromSysfs, portGuid } from './sysfs-port.ts';

export interface ListPortsOptions extends Pick<QueryDevicesOptions, 'onProgress'> {
  /** All ports where it is empty. */
  readonly selectors?: readonly PortSelector[];
}

/**
 * The ports of RDMA devices: what queryDevices tells of them, their GUIDs and network devices. What a device that
 * cannot be opened does not say is taken from sysfs. Never throws for what a device or the machine lacks.
 */
export async function listPorts(
  { selectors = [], onProgress }: ListPortsOptions = {},
  machine: Machine = thisMachine(),
): Promise<PortResult> {
  const { error, devices } = await queryDevices(
    { names: selectors.map(({ device }) => device), efa: false, ...(onProgress && { onProgress }) },
    machine,
  );
  const ports = devices.flatMap((device) => {
    const numbers = new Set([...device.ports, ...device.sysfs.ports].map(({ port }) => port));
    const found = [...numbers]
      .filter((number) => isSelected(selectors, device.name, number))
      .map((number) => entry(machine, device, number));
    return [...found, ...missing(machine, device, numbers, selectors)];
  });
  const asked = [
    ...ports.map((port) => ({ name: `${port.device}/${port.port}`, error: port.error })),
    // A device of which nothing is known has no port that could carry its error.
    ...devices.filter(({ name }) => !ports.some(({ device }) => device === name)),
  ];
  return {
    schema: SCHEMA_IDS.port,
    error: devices.length === 0 ? error : overallFailure(asked, 'ports'),
    ports,
  };
}

/** Every port of a device: what libibverbs told of it, else what sysfs does. */
export function portEntries(machine: Machine, device: Device): PortEntry[] {
  const numbers = new Set([...device.ports, ...device.sysfs.ports].map(({ port }) => port));
  return [...numbers].map((number) => entry(machine, device, number));
}

function entry(machine: Machine, device: Device, number: number): PortEntry {
  const asked = device.ports.find(({ port, error }) => port === number && error === null);
  if (asked) return withSurroundings(machine, device, asked, 'verbs');
  const error = device.ports.find(({ port }) => port === number)?.error ?? device.error;
  const shown = device.sysfs.ports.find(({ port }) => port === number);
  const reason = error?.message ?? 'libibverbs does not know this port';
  if (!shown) {
    const unknown = failedPort(number, {
      code: 'QUERY_FAILED',
      errno: null,
      message: reason,
      hint: '',
      ...error,
    });
    return withSurroundings(machine, device, unknown, null);
  }
  const port = portFromSysfs(machine, device.name, shown, reason);
  return withSurroundings(machine, device, { ...port, error }, 'sysfs');
}

/** Ports that were asked for and are not there. */
function missing(
  machine: Machine,
  device: Device,
  known: ReadonlySet<number>,
  selectors: readonly PortSelector[],
): PortEntry[] {
  const asked = new Set(selectors.flatMap((one) => (one.device === device.name ? [one.port] : [])));
  return [...asked].flatMap((number) => {
    if (number === null || known.has(number)) return [];
    const error =
      (known.size === 0 ? device.error : null) ?? noSuchPort(device.name, number, known.size).toJSON();
    return [withSurroundings(machine, device, failedPort(number, error), null)];
  });
}

function withSurroundings(
  machine: Machine,
  device: Device,
  port: Port,
  source: PortEntry['source'],
): PortEntry {
  const guid = portGuid(machine, device.name, port.port);
  const own: Record<string, string> = {};
  const told = { driver: device.sysfs.driver, fw_ver: device.sysfs.fw_ver, node_guid: device.node_guid };
  for (const [key, value] of Object.entries(told)) if (value === null) own[key] = 'sysfs does not tell';
  if (guid === null) own['port_guid'] = 'the port has no GID 0';
  if (source === null) own['source'] = port.error?.message ?? 'nobody answered';
  return {
    device: device.name,
    ...port,
    source,
    ...told,
    port_guid: guid,
    netdevs: source === null ? [] : netdevsOf(machine, device, port).map((name) => netdev(machine, name)),
    notes: [...device.notes],
    unavailable: { ...port.unavailable, ...own },
  };
}

/** The network devices of a port: those of its GIDs, else those of the device's PCI function for this port. */
function netdevsOf({ sysfs }: Machine, device: Device, port: Port): string[] {
  const ofGids = (port.gids ?? []).flatMap(({ netdev }) => (netdev === null ? [] : [netdev]));
  if (ofGids.length > 0) return [...new Set(ofGids)];
  if (device.sysfs.ports.length <= 1) return [...device.sysfs.netdevs];
  return device.sysfs.netdevs.filter((name) => {
    // mlx4 has one function for two ports, and numbers them from 0.
    const number = Number(sysfs.read(`class/net/${name}/dev_port`) ?? Number.NaN);
    return number === port.port - 1;
  });
}

function netdev({ sysfs }: Machine, name: string): PortNetdev {
  const unavailable: Record<string, string> = {};
  const read = (key: string, attribute: string): string | null => {
    const value = sysfs.read(`class/net/${name}/${attribute}`)?.trim();
    if (value !== undefined && value !== '') return value;
    unavailable[key] =
      `sysfs does not show class/net/${name}/${attribute}: it may be in another network namespace`;
    return null;
  };
  const number = (key: string): number | null => {
    const value = read(key, key);
    return value === null ? null : Number(value);
  };
  return {
    name,
    ifindex: number('ifindex'),
    operstate: read('operstate', 'operstate'),
    mtu: number('mtu'),
    address: read('address', 'address'),
    unavailable,
  };
}
