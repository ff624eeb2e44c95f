/** The device that the kernel names by number and GUID, as libibverbs has it. */
import { guidText } from '../../abi/ib-types.ts';
import { TransportType } from '../../abi/verbs-codes.ts';
import { MissingLibraryError, NativeCallError } from '../../native/errors.ts';
import {
  Libibverbs,
  type VerbsContext,
  type VerbsDevice,
  type VerbsDeviceList,
} from '../../native/libibverbs.ts';
import type { Machine } from '../../system/machine.ts';
import { closedDevices } from '../availability.ts';
import type { BackendDevice } from '../backend.ts';

/** How much of RDMA reads a device can, at most. */
export interface DeviceLimits {
  readonly responderResources: number;
  readonly initiatorDepth: number;
}

/** A device, opened when that is first needed. */
export class KernelDevice implements BackendDevice {
  #opening: Promise<VerbsContext> | null = null;
  #limits: Promise<DeviceLimits> | null = null;

  constructor(
    readonly name: string,
    readonly transport: number,
    private readonly machine: Machine,
    private readonly open: () => Promise<VerbsContext>,
  ) {}

  /** Throws NativeCallError, or MissingLibraryError where libibverbs is not installed. */
  context(): Promise<VerbsContext> {
    this.#opening ??= this.open();
    return this.#opening;
  }

  /** Asks once. Throws NativeCallError. */
  limits(): Promise<DeviceLimits> {
    this.#limits ??= this.#askLimits();
    return this.#limits;
  }

  async #askLimits(): Promise<DeviceLimits> {
    const context = await this.context();
    const { orig_attr } = (await context.queryDevice()).attr;
    return {
      responderResources: orig_attr.max_qp_rd_atom,
      initiatorDepth: orig_attr.max_qp_init_rd_atom,
    };
  }

  isEthernet(port: number): boolean {
    const layer = this.machine.sysfs.read(`class/infiniband/${this.name}/ports/${port}/link_layer`);
    return layer?.trim() === 'Ethernet';
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = null;
    await opening?.then(
      (context) => context.close(),
      // What could not be opened needs no closing.
      () => undefined,
    );
  }
}

/** The devices that ids are bound to. Close it after everything that was made on them. */
export class KernelDevices {
  readonly #lists: VerbsDeviceList[] = [];
  readonly #known = new Map<VerbsDevice | string, KernelDevice>();

  constructor(private readonly machine: Machine) {}

  /**
   * The device of that number, where its GUID is that one too; else the only one of that GUID, for kernels before
   * 5.8 tell no number. null where there is none. Without libibverbs it has its name from sysfs, and cannot be
   * opened. Throws NativeCallError.
   */
  async find(index: number, guid: bigint): Promise<KernelDevice | null> {
    try {
      const [last] = this.#lists.slice(-1);
      const found = last && chosen(last.devices, index, guid);
      if (found) return this.#verbs(found);
      // The first time, and for a device that has come since.
      const list = await new Libibverbs().deviceList();
      this.#lists.push(list);
      const fresh = chosen(list.devices, index, guid);
      return fresh ? this.#verbs(fresh) : null;
    } catch (error) {
      if (error instanceof MissingLibraryError) return this.#bySysfs(guid, error);
      throw error;
    }
  }

  #verbs(device: VerbsDevice): KernelDevice {
    const known =
      this.#known.get(device) ??
      new KernelDevice(device.name, device.transportType, this.machine, () => this.#open(device));
    this.#known.set(device, known);
    return known;
  }

  /** Where its node may not be opened, libibverbs would wait 5 s and tell another errno. */
  async #open(device: VerbsDevice): Promise<VerbsContext> {
    const closed = closedDevices(this.machine).find(({ device: name }) => name === device.name);
    if (closed) throw new NativeCallError(`open(${closed.node})`, closed.errno);
    return device.open();
  }

  #bySysfs(guid: bigint, reason: MissingLibraryError): KernelDevice | null {
    const { sysfs } = this.machine;
    const names = (sysfs.list('class/infiniband') ?? []).filter(
      (name) => sysfs.read(`class/infiniband/${name}/node_guid`)?.trim() === guidText(guid),
    );
    const [name] = names;
    if (name === undefined || names.length > 1) return null;
    const isIwarp = sysfs.read(`class/infiniband/${name}/node_type`)?.includes('RNIC') ?? false;
    const transport = TransportType.valueOf(isIwarp ? 'IWARP' : 'IB');
    const known =
      this.#known.get(name) ?? new KernelDevice(name, transport, this.machine, () => Promise.reject(reason));
    this.#known.set(name, known);
    return known;
  }

  async close(): Promise<void> {
    for (const device of this.#known.values()) await device.close();
    this.#known.clear();
    for (const list of this.#lists.splice(0)) list.close();
  }
}

function chosen(devices: readonly VerbsDevice[], index: number, guid: bigint): VerbsDevice | undefined {
  // GUIDs of 0 are real: on some virtual functions every device has it.
  const ofGuid = devices.filter((device) => device.guid() === guid);
  return ofGuid.find((device) => device.index() === index) ?? (ofGuid.length === 1 ? ofGuid[0] : undefined);
}
