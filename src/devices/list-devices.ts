import type { ListedDevice, ListedPort, ListResult } from '../model/list.ts';
import type { Device, Port } from '../model/query-device.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import type { Machine } from '../system/machine.ts';
import { thisMachine } from '../system/this-machine.ts';
import { type QueryDevicesOptions, queryDevices } from './query-devices.ts';
import { linkFromSysfs } from './sysfs-port.ts';

/** The short view of queryDevices; what a closed device does not say is taken from sysfs. */
export async function listDevices(
  options: Pick<QueryDevicesOptions, 'names' | 'onProgress'> = {},
  machine: Machine = thisMachine(),
): Promise<ListResult> {
  const { error, devices } = await queryDevices({ ...options, efa: false }, machine);
  return { schema: SCHEMA_IDS.list, error, devices: devices.map(listed) };
}

function listed(device: Device): ListedDevice {
  const numbers = new Set([...device.ports, ...device.sysfs.ports].map(({ port }) => port));
  const netdevs = device.ports.flatMap((port) => (port.gids ?? []).map((gid) => gid.netdev));
  return {
    name: device.name,
    error: device.error,
    driver: device.sysfs.driver,
    node_guid: device.node_guid,
    ports: [...numbers].map((number) => listedPort(device, number)),
    netdevs: [...new Set([...device.sysfs.netdevs, ...netdevs.filter((netdev) => netdev !== null)])],
    uverbs: device.sysfs.uverbs,
  };
}

const NOTHING = {
  state: null,
  link_layer: null,
  rate_gbps: null,
  effective_speed_gbps: null,
  active_width: null,
  speed: null,
} as const;

/** What the driver says of a port, else what sysfs does. */
function listedPort(device: Device, number: number): ListedPort {
  const asked = device.ports.find(({ port, error }) => port === number && error === null);
  if (asked) return short(asked);
  const shown = device.sysfs.ports.find(({ port }) => port === number);
  return short(
    shown
      ? { port: number, effective_speed_gbps: null, ...linkFromSysfs(shown) }
      : { ...NOTHING, port: number },
  );
}

const short = (port: Pick<Port, 'port' | keyof typeof NOTHING>): ListedPort => ({
  port: port.port,
  state: port.state?.name ?? null,
  link_layer: port.link_layer?.name ?? null,
  // A code that is newer than this table may still have a speed that the driver tells.
  rate_gbps: port.rate_gbps ?? port.effective_speed_gbps,
  active_width: port.active_width,
  speed: port.speed,
});
