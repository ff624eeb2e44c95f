import { LinkLayer } from '../abi/verbs-codes.ts';
import type { ListedDevice, ListedPort, ListResult } from '../model/list.ts';
import type { Device, Port, SysfsPort } from '../model/query-device.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import type { Machine } from '../system/machine.ts';
import { thisMachine } from '../system/this-machine.ts';
import { queryDevices } from './query-devices.ts';

/** The short view of queryDevices; what a closed device does not say is taken from sysfs. */
export async function listDevices(
  names: readonly string[] = [],
  machine: Machine = thisMachine(),
): Promise<ListResult> {
  const { error, devices } = await queryDevices({ names }, machine);
  return { schema: SCHEMA_IDS.list, error, devices: devices.map(listed) };
}

function listed(device: Device): ListedDevice {
  const ports = device.sysfs.ports.length > device.ports.length ? device.sysfs.ports : device.ports;
  const netdevs = device.ports.flatMap((port) => (port.gids ?? []).map((gid) => gid.netdev));
  return {
    name: device.name,
    error: device.error,
    driver: device.sysfs.driver,
    node_guid: device.node_guid,
    ports: ports.map((port) => ('error' in port ? fromVerbs(port) : fromSysfs(port))),
    netdevs: [...new Set([...device.sysfs.netdevs, ...netdevs.filter((netdev) => netdev !== null)])],
    uverbs: device.sysfs.uverbs,
  };
}

const fromVerbs = (port: Port): ListedPort => ({
  port: port.port,
  state: port.state?.name ?? null,
  link_layer: port.link_layer?.name ?? null,
  rate_gbps: port.rate_gbps,
});

/** sysfs says `4: ACTIVE`, `InfiniBand` and `100 Gb/sec (4X EDR)`. */
function fromSysfs(port: SysfsPort): ListedPort {
  const layer = port.link_layer?.toUpperCase() ?? null;
  const known = LinkLayer.entries.some(([name]) => name === layer);
  const rate = Number.parseFloat(port.rate ?? '');
  return {
    port: port.port,
    state: port.state?.replace(/^\d+: /, '') ?? null,
    // The kernel prints Unknown for what verbs call unspecified.
    link_layer: known ? layer : layer === 'UNKNOWN' ? 'UNSPECIFIED' : null,
    rate_gbps: Number.isNaN(rate) ? null : rate,
  };
}
