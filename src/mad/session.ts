/** A port that requests are sent from: found, opened, with an agent for each class, closed once. */
import { fullGidText } from '../abi/ib-types.ts';
import { PortState } from '../abi/verbs-codes.ts';
import { type Attribute, componentBits, requiredAttribute } from '../datagram/attributes.ts';
import { Method, MgmtClass } from '../datagram/classes.ts';
import { classVersion, hasRmpp, isDirected, isSmp } from '../datagram/headers.ts';
import { decodeMad, encodeMad, type FieldValues, type Mad } from '../datagram/message.ts';
import { NativeCallError } from '../native/errors.ts';
import { CALL_DEADLINE_MS, OPEN_DEADLINE_MS, within } from '../waiting/deadline.ts';
import type { GidEntry, Registration, Umad, UmadChannel, UmadPortAttributes } from './backend.ts';
import { type Address, type Asker, GSI_QKEY, MadEngine, type Request } from './engine.ts';
import {
  noDevice,
  noLocalGid,
  noRoceAddress,
  noRoceManager,
  noSubnetManager,
  noSuchPort,
  noUmadAtAll,
  openFailed,
  portDown,
  requestFailed,
  statusFailure,
  unknownDevice,
} from './failures.ts';
import { gidKind } from './gid-kind.ts';
import { registerFailed } from './registration-failure.ts';
import type { Received, Reply } from './reply.ts';
import type { Target } from './target.ts';

export interface SessionOptions {
  /** null: the first with an active port. */
  readonly device: string | null;
  /** null: the first that is active, else the first. */
  readonly port: number | null;
  /** For each attempt, ms. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly window: number;
  /** Bytes of a datagram that there is room for at first; unless given, 64 KiB. */
  readonly room?: number | undefined;
  /** M_Key of subnet datagrams, SM_Key of administration ones; null: 0. */
  readonly key?: bigint | null;
}

export const DEFAULT_TIMEOUT_MS = 1000;
export const DEFAULT_RETRIES = 3;
export const DEFAULT_WINDOW = 8;

/** An answer with what it was the answer to. */
export interface Answer {
  readonly mad: Mad;
  readonly reply: Reply;
}

/** A request by its parts. */
export interface Query {
  readonly attribute: Attribute;
  readonly mgmtClass: number;
  readonly method: number;
  readonly modifier?: number;
  readonly fields?: FieldValues;
  readonly componentMask?: bigint;
  readonly target: Target;
}

/** An agent that gets replies alone, once per class: a second would be as good. */
export interface AgentKey {
  readonly mgmtClass: number;
  readonly version: number;
  readonly rmpp: 0 | 1;
  readonly oui: number | null;
}

const NO_ADDRESS = { sl: 0, pathBits: 0, pkeyIndex: 0, grh: null } as const;
const PERMISSIVE_LID = 0xffff;
/** As the kernel itself uses it. */
export const HOP_LIMIT = 64;
const ROCE_V1 = 'IB/RoCE v1';

export class MadSession {
  readonly #engine: MadEngine;
  readonly #agents = new Map<string, number>();
  #isEthernet: Promise<boolean> | undefined;

  private constructor(
    private readonly umad: Umad,
    private readonly channel: UmadChannel,
    readonly device: string,
    readonly portNumber: number,
    readonly options: SessionOptions,
  ) {
    this.#engine = new MadEngine(channel, options.window, undefined, options.room);
  }

  /**
   * Finds and opens the port. Throws Failure.
   * @param kernelDevices what sysfs shows: libibumad passes over devices that cannot have umad
   */
  static async open(
    umad: Umad,
    options: SessionOptions,
    kernelDevices: readonly string[] = [],
  ): Promise<MadSession> {
    const chosen = choose(umad, options, kernelDevices);
    const { device, port } = await within(OPEN_DEADLINE_MS, 'finding a port', chosen).catch(
      (error: unknown) => {
        throw error instanceof Error && error.name === 'DeadlineError'
          ? openFailed(options.device ?? 'the first device', error)
          : error;
      },
    );
    const title = `${device} port ${port}`;
    let channel: UmadChannel;
    try {
      channel = await within(OPEN_DEADLINE_MS, `${title}: opening it`, umad.openPort(device, port));
    } catch (error) {
      throw openFailed(title, error);
    }
    return new MadSession(umad, channel, device, port, options);
  }

  get title(): string {
    return `${this.device} port ${this.portNumber}`;
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  /** The port as its driver describes it now. */
  attributes(): Promise<UmadPortAttributes> {
    return within(
      CALL_DEADLINE_MS,
      `${this.title}: asking for its state`,
      this.umad.port(this.device, this.portNumber),
    );
  }

  get transport(): Umad['transport'] {
    return this.umad.transport;
  }

  get header(): UmadChannel['header'] {
    return this.channel.header;
  }

  /** The GID table of the port, without its empty places. */
  gids(): Promise<readonly GidEntry[]> {
    return this.umad.gids(this.device, this.portNumber);
  }

  /** The agent of a class, registered when it is first asked for. Throws Failure. */
  agent(key: AgentKey): number {
    const name = `${key.mgmtClass}/${key.version}/${key.oui ?? ''}`;
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const agent = this.register({ ...key, qpn: null, methods: 0n, flags: 0 });
    this.#agents.set(name, agent);
    return agent;
  }

  /** Registers an agent of its own. Throws Failure. */
  register(registration: Registration): number {
    try {
      return this.channel.register(registration);
    } catch (error) {
      throw registerFailed(this.title, registration, error);
    }
  }

  /** Hands out what comes unasked. MadEngine.listen. */
  listen(handle: (received: Received) => void, failed: (error: unknown) => void): void {
    this.#engine.listen(handle, failed);
  }

  /** A request from an agent of the class, which is registered where it is not yet. Throws Failure. */
  request(
    key: AgentKey,
    address: Address,
    mad: Uint8Array,
    options: {
      timeoutMs?: number;
      retries?: number;
      tid?: number | undefined;
      length?: number | undefined;
    } = {},
  ): Request {
    return {
      agent: this.agent(key),
      address,
      mad,
      timeoutMs: options.timeoutMs ?? this.options.timeoutMs,
      retries: options.retries ?? this.options.retries,
      tid: options.tid,
      length: options.length,
    };
  }

  /** Sends such a request and gives its answer. Throws what the engine throws. */
  exchange(...request: Parameters<MadSession['request']>): Promise<Reply> {
    return this.#engine.request(this.request(...request));
  }

  /** The same for thousands. MadEngine.begin. */
  begin(request: Request, asker: Asker): void {
    this.#engine.begin(request, asker);
  }

  /** Sends what gets no answer, from an agent that is registered. MadEngine.post. */
  post(message: Parameters<MadEngine['post']>[0]): Promise<number | null> {
    return this.#engine.post(message);
  }

  /** The address of a target, for a class; GUIDs and GIDs are resolved. Throws Failure. */
  async address(target: Target, mgmtClass: number): Promise<Address> {
    const qpn = isSmp(mgmtClass) ? 0 : 1;
    const qkey = qpn === 0 ? 0 : GSI_QKEY;
    // Subnet management, which Ethernet has not, never has a route header.
    const grh = qpn === 0 ? null : await this.routeTo(target);
    const lid = grh === null ? await this.lidOf(target, mgmtClass) : 0;
    return { ...NO_ADDRESS, qpn, qkey, lid, grh };
  }

  /** Whether the port is RoCE: addressed by GID alone, with a global route header. */
  isEthernet(): Promise<boolean> {
    this.#isEthernet ??= this.attributes().then(({ link_layer }) => link_layer === 'Ethernet');
    return this.#isEthernet;
  }

  /** The global route header without which nothing reaches a target over Ethernet; null elsewhere. Throws Failure. */
  async routeTo(target: Target): Promise<Address['grh']> {
    if (!(await this.isEthernet())) return null;
    const gids = await this.gids();
    if (target.kind !== 'gid') throw noRoceAddress(this.title, target, gids);
    const { gid } = target;
    return { gid, gidIndex: await this.gidIndexFor(gid), hopLimit: HOP_LIMIT, trafficClass: 0, flowLabel: 0 };
  }

  /** The local GID to reach another from: one of its kind. Throws Failure where there is none. */
  async gidIndexFor(gid: Uint8Array): Promise<number> {
    const gids = await this.gids();
    const alike = gids.filter((each) => gidKind(each.gid) === gidKind(gid));
    const chosen = alike.find(({ type }) => type !== ROCE_V1) ?? alike[0];
    if (!chosen) throw noLocalGid(this.title, gid, gids);
    return chosen.index;
  }

  /** Asks for an attribute and decodes the answer, whatever its status. Throws Failure. */
  async ask(query: Query): Promise<Answer> {
    const { attribute, mgmtClass, target } = query;
    const what = `${Method.nameOf(query.method) ?? query.method} ${attribute.name}`;
    const address = await this.address(target, mgmtClass);
    const version = classVersion(mgmtClass);
    const key = this.options.key ?? 0n;
    const mad = encodeMad({
      header: {
        base_version: 1,
        mgmt_class: mgmtClass,
        class_version: version,
        method: query.method,
        attr_id: attribute.id,
        attr_mod: query.modifier ?? 0,
      },
      sections: {
        ...(isDirected(mgmtClass) && target.kind === 'path'
          ? { dr_smp: { ...directedValues(target.path), m_key: key } }
          : { smp: { m_key: key } }),
        sa: { component_mask: query.componentMask ?? 0n, sm_key: key },
      },
      attribute,
      fields: query.fields ?? {},
    });
    try {
      const agent = { mgmtClass, version, rmpp: hasRmpp(mgmtClass) ? 1 : 0, oui: null } as const;
      const reply = await this.exchange(agent, address, mad);
      return { mad: decodeMad(reply.mad), reply };
    } catch (error) {
      throw requestFailed(this.title, what, target, error);
    }
  }

  /** LID of the port that administers the subnet. Throws Failure where there is none. */
  async subnetManager(): Promise<Target> {
    const { sm_lid, state, base_lid } = await this.attributes();
    if (state === PortState.valueOf('DOWN')) throw portDown(this.title, 'DOWN');
    if (await this.isEthernet()) throw noRoceManager(this.title);
    if (sm_lid === 0 || base_lid === 0) throw noSubnetManager(this.title);
    return { kind: 'lid', lid: sm_lid };
  }

  /** Throws Failure. */
  async lidOf(target: Target, mgmtClass: number): Promise<number> {
    if (target.kind === 'lid') return target.lid;
    if (target.kind === 'path') {
      if (isDirected(mgmtClass)) return PERMISSIVE_LID;
      if (target.path.length === 1) return this.#ownLid();
      return this.#lidAtPath(target);
    }
    return this.#lidOfGid(target);
  }

  async #ownLid(): Promise<number> {
    const { base_lid } = await this.attributes();
    if (base_lid === 0) throw noSubnetManager(this.title);
    return base_lid;
  }

  /** A class that goes by LID asks the port at the end of the path for its LID first. */
  async #lidAtPath(target: Target): Promise<number> {
    const portInfo = requiredAttribute('PortInfo', 'subnet');
    const { mad } = await this.ask({
      attribute: portInfo,
      mgmtClass: MgmtClass.valueOf('SUBN_DIRECTED_ROUTE'),
      method: Method.valueOf('Get'),
      target,
    });
    const [fields] = mad.records;
    if (!fields) throw statusFailure('Get PortInfo', mad.header.mgmt_class, mad.status);
    const lid = Number(fields['lid']);
    if (lid === 0)
      throw noSubnetManager(`the port at ${target.kind === 'path' ? target.path.join(',') : ''}`);
    return lid;
  }

  /** Asks subnet administration for the path to a port. */
  async #lidOfGid(target: Target & { kind: 'guid' | 'gid' }): Promise<number> {
    const own = await this.attributes();
    const dgid = target.kind === 'gid' ? target.gid : gidOf(own.gid_prefix, target.guid);
    const pathRecord = requiredAttribute('PathRecord', 'administration');
    const bits = componentBits(pathRecord);
    const fields = { dgid, sgid: gidOf(own.gid_prefix, own.port_guid), num_path: 1 };
    const componentMask = Object.keys(fields).reduce((mask, name) => mask | (bits?.get(name) ?? 0n), 0n);
    const { mad } = await this.ask({
      attribute: pathRecord,
      mgmtClass: MgmtClass.valueOf('SUBN_ADM'),
      method: Method.valueOf('Get'),
      fields,
      componentMask,
      target: await this.subnetManager(),
    });
    const [record] = mad.records;
    if (!record) {
      throw statusFailure(
        `the path to ${fullGidText(dgid)} (Get PathRecord)`,
        mad.header.mgmt_class,
        mad.status,
      );
    }
    return Number(record['dlid']);
  }
}

/** Prefix and GUID, as the upper and lower half. */
function gidOf(prefix: bigint, guid: bigint): Uint8Array {
  const gid = new Uint8Array(16);
  const view = new DataView(gid.buffer);
  view.setBigUint64(0, prefix);
  view.setBigUint64(8, guid);
  return gid;
}

/** Values of a directed SMP that goes out along a path; byte n of the path is hop n. */
export function directedValues(path: readonly number[]): FieldValues {
  const initial = new Uint8Array(64);
  initial.set(path);
  return {
    hop_pointer: 0,
    hop_count: path.length - 1,
    dr_slid: PERMISSIVE_LID,
    dr_dlid: PERMISSIVE_LID,
    initial_path: initial,
  };
}

async function choose(
  umad: Umad,
  options: SessionOptions,
  kernelDevices: readonly string[],
): Promise<{ device: string; port: number }> {
  const names = await umad.deviceNames();
  const devices: { name: string; ports: number; isSwitch: boolean }[] = [];
  for (const name of names) {
    try {
      const { numports, node_type } = await umad.device(name);
      devices.push({ name, ports: numports, isSwitch: node_type === 2 });
    } catch (error) {
      // The name that libibumad makes up where there is no device is not one.
      if (!(error instanceof NativeCallError)) throw error;
    }
  }
  const known = [...new Set([...devices.map(({ name }) => name), ...kernelDevices])];
  if (known.length === 0) throw noDevice();
  if (options.device !== null && !known.includes(options.device)) throw unknownDevice(options.device, known);
  const wanted = options.device === null ? devices : devices.filter(({ name }) => name === options.device);
  if (wanted.length === 0) throw noUmadAtAll(options.device === null ? known : [options.device]);

  let fallback: { device: string; port: number } | null = null;
  for (const { name, ports, isSwitch } of wanted) {
    const numbers = isSwitch ? [0] : Array.from({ length: ports }, (_, index) => index + 1);
    if (options.port !== null && options.device !== null && !numbers.includes(options.port)) {
      throw noSuchPort(name, options.port, ports);
    }
    for (const port of numbers) {
      if (options.port !== null && port !== options.port) continue;
      const state = await stateOf(umad, name, port);
      if (state === null) continue;
      if (state === PortState.valueOf('ACTIVE')) return { device: name, port };
      fallback ??= { device: name, port };
    }
  }
  if (fallback) return fallback;
  if (options.port !== null) throw noSuchPort(known[0] ?? '', options.port, devices[0]?.ports ?? 0);
  throw noUmadAtAll(known);
}

async function stateOf(umad: Umad, device: string, port: number): Promise<number | null> {
  try {
    return (await umad.port(device, port)).state;
  } catch (error) {
    if (error instanceof NativeCallError) return null;
    throw error;
  }
}
