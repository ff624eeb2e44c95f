/** One device, from its node to its last GID. */
import { constants } from 'node:os';
import { guidText } from '../abi/ib-types.ts';
import { ibvCompCntrCaps, ibvDeviceAttr, ibvDeviceAttrEx } from '../abi/verbs.ts';
import { NodeType, TransportType } from '../abi/verbs-codes.ts';
import type { Failure } from '../explain/failure.ts';
import type { Decoded } from '../layout/codec.ts';
import { omitting } from '../layout/struct.ts';
import type { Device, Efa, Port, SysfsDevice } from '../model/query-device.ts';
import { MissingSymbolError, NativeCallError } from '../native/errors.ts';
import type { VerbsContext, VerbsDevice } from '../native/libibverbs.ts';
import type { Machine } from '../system/machine.ts';
import { CALL_DEADLINE_MS, OPEN_DEADLINE_MS, within } from '../waiting/deadline.ts';
import { Patience } from '../waiting/patience.ts';
import { isNotEfa, queryEfa } from './efa.ts';
import { efaFailed, noSuchPort, openFailed, queryFailed, reasonOf } from './failures.ts';
import { queryGids } from './gids.ts';
import type { VerbsLibraries } from './libraries.ts';
import { askPort, describePort, failedPort, type PortAnswer, type PortGids } from './ports.ts';
import { needsRelease, SINCE } from './release.ts';
import { sysfsGuid } from './sysfs-device.ts';

const { ENOENT } = constants.errno;
const AMAZON = 0x1d0f;

const attributesEx = omitting(ibvDeviceAttrEx, 'orig_attr');

/** What is asked of a device. */
export interface Wanted {
  /** Only this port; null: all. */
  readonly port: number | null;
  /** What libefa tells of an EFA device. */
  readonly efa: boolean;
}

/** A device of which only sysfs could be read. */
export function failedDevice(machine: Machine, name: string, sysfs: SysfsDevice, failure: Failure): Device {
  const guid = sysfsGuid(machine, name);
  const missing = {
    node_type: null,
    transport: null,
    attributes: null,
    attributes_ex: null,
    comp_cntr_caps: null,
    num_comp_vectors: null,
    efa: null,
  };
  const reasons = [...Object.keys(missing), 'ports', ...(guid === null ? ['node_guid'] : [])];
  return {
    name,
    error: failure.toJSON(),
    node_guid: guid,
    ...missing,
    ports: [],
    sysfs,
    notes: notesOn(guid, sysfs, false),
    unavailable: Object.fromEntries(reasons.map((key) => [key, failure.message])),
  };
}

/**
 * Opens a device, asks it everything, and closes it. Never throws for what the device refuses: the entry
 * carries it.
 */
export async function queryDevice(
  machine: Machine,
  libraries: VerbsLibraries,
  device: VerbsDevice,
  sysfs: SysfsDevice,
  wanted: Wanted,
): Promise<Device> {
  const patience = new Patience(device.name);
  let context: VerbsContext;
  try {
    if (sysfs.uverbs !== null) await tryNode(machine, sysfs.uverbs, patience);
    context = await open(device, patience);
  } catch (error) {
    return failedDevice(machine, device.name, sysfs, openFailed(machine, device.name, sysfs, error));
  }
  try {
    return await new Query(machine, libraries, device, context, sysfs, patience).device(wanted);
  } finally {
    const closing = within(CALL_DEADLINE_MS, `${device.name}: ibv_close_device`, context.close());
    // What was asked has been answered. A close that hangs is left to the end of the process.
    await closing.catch(() => {});
  }
}

/**
 * Opens the node itself. libibverbs would wait 5 s for one that refuses, and tell another errno than the kernel's.
 * A node that is not there is libibverbs's matter: it knows a second place, /dev/char.
 */
async function tryNode(machine: Machine, uverbs: string, patience: Patience): Promise<void> {
  const errno = await patience.call(OPEN_DEADLINE_MS, `open(${machine.nodes.node(uverbs).path})`, () =>
    machine.nodes.tryOpen(uverbs),
  );
  if (errno !== 0 && errno !== ENOENT) throw new NativeCallError('open', errno);
}

async function open(device: VerbsDevice, patience: Patience): Promise<VerbsContext> {
  let opening: Promise<VerbsContext> | undefined;
  try {
    return await patience.call(OPEN_DEADLINE_MS, 'ibv_open_device', () => {
      opening = device.open();
      return opening;
    });
  } catch (error) {
    // A context that comes too late is not to stay open.
    opening?.then((context) => context.close()).catch(() => {});
    throw error;
  }
}

/** All questions to one open device. */
class Query {
  readonly #unavailable: Record<string, string> = {};
  #failure: Failure | null = null;

  constructor(
    private readonly machine: Machine,
    private readonly libraries: VerbsLibraries,
    private readonly verbs: VerbsDevice,
    private readonly context: VerbsContext,
    private readonly sysfs: SysfsDevice,
    private readonly patience: Patience,
  ) {}

  get #name(): string {
    return this.verbs.name;
  }

  get #version(): string | null {
    return this.libraries.libibverbs.version;
  }

  async device(wanted: Wanted): Promise<Device> {
    const { attr, extended } = await this.#attributes();
    const count = attr ? attr.phys_port_cnt_ex || attr.orig_attr.phys_port_cnt : this.sysfs.ports.length;
    const ports = await this.#ports(count, wanted.port);
    const guid = attr ? guidText(attr.orig_attr.node_guid) : sysfsGuid(this.machine, this.#name);
    if (guid === null) this.#unavailable['node_guid'] = this.#unavailable['attributes'] ?? '';
    const compCntrCaps = await this.#compCntrCaps();
    const efa = wanted.efa ? this.#efa(attr?.orig_attr.vendor_id ?? null) : null;
    const badPort = ports.find((port) => port.error !== null);
    return {
      name: this.#name,
      error: this.#failure?.toJSON() ?? badPort?.error ?? null,
      node_guid: guid,
      node_type: NodeType.show(this.verbs.nodeType),
      transport: TransportType.show(this.verbs.transportType),
      attributes: attr && ibvDeviceAttr.toJson(attr.orig_attr),
      attributes_ex: attr && extended ? attributesEx.toJson(attr) : null,
      comp_cntr_caps: compCntrCaps,
      num_comp_vectors: this.context.numCompVectors,
      efa,
      ports,
      sysfs: this.sysfs,
      notes: notesOn(guid, this.sysfs, true),
      unavailable: this.#unavailable,
    };
  }

  async #attributes(): Promise<{ attr: Decoded<typeof ibvDeviceAttrEx> | null; extended: boolean }> {
    try {
      const answer = await this.patience.call(CALL_DEADLINE_MS, 'ibv_query_device_ex', () =>
        this.context.queryDevice(),
      );
      if (!answer.extended) {
        this.#unavailable['attributes_ex'] = 'this libibverbs or driver has no ibv_query_device_ex';
      }
      return answer;
    } catch (error) {
      this.#failure = queryFailed(this.machine, this.#name, error);
      this.#unavailable['attributes'] = this.#failure.message;
      this.#unavailable['attributes_ex'] = this.#failure.message;
      return { attr: null, extended: false };
    }
  }

  async #ports(count: number, only: number | null): Promise<Port[]> {
    if (only !== null && only > count) {
      this.#failure ??= noSuchPort(this.#name, only, count);
      return [];
    }
    const numbers = only === null ? Array.from({ length: count }, (_, index) => index + 1) : [only];
    const answers: (PortAnswer | Port)[] = [];
    for (const port of numbers) {
      try {
        answers.push(await askPort(this.context, this.patience, port));
      } catch (error) {
        const failure = queryFailed(this.machine, `${this.#name} port ${port}`, error);
        answers.push(failedPort(port, failure.toJSON()));
      }
    }
    const gids = await this.#gids(answers.filter((answer) => 'attr' in answer));
    const ports: Port[] = [];
    for (const answer of answers) {
      if ('attr' in answer) {
        ports.push(await describePort(this.context, this.patience, answer, gids(answer.port), this.#version));
      } else ports.push(answer);
    }
    return ports;
  }

  async #gids(answers: readonly PortAnswer[]): Promise<(port: number) => PortGids> {
    const tables = answers.map(({ port, attr }) => ({
      port,
      length: attr.gid_tbl_len,
      linkLayer: attr.link_layer,
    }));
    try {
      const { from, byPort } = await queryGids(this.machine, this.context, this.patience, tables);
      return (port) => ({ from, entries: byPort.get(port) ?? [] });
    } catch (error) {
      const reason = reasonOf(error);
      return () => ({ from: null, reason });
    }
  }

  async #compCntrCaps(): Promise<Device['comp_cntr_caps']> {
    try {
      const caps = await this.patience.call(CALL_DEADLINE_MS, 'ibv_query_comp_cntr_caps', () =>
        this.context.queryCompCntrCaps(),
      );
      return ibvCompCntrCaps.toJson(caps);
    } catch (error) {
      this.#unavailable['comp_cntr_caps'] =
        error instanceof MissingSymbolError
          ? needsRelease(
              'ibv_query_comp_cntr_caps',
              SINCE.ibv_query_comp_cntr_caps,
              'libibverbs',
              this.#version,
            )
          : reasonOf(error);
      return null;
    }
  }

  /** Asks libefa where the driver or the vendor says that this may be an EFA device; libefa has the last word. */
  #efa(vendorId: number | null): Efa | null {
    const { driver } = this.sysfs;
    if (driver !== 'efa' && vendorId !== AMAZON) {
      this.#unavailable['efa'] = `not an EFA device (driver ${driver ?? 'unknown'})`;
      return null;
    }
    try {
      const { library, version } = this.libraries.efa();
      return queryEfa(library, this.context, version);
    } catch (error) {
      const isOther = driver !== 'efa' && isNotEfa(error);
      this.#unavailable['efa'] = isOther ? `${reasonOf(error)}: not an EFA device` : reasonOf(error);
      if (driver === 'efa') this.#failure ??= efaFailed(this.machine, this.#name, error);
      return null;
    }
  }
}

/** @param isOpen whether port states come from the driver */
function notesOn(guid: string | null, sysfs: SysfsDevice, isOpen: boolean): string[] {
  const notes: string[] = [];
  if (sysfs.driver === 'efa' && isOpen) {
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
