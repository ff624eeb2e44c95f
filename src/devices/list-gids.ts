import { fullGidText, parseGid } from '../abi/ib-types.ts';
import { LinkLayer } from '../abi/verbs-codes.ts';
import type { GidDevice, GidEntry, GidPort, GidResult } from '../model/gid.ts';
import type { Device, Gid, Port } from '../model/query-device.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import type { Machine } from '../system/machine.ts';
import { thisMachine } from '../system/this-machine.ts';
import { noSuchPort } from './failures.ts';
import { chooseGid, type GidSurroundings, gidScope } from './gid-choice.ts';
import { type GidSource, sysfsGids } from './gids.ts';
import { netdevState } from './netdev-state.ts';
import { overallFailure } from './overall-failure.ts';
import { type QueryDevicesOptions, queryDevices } from './query-devices.ts';
import { sysfsLinkLayer } from './sysfs-device.ts';
import { umadDevices } from './umad-gids.ts';

export interface ListGidsOptions extends Omit<QueryDevicesOptions, 'efa'> {
  /** Empty entries of the tables too. */
  readonly all?: boolean;
}

/**
 * The GID tables of devices, each with the entry that programs want. What libibverbs cannot tell of a device is read
 * from sysfs, which has the same tables. Never throws for what a device or the machine lacks.
 */
export async function listGids(
  options: ListGidsOptions = {},
  machine: Machine = thisMachine(),
): Promise<GidResult> {
  const { all = false, ...query } = options;
  const { error, devices } = await queryDevices({ ...query, efa: false }, machine);
  const shown = devices.map((device) => gidDevice(machine, device, query.port ?? null, all));
  if (shown.some(({ ports }) => ports.length > 0)) {
    return { schema: SCHEMA_IDS.gid, error: overallFailure(shown, 'devices'), devices: shown };
  }
  const names = query.names ?? [];
  const simulated = (await umadDevices()).filter(({ name }) => names.length === 0 || names.includes(name));
  if (simulated.length < Math.max(1, new Set(names).size))
    return { schema: SCHEMA_IDS.gid, error, devices: shown };
  const found = simulated.map(({ name, ports }): GidDevice => {
    const wanted = ports.filter(({ port }) => query.port == null || port === query.port);
    return {
      name,
      error:
        wanted.length > 0 || query.port == null ? null : noSuchPort(name, query.port, ports.length).toJSON(),
      driver: null,
      notes: [],
      ports: wanted.map(({ port, linkLayer, gid }) =>
        gidPort(machine, all, {
          port,
          gids: [gid],
          from: 'umad_get_port',
          length: null,
          around: { isEfa: false, linkLayer: sysfsLinkLayer(linkLayer), transport: null },
        }),
      ),
    };
  });
  return { schema: SCHEMA_IDS.gid, error: overallFailure(found, 'devices'), devices: found };
}

/**
 * The GID tables of a device that was queried.
 * @param only this port; null: all
 * @param all empty entries too
 */
export function gidDevice(machine: Machine, device: Device, only: number | null, all: boolean): GidDevice {
  const numbers = [...new Set([...device.ports, ...device.sysfs.ports].map(({ port }) => port))]
    .filter((port) => only === null || port === only)
    .sort((a, b) => a - b);
  const ports = numbers.map((port) => gidPort(machine, all, portFacts(machine, device, port)));
  const isWhole = ports.length > 0 && ports.every(({ gids }) => gids !== null);
  const fromSysfs = ports.some(({ gids_from }) => gids_from === 'sysfs');
  return {
    name: device.name,
    // What could not be asked was read: the answer is there.
    error: isWhole ? null : device.error,
    driver: device.sysfs.driver,
    ports,
    notes: isWhole && fromSysfs && device.error !== null ? [`from sysfs, for ${device.error.message}`] : [],
  };
}

/** What is known of a port's table, however it is known. */
interface PortFacts {
  readonly port: number;
  readonly gids: readonly Gid[] | null;
  readonly from: GidSource | null;
  readonly length: number | null;
  readonly around: GidSurroundings;
  /** Why there are no GIDs. */
  readonly reason?: string;
}

function portFacts(machine: Machine, device: Device, number: number): PortFacts {
  const asked = device.ports.find(({ port }) => port === number);
  const linkLayer = asked?.link_layer
    ? (asked.link_layer.name ?? String(asked.link_layer.value))
    : sysfsLinkLayer(device.sysfs.ports.find(({ port }) => port === number)?.link_layer ?? null);
  const around = {
    isEfa: device.sysfs.driver === 'efa',
    linkLayer,
    transport: device.transport?.name ?? null,
  };
  if (asked !== undefined && asked.gids !== null) {
    return { port: number, gids: asked.gids, from: asked.gids_from, length: asked.gid_tbl_len, around };
  }
  const code = LinkLayer.entries.find(([name]) => name === linkLayer)?.[1] ?? 0;
  const read = sysfsGids(machine, device.name, number, code);
  if (read !== null) return { port: number, gids: read.gids, from: 'sysfs', length: read.length, around };
  return { port: number, gids: null, from: null, length: null, around, reason: whyNone(device, asked) };
}

const whyNone = (device: Device, port: Port | undefined): string =>
  port?.unavailable['gids'] ??
  port?.error?.message ??
  device.error?.message ??
  'sysfs has no GIDs of this port';

function gidPort(machine: Machine, all: boolean, facts: PortFacts): GidPort {
  const { port, gids, from, length, around, reason } = facts;
  const unavailable: Record<string, string> = {};
  if (around.linkLayer === null) unavailable['link_layer'] = 'neither libibverbs nor sysfs tells it';
  if (length === null) unavailable['gid_tbl_len'] = reason ?? 'libibumad does not tell it';
  if (gids === null) {
    for (const key of ['gids', 'gids_from', 'choice']) unavailable[key] = reason ?? '';
    return {
      port,
      link_layer: around.linkLayer,
      gid_tbl_len: null,
      gids_from: null,
      choice: null,
      gids: null,
      unavailable,
    };
  }
  const entries = gids.map((gid) => gidEntry(machine, gid));
  const chosen = chooseGid(entries, around);
  if (chosen.choice === null) unavailable['choice'] = chosen.reason;
  const marked = entries.map((entry) => ({ ...entry, wanted: entry.index === chosen.choice?.index }));
  return {
    port,
    link_layer: around.linkLayer,
    gid_tbl_len: length,
    gids_from: from,
    choice: chosen.choice,
    gids: all ? withEmpty(marked, length ?? 0) : marked,
    unavailable,
  };
}

function gidEntry(machine: Machine, { index, gid, type, netdev, ipv4 }: Gid): GidEntry {
  const bytes = parseGid(gid) ?? new Uint8Array(16);
  const state = netdev === null ? null : netdevState(machine, netdev);
  const isRoce = type !== null && type.name !== 'IB';
  const unavailable: Record<string, string> = {};
  if (type === null) unavailable['type'] = 'the kernel does not tell it';
  if (netdev === null && isRoce) {
    unavailable['netdev'] = 'the kernel names none: it is gone, or in another network namespace';
  }
  if (state === null) {
    unavailable['netdev_state'] =
      netdev === null ? 'no network device' : `${netdev} is not in this network namespace`;
  }
  const full = fullGidText(bytes);
  const scope = gidScope(bytes);
  return {
    index,
    gid,
    gid_full: full,
    type,
    ipv4,
    netdev,
    netdev_state: state,
    scope,
    wanted: false,
    unavailable,
  };
}

/** Entries of a table with the empty ones between and after them. */
function withEmpty(entries: readonly GidEntry[], length: number): GidEntry[] {
  const known = new Map(entries.map((entry) => [entry.index, entry]));
  const most = Math.max(length, ...entries.map(({ index }) => index + 1));
  return Array.from({ length: most }, (_, index) => known.get(index) ?? emptyEntry(index));
}

const EMPTY = 'the entry is empty';

const emptyEntry = (index: number): GidEntry => ({
  index,
  gid: '::',
  gid_full: fullGidText(new Uint8Array(16)),
  type: null,
  ipv4: null,
  netdev: null,
  netdev_state: null,
  scope: 'empty',
  wanted: false,
  unavailable: { type: EMPTY, netdev_state: EMPTY },
});
