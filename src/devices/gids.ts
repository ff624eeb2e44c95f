import { gidText, ipv4OfGid, isZeroGid, parseGid } from '../abi/ib-types.ts';
import { ibvGidEntry } from '../abi/verbs.ts';
import { GidType, LinkLayer } from '../abi/verbs-codes.ts';
import type { Decoded } from '../layout/codec.ts';
import type { GID_SOURCES, Gid } from '../model/query-device.ts';
import { MissingSymbolError, NativeCallError } from '../native/errors.ts';
import type { VerbsContext } from '../native/libibverbs.ts';
import type { Machine } from '../system/machine.ts';
import { CALL_DEADLINE_MS } from '../waiting/deadline.ts';
import type { Patience } from '../waiting/patience.ts';

/** Where to look for GIDs: a port and what its attributes say of it. */
export interface GidTable {
  readonly port: number;
  readonly length: number;
  readonly linkLayer: number;
}

/** What answered, by the name of the call; `sysfs` where libibverbs cannot. */
export type GidSource = (typeof GID_SOURCES)[number];

/** libibverbs hands the size of the table on in 16 bits. */
const MOST_ENTRIES = Math.floor(0xffff / ibvGidEntry.size);

type GidEntry = Decoded<typeof ibvGidEntry>;

/**
 * The valid GIDs of a device's ports, by port. From ibv_query_gid_table(3) where the library has it and the
 * driver answers, else entry by entry; before rdma-core 32 the types come from sysfs.
 * @throws NativeCallError, DeadlineError
 */
export async function queryGids(
  machine: Machine,
  context: VerbsContext,
  patience: Patience,
  tables: readonly GidTable[],
): Promise<{ from: GidSource; byPort: ReadonlyMap<number, readonly Gid[]> }> {
  const room = tables.reduce((sum, { length }) => sum + length, 0);
  const whole = await wholeTable(context, patience, Math.min(room, MOST_ENTRIES));
  const { from, entries } =
    whole === null
      ? oneByOne(machine, context, tables)
      : { from: 'ibv_query_gid_table' as const, entries: whole };
  const byPort = new Map(
    tables.map(({ port }) => [
      port,
      entries
        .filter((entry) => entry.port_num === port && !isZeroGid(entry.gid))
        .map((entry) => shown(machine, context.deviceName, entry)),
    ]),
  );
  return { from, byPort };
}

/**
 * The valid GIDs of a port as sysfs has them, and how long its table is; null where sysfs does not have the port.
 */
export function sysfsGids(
  machine: Machine,
  device: string,
  port: number,
  linkLayer: number,
): { readonly gids: readonly Gid[]; readonly length: number } | null {
  const directory = `class/infiniband/${device}/ports/${port}/gids`;
  const names = machine.sysfs.list(directory)?.filter((name) => /^\d+$/.test(name));
  if (names === undefined) return null;
  const gids = names.flatMap((name) => {
    const gid = parseGid(machine.sysfs.read(`${directory}/${name}`)?.trim() ?? '');
    if (gid === null || isZeroGid(gid)) return [];
    return [shown(machine, device, sysfsEntry(machine, device, { port, linkLayer }, Number(name), gid))];
  });
  return { gids, length: names.length };
}

/** The table in one call, or null where this library or driver cannot. */
async function wholeTable(
  context: VerbsContext,
  patience: Patience,
  room: number,
): Promise<GidEntry[] | null> {
  if (room === 0) return [];
  try {
    return await patience.call(CALL_DEADLINE_MS, 'ibv_query_gid_table', () => context.queryGidTable(room));
  } catch (error) {
    if (error instanceof MissingSymbolError || error instanceof NativeCallError) return null;
    throw error;
  }
}

function oneByOne(
  machine: Machine,
  context: VerbsContext,
  tables: readonly GidTable[],
): { from: GidSource; entries: GidEntry[] } {
  const indexes = ({ length }: GidTable): number[] => Array.from({ length }, (_, index) => index);
  try {
    const entries = tables.flatMap((table) =>
      indexes(table)
        .map((index) => context.queryGidEntry(table.port, index))
        .filter((entry): entry is GidEntry => entry !== null),
    );
    return { from: 'ibv_query_gid_ex', entries };
  } catch (error) {
    if (!(error instanceof MissingSymbolError)) throw error;
  }
  const entries = tables.flatMap((table) =>
    indexes(table)
      .map((index) => ({ index, gid: context.queryGid(table.port, index) }))
      .filter(({ gid }) => !isZeroGid(gid))
      .map(({ index, gid }) => sysfsEntry(machine, context.deviceName, table, index, gid)),
  );
  return { from: 'ibv_query_gid', entries };
}

/** An entry of which the GID is known, with the type that sysfs tells. */
function sysfsEntry(
  machine: Machine,
  device: string,
  { port, linkLayer }: Pick<GidTable, 'port' | 'linkLayer'>,
  index: number,
  gid: Uint8Array,
): GidEntry {
  const types = `class/infiniband/${device}/ports/${port}/gid_attrs/types`;
  const type = machine.sysfs.read(`${types}/${index}`)?.trim() ?? null;
  return {
    gid,
    gid_index: index,
    port_num: port,
    gid_type: gidTypeOf(type, linkLayer, machine.sysfs.list(types) !== null),
    ndev_ifindex: 0,
  };
}

/** In place of a type that the kernel does not tell. */
const UNKNOWN_TYPE = -1;

/**
 * sysfs says `IB/RoCE v1` or `RoCE v2`, or nothing where the port is not RoCE. Kernels that have no types (before 4.5)
 * have RoCE v1 only.
 */
function gidTypeOf(sysfsType: string | null, linkLayer: number, hasTypes: boolean): number {
  if (sysfsType === 'RoCE v2') return GidType.valueOf('ROCE_V2');
  if (linkLayer !== LinkLayer.valueOf('ETHERNET')) return GidType.valueOf('IB');
  return sysfsType !== null || !hasTypes ? GidType.valueOf('ROCE_V1') : UNKNOWN_TYPE;
}

function shown(machine: Machine, device: string, entry: GidEntry): Gid {
  const ndev = `class/infiniband/${device}/ports/${entry.port_num}/gid_attrs/ndevs/${entry.gid_index}`;
  return {
    index: entry.gid_index,
    gid: gidText(entry.gid),
    type: entry.gid_type === UNKNOWN_TYPE ? null : GidType.show(entry.gid_type),
    // InfiniBand and EFA entries have none; the kernel then answers the read with EINVAL.
    netdev: entry.gid_type === GidType.valueOf('IB') ? null : (machine.sysfs.read(ndev)?.trim() ?? null),
    ipv4: ipv4OfGid(entry.gid),
  };
}
