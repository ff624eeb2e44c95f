/** Management datagrams. Each function opens a port, asks, and closes it. */
import { Method, MgmtClass } from '../datagram/classes.ts';
import { Failure } from '../explain/failure.ts';
import type { HeaderKind, TransportName } from '../mad/backend.ts';
import type { MadSession, SessionOptions } from '../mad/session.ts';
import type { Target } from '../mad/target.ts';
import type { MadGetResult, MadPingResult, MadSendResult, MadTableResult } from '../model/mad.ts';
import { checkOptions, LONGEST_MS, MOST, type Ranges } from './checks.ts';
import { orThrow } from './outcome.ts';

/** From where a datagram goes, and how long its answer is waited for. */
export interface MadOptions {
  /** Device to send from; the first with an active port unless given. */
  readonly device?: string;
  /** Port to send from. */
  readonly port?: number;
  /** Waits so long for an answer, each time; 1000 unless given. */
  readonly timeoutMs?: number;
  /** Sends again so often when no answer comes; 3 unless given. */
  readonly retries?: number;
  /** M_Key of subnet datagrams, SM_Key of administration ones. */
  readonly key?: bigint;
  /** How to speak to the kernel: through libibumad (unless given), or by /dev/infiniband/umadN itself. */
  readonly transport?: TransportName;
  /** Header before each datagram; `old` needs the transport `device`. */
  readonly header?: HeaderKind;
  /** Ends it, which throws INTERRUPTED. */
  readonly signal?: AbortSignal;
}

/** A class of management datagrams by name, or by number. */
export type ManagementClass = number | Parameters<typeof MgmtClass.valueOf>[0];

/** What is asked for beside the attribute. */
export interface MadGetOptions extends MadOptions {
  /** A class, for attributes that several have. */
  readonly mgmtClass?: ManagementClass;
  /** The attribute modifier, instead of what the others make of it. */
  readonly modifier?: number;
  /** Port of the node; of a host its own unless given. */
  readonly portNum?: number;
  /** Of SLtoVLMappingTable: the port that packets come in by. */
  readonly inPort?: number;
  /** Block of a table. */
  readonly block?: number;
}

/** Which records are wanted. */
export interface MadTableOptions extends MadOptions {
  /** Only records with these values of their fields. */
  readonly selection?: Readonly<Record<string, string | number | bigint>>;
  /** Get, which answers with one record, instead of GetTable. */
  readonly single?: boolean;
  /** Who is asked; the subnet manager unless given. */
  readonly from?: string;
}

/** Pings of the kind that ibping(8) serves. */
export interface MadPingOptions extends MadOptions {
  /** 5 unless given. */
  readonly count?: number;
  /** Between two pings; 100 unless given. */
  readonly intervalMs?: number;
}

/** A datagram by its parts. */
export interface MadSendOptions extends MadOptions {
  /** SUBN_DIRECTED_ROUTE along a path and SUBN_LID_ROUTED to anything else, unless given. */
  readonly mgmtClass?: ManagementClass;
  /** Version of the class; 2 for SA and CM, else 1. */
  readonly classVersion?: number;
  /** Get unless given. One that can change the fabric needs `write`. */
  readonly method?: number | Parameters<typeof Method.valueOf>[0];
  /** The caller knows that the datagram may change the fabric. */
  readonly write?: boolean;
  /** The attribute modifier. */
  readonly modifier?: number;
  /** Fields of a known attribute; those left out are zero. */
  readonly fields?: Readonly<Record<string, string | number | bigint>>;
  /** The data, from its place in the class, instead of fields. */
  readonly data?: Uint8Array;
  /** Component mask of SA; from the fields unless given. */
  readonly componentMask?: bigint;
  /** Transaction id; the kernel puts its own into the upper half. */
  readonly tid?: bigint;
  /** Vendor, for classes 0x30 to 0x4f. */
  readonly oui?: number;
  /** Service level. */
  readonly sl?: number;
  /** Queue pair; 0 for subnet management, else 1. */
  readonly qpn?: number;
  /** 0x80010000 unless given. */
  readonly qkey?: number;
  /** Place in the P_Key table of the port. */
  readonly pkeyIndex?: number;
  /** Long messages: the kernel splits what is sent and joins what comes. */
  readonly rmpp?: boolean;
  /** Sends it so often; once unless given. */
  readonly count?: number;
  /** So many at a time; 8 unless given. */
  readonly window?: number;
}

const MAD_RANGES = {
  port: [1, 255],
  timeoutMs: [1, LONGEST_MS],
  retries: [0, 1000],
  window: [1, 65_535],
} as const satisfies Ranges;
const GET_RANGES = {
  modifier: [0, 0xffffffff],
  portNum: [0, 255],
  inPort: [0, 255],
  block: [0, 0xffff],
} as const satisfies Ranges;
const PING_RANGES = { count: [1, MOST], intervalMs: [0, LONGEST_MS] } as const satisfies Ranges;
const SEND_RANGES = {
  classVersion: [0, 255],
  modifier: [0, 0xffffffff],
  oui: [0, 0xffffff],
  sl: [0, 15],
  qpn: [0, 0xffffff],
  qkey: [0, 0xffffffff],
  pkeyIndex: [0, 0xffff],
  count: [1, MOST],
} as const satisfies Ranges;

/**
 * Asks a node for an attribute: `rdmatool mad get`. Throws Failure.
 * @param attribute such as NodeInfo, PortInfo, PortCounters; any spelling of upper and lower case
 * @param target a LID (3), a directed path (0,1,3), a GUID (0x0002c90300001234), a GID, or local
 */
export async function madGet(
  attribute: string,
  target: string | null = null,
  options: MadGetOptions = {},
): Promise<MadGetResult> {
  checkOptions(options, GET_RANGES);
  const { checkQuestion, getAttribute } = await import('../mad/get.ts');
  const question = {
    attribute,
    target: target === null ? null : await targetOf(target),
    mgmtClass: options.mgmtClass === undefined ? null : await classOf(options.mgmtClass),
    modifier: options.modifier ?? null,
    portNum: options.portNum ?? null,
    inPort: options.inPort ?? null,
    block: options.block ?? null,
  };
  checkQuestion(question);
  return withSession(options, (session) => getAttribute(session, question));
}

/**
 * Asks the subnet administration for records: `rdmatool mad table`. Throws Failure.
 * @param record such as NodeRecord, PathRecord
 */
export async function madTable(record: string, options: MadTableOptions = {}): Promise<MadTableResult> {
  const { getTable, tableQuery } = await import('../mad/table.ts');
  const query = tableQuery({
    record,
    selection: assignments(options.selection),
    single: options.single ?? false,
    from: options.from === undefined ? null : await targetOf(options.from),
  });
  return withSession(options, (session) => getTable(session, query));
}

/** Pings a node that runs `ibping -S`: `rdmatool mad ping`. Throws Failure, such as SOME_LOST. */
export async function madPing(target: string, options: MadPingOptions = {}): Promise<MadPingResult> {
  checkOptions(options, PING_RANGES);
  const { ping } = await import('../mad/ping.ts');
  const pings = {
    target: await targetOf(target),
    count: options.count ?? 5,
    intervalMs: options.intervalMs ?? 100,
  };
  return withSession(options, async (session, signal) => {
    const result = await ping(session, pings, signal);
    // The command shows what it has when Ctrl-C ends it; whoever aborts a call is told that it was.
    const wasCutOff = signal.aborted && result.sent < pings.count;
    return wasCutOff ? { ...result, error: interrupted(result.sent, pings.count).toJSON() } : result;
  });
}

/**
 * Sends any datagram, and gives the answer: `rdmatool mad send`. Throws Failure, of code USAGE for a method that can
 * change the fabric without `write: true`.
 * @param attribute name of an attribute of the class, or its number
 */
export async function madSend(
  attribute: string,
  target: string,
  options: MadSendOptions = {},
): Promise<MadSendResult> {
  const { buildMad, needsWrite, sendMad } = await import('../mad/send.ts');
  checkOptions(options, SEND_RANGES);
  const to = await targetOf(target);
  const method = await numberOf(Method, options.method ?? 'Get', 'method');
  if (needsWrite(method) && options.write !== true) {
    throw new Failure(
      'USAGE',
      `a datagram of method ${Method.nameOf(method) ?? method} can change the fabric`,
      'say that this is wanted: write: true',
    );
  }
  const datagram = {
    target: to,
    mgmtClass: await classOf(
      options.mgmtClass ?? (to.kind === 'path' ? 'SUBN_DIRECTED_ROUTE' : 'SUBN_LID_ROUTED'),
    ),
    classVersion: options.classVersion ?? null,
    method,
    attribute,
    modifier: options.modifier ?? 0,
    tid: options.tid ?? null,
    sl: options.sl ?? 0,
    pathBits: 0,
    qpn: options.qpn ?? null,
    qkey: options.qkey ?? null,
    pkeyIndex: options.pkeyIndex ?? 0,
    withGrh: false,
    grh: { gid: null, gidIndex: null, hopLimit: 64, trafficClass: 0, flowLabel: 0 },
    headerFields: [],
    length: null,
    data: null,
    dataBytes: options.data ?? null,
    fields: assignments(options.fields),
    componentMask: options.componentMask ?? null,
    key: options.key ?? null,
    oui: options.oui ?? null,
    rmpp: options.rmpp ?? false,
    count: options.count ?? 1,
  };
  const bytes = buildMad(datagram);
  return withSession(options, (session) => sendMad(session, datagram, bytes));
}

async function withSession<R extends Parameters<typeof orThrow>[0]>(
  options: MadOptions & { readonly window?: number },
  work: (session: MadSession, signal: AbortSignal) => Promise<R>,
): Promise<R> {
  checkOptions(options, MAD_RANGES, { transport: ['libibumad', 'device'], header: ['old', 'new'] });
  const { withSession: open } = await import('../mad/open.ts');
  const { DEFAULT_RETRIES, DEFAULT_TIMEOUT_MS, DEFAULT_WINDOW } = await import('../mad/session.ts');
  const wanted: SessionOptions = {
    device: options.device ?? null,
    port: options.port ?? null,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    retries: options.retries ?? DEFAULT_RETRIES,
    window: options.window ?? DEFAULT_WINDOW,
    key: options.key ?? null,
  };
  const way = { transport: options.transport ?? null, header: options.header ?? null };
  const signal = options.signal ?? new AbortController().signal;
  return orThrow(await open(wanted, way, signal, (session) => work(session, signal)));
}

/** Throws Failure USAGE for what is no target. */
async function targetOf(text: string): Promise<Target> {
  const { parseTarget } = await import('../mad/target.ts');
  const { usageFailure } = await import('../mad/failures.ts');
  try {
    return parseTarget(text);
  } catch (error) {
    throw usageFailure(error);
  }
}

const classOf = (named: ManagementClass): Promise<number> => numberOf(MgmtClass, named, 'mgmtClass');

/** The number by its name, or itself. Throws Failure USAGE for a name that there is not, and for what fits no byte. */
async function numberOf<N extends string>(
  table: { valueOf(name: N): number },
  named: number | N,
  option: string,
): Promise<number> {
  if (typeof named === 'number') {
    checkOptions({ [option]: named }, { [option]: [0, 255] });
    return named;
  }
  const { usageFailure } = await import('../mad/failures.ts');
  try {
    return table.valueOf(named);
  } catch (error) {
    throw usageFailure(error);
  }
}

const interrupted = (sent: number, count: number): Failure =>
  new Failure(
    'INTERRUPTED',
    `interrupted after ${sent} of ${count} pings`,
    'result has those that were sent',
  );

const assignments = (fields: Readonly<Record<string, string | number | bigint>> = {}): string[] =>
  Object.entries(fields).map(([name, value]) => `${name}=${value}`);
