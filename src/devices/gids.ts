import { gidText, ipv4OfGid, isZeroGid } from '../abi/ib-types.ts';
import { ibvGidEntry } from '../abi/verbs.ts';
import { GidType, LinkLayer } from '../abi/verbs-codes.ts';
import type { Decoded } from '../layout/codec.ts';
import type { Gid } from '../model/query-device.ts';
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
): Promise<ReadonlyMap<number, readonly Gid[]>> {
  const room = tables.reduce((sum, { length }) => sum + length, 0);
  const entries =
    (await wholeTable(context, patience, Math.min(room, MOST_ENTRIES))) ??
    tables.flatMap((table) => byIndex(machine, context, table));
  return new Map(
    tables.map(({ port }) => [
      port,
      entries
        .filter((entry) => entry.port_num === port && !isZeroGid(entry.gid))
        .map((entry) => shown(machine, context.deviceName, entry)),
    ]),
  );
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

function byIndex(machine: Machine, context: VerbsContext, table: GidTable): GidEntry[] {
  const indexes = Array.from({ length: table.length }, (_, index) => index);
  try {
    return indexes
      .map((index) => context.queryGidEntry(table.port, index))
      .filter((entry): entry is GidEntry => entry !== null);
  } catch (error) {
    if (!(error instanceof MissingSymbolError)) throw error;
  }
  const types = `class/infiniband/${context.deviceName}/ports/${table.port}/gid_attrs/types`;
  return indexes
    .map((index) => ({ gid: context.queryGid(table.port, index), gid_index: index }))
    .filter(({ gid }) => !isZeroGid(gid))
    .map(({ gid, gid_index }) => ({
      gid,
      gid_index,
      port_num: table.port,
      gid_type: gidTypeOf(machine.sysfs.read(`${types}/${gid_index}`), table.linkLayer),
      ndev_ifindex: 0,
    }));
}

/** sysfs says `IB/RoCE v1` or `RoCE v2`, or nothing where the port is not RoCE. */
export function gidTypeOf(sysfsType: string | null, linkLayer: number): number {
  if (sysfsType === 'RoCE v2') return GidType.valueOf('ROCE_V2');
  const isEthernet = linkLayer === LinkLayer.valueOf('ETHERNET');
  return GidType.valueOf(isEthernet ? 'ROCE_V1' : 'IB');
}

function shown(machine: Machine, device: string, entry: GidEntry): Gid {
  const ndev = `class/infiniband/${device}/ports/${entry.port_num}/gid_attrs/ndevs/${entry.gid_index}`;
  return {
    index: entry.gid_index,
    gid: gidText(entry.gid),
    type: GidType.show(entry.gid_type),
    // InfiniBand and EFA entries have none; the kernel then answers the read with EINVAL.
    netdev: entry.gid_type === GidType.valueOf('IB') ? null : machine.sysfs.read(ndev),
    ipv4: ipv4OfGid(entry.gid),
  };
}
