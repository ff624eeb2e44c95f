/** One device, from its node to its last GID. */
import { constants } from 'node:os';
import { guidText } from '../abi/ib-types.ts';
import { ibvCompCntrCaps, ibvDeviceAttr, ibvDeviceAttrEx } from '../abi/verbs.ts';
import { NodeType, TransportType } from '../abi/verbs-codes.ts';
import type { Failure } from '../explain/failure.ts';
import type { Decoded } from '../layout/codec.ts';
import { omitting } from '../layout/struct.ts';
import type { Device, Efa, Gid, Port, SysfsDevice } from '../model/query-device.ts';
import { MissingSymbolError } from '../native/errors.ts';
import type { VerbsContext, VerbsDevice } from '../native/libibverbs.ts';
import type { Machine } from '../system/machine.ts';
import { CALL_DEADLINE_MS, OPEN_DEADLINE_MS, within } from '../waiting/deadline.ts';
import { isNotEfa, queryEfa } from './efa.ts';
import { nodeRefused, noSuchPort, openFailed, queryFailed, reasonOf } from './failures.ts';
import { queryGids } from './gids.ts';
import type { VerbsLibraries } from './libraries.ts';
import { askPort, describePort, failedPort, type PortAnswer } from './ports.ts';
import { needsRelease, SINCE } from './release.ts';
import { sysfsGuid } from './sysfs-device.ts';

const { errno } = constants;
const AMAZON = 0x1d0f;

const attributesEx = omitting(ibvDeviceAttrEx, 'orig_attr');

/** A device of which only sysfs could be read. */
export function failedDevice(machine: Machine, name: string, sysfs: SysfsDevice, failure: Failure): Device {
  const reason = failure.message;
  return {
    name,
    error: failure.toJSON(),
    node_guid: sysfsGuid(machine, name),
    node_type: null,
    transport: null,
    attributes: null,
    attributes_ex: null,
    comp_cntr_caps: null,
    num_comp_vectors: null,
    efa: null,
    ports: [],
    sysfs,
    notes: [],
    unavailable: {
      node_type: reason,
      transport: reason,
      attributes: reason,
      attributes_ex: reason,
      ports: reason,
    },
  };
}

/**
 * Opens a device, asks it everything, and closes it. Never throws for what the device refuses: the entry
 * carries it.
 * @param port only this port, or null for all
 */
export async function queryDevice(
  machine: Machine,
  libraries: VerbsLibraries,
  device: VerbsDevice,
  sysfs: SysfsDevice,
  port: number | null,
): Promise<Device> {
  const refused = sysfs.uverbs === null ? 0 : machine.nodes.node(sysfs.uverbs).accessErrno;
  if (refused === errno.EACCES || refused === errno.EPERM) {
    return failedDevice(machine, device.name, sysfs, nodeRefused(device.name, sysfs, refused));
  }
  let context: VerbsContext;
  try {
    context = await within(OPEN_DEADLINE_MS, `${device.name}: ibv_open_device`, device.open());
  } catch (error) {
    return failedDevice(machine, device.name, sysfs, openFailed(device.name, sysfs, error));
  }
  let hung = false;
  try {
    const entry = await describeDevice(machine, libraries, device, context, sysfs, port);
    hung = hasTimedOut(entry);
    return entry;
  } finally {
    // A context with a call still inside it cannot be closed; the end of the process does that.
    if (!hung) await within(CALL_DEADLINE_MS, `${device.name}: ibv_close_device`, context.close());
  }
}

const hasTimedOut = (entry: Device): boolean =>
  entry.error?.code === 'TIMED_OUT' || entry.ports.some((port) => port.error?.code === 'TIMED_OUT');

async function describeDevice(
  machine: Machine,
  libraries: VerbsLibraries,
  device: VerbsDevice,
  context: VerbsContext,
  sysfs: SysfsDevice,
  onlyPort: number | null,
): Promise<Device> {
  const { name } = device;
  const version = libraries.libibverbs.version;
  const unavailable: Record<string, string> = {};
  let failure: Failure | null = null;
  let attr: Decoded<typeof ibvDeviceAttrEx> | null = null;
  let extended = false;
  try {
    const operation = `${name}: ibv_query_device_ex`;
    ({ attr, extended } = await within(CALL_DEADLINE_MS, operation, context.queryDevice()));
    if (!extended) unavailable['attributes_ex'] = 'library or driver has no ibv_query_device_ex';
  } catch (error) {
    failure = queryFailed(name, error);
    unavailable['attributes'] = failure.message;
    unavailable['attributes_ex'] = failure.message;
  }

  const count = attr ? attr.phys_port_cnt_ex || attr.orig_attr.phys_port_cnt : sysfs.ports.length;
  if (onlyPort !== null && onlyPort > count) failure ??= noSuchPort(name, onlyPort, count);
  const wanted = Array.from({ length: count }, (_, index) => index + 1).filter(
    (port) => onlyPort === null || port === onlyPort,
  );
  const ports = failure?.code === 'TIMED_OUT' ? [] : await describePorts(machine, context, wanted, version);
  const badPort = ports.find((port) => port.error !== null);

  const guid = attr ? guidText(attr.orig_attr.node_guid) : sysfsGuid(machine, name);
  return {
    name,
    error: failure?.toJSON() ?? badPort?.error ?? null,
    node_guid: guid,
    node_type: NodeType.show(device.nodeType),
    transport: TransportType.show(device.transportType),
    attributes: attr && ibvDeviceAttr.toJson(attr.orig_attr),
    attributes_ex: attr && extended ? attributesEx.toJson(attr) : null,
    comp_cntr_caps: await compCntrCaps(context, version, unavailable),
    num_comp_vectors: context.numCompVectors,
    efa: efaPart(libraries, context, sysfs, attr?.orig_attr.vendor_id ?? null, unavailable),
    ports,
    sysfs,
    notes: notesOn(guid, sysfs),
    unavailable,
  };
}

async function describePorts(
  machine: Machine,
  context: VerbsContext,
  ports: readonly number[],
  version: string | null,
): Promise<Port[]> {
  const answers = await Promise.all(
    ports.map(async (port): Promise<PortAnswer | Port> => {
      try {
        return await askPort(context, port);
      } catch (error) {
        return failedPort(port, queryFailed(`${context.deviceName} port ${port}`, error).toJSON());
      }
    }),
  );
  const answered = answers.filter((answer) => 'attr' in answer);
  let byPort: ReadonlyMap<number, readonly Gid[]> | null = null;
  let reason: string | null = null;
  try {
    const tables = answered.map(({ port, attr }) => ({
      port,
      length: attr.gid_tbl_len,
      linkLayer: attr.link_layer,
    }));
    byPort = await queryGids(machine, context, tables);
  } catch (error) {
    reason = reasonOf(error);
  }
  return Promise.all(
    answers.map((answer) =>
      'attr' in answer
        ? describePort(context, answer, { entries: byPort?.get(answer.port) ?? null, reason }, version)
        : answer,
    ),
  );
}

async function compCntrCaps(
  context: VerbsContext,
  version: string | null,
  unavailable: Record<string, string>,
): Promise<Device['comp_cntr_caps']> {
  try {
    const operation = `${context.deviceName}: ibv_query_comp_cntr_caps`;
    return ibvCompCntrCaps.toJson(await within(CALL_DEADLINE_MS, operation, context.queryCompCntrCaps()));
  } catch (error) {
    unavailable['comp_cntr_caps'] =
      error instanceof MissingSymbolError
        ? needsRelease('ibv_query_comp_cntr_caps', SINCE.ibv_query_comp_cntr_caps, 'libibverbs', version)
        : reasonOf(error);
    return null;
  }
}

/** Asks libefa where the driver or the vendor says that this may be an EFA device; libefa has the last word. */
function efaPart(
  libraries: VerbsLibraries,
  context: VerbsContext,
  sysfs: SysfsDevice,
  vendorId: number | null,
  unavailable: Record<string, string>,
): Efa | null {
  if (sysfs.driver !== 'efa' && vendorId !== AMAZON) {
    unavailable['efa'] = `not an EFA device (driver ${sysfs.driver ?? 'unknown'})`;
    return null;
  }
  try {
    const { library, version } = libraries.efa();
    return queryEfa(library, context, version);
  } catch (error) {
    unavailable['efa'] = isNotEfa(error) ? `${reasonOf(error)}: not an EFA device` : reasonOf(error);
    return null;
  }
}

function notesOn(guid: string | null, sysfs: SysfsDevice): string[] {
  const notes: string[] = [];
  if (sysfs.driver === 'efa') {
    notes.push('The EFA driver always reports ACTIVE and LINK_UP: that says nothing about the network.');
  }
  if (guid !== null && /^[0:]+$/.test(guid)) {
    notes.push(
      sysfs.driver === 'efa'
        ? 'node_guid is 0: EFA drivers before r2.12 give none. Tell devices apart by name.'
        : 'node_guid is 0: programs that match devices by GUID, librdmacm among them, cannot use this device.',
    );
  }
  return notes;
}
