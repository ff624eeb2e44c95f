/** Any datagram: `mad send`. */
import { componentBits } from '../datagram/attributes.ts';
import { isVendor2, Method, READING_METHODS } from '../datagram/classes.ts';
import { FieldValueError, parseHexBytes } from '../datagram/field.ts';
import {
  classVersion,
  HEADER_SIZE,
  hasRmpp,
  isDirected,
  isSa,
  isSmp,
  MAD_SIZE,
  madHeader,
} from '../datagram/headers.ts';
import {
  decodeMad,
  encodeMad,
  type FieldValues,
  isResponse,
  parseAttribute,
  type Section,
} from '../datagram/message.ts';
import { Failure } from '../explain/failure.ts';
import { LayoutError } from '../layout/error.ts';
import type { MadSendResult } from '../model/mad.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { findAttribute } from './attribute-name.ts';
import { describeMad } from './decode.ts';
import { type Address, type Asker, GSI_QKEY, NoReplyError } from './engine.ts';
import { classText, methodText, requestFailed, statusFailure, usageFailure } from './failures.ts';
import type { Reply } from './reply.ts';
import { milliseconds, receivedHeaderJson, targetJson } from './results.ts';
import { roundTrips } from './round-trips.ts';
import { sendingFailed } from './sending-failure.ts';
import { directedValues, type MadSession } from './session.ts';
import type { Target } from './target.ts';
import { type HeaderValues, parseHeaderFields } from './user-header.ts';

export interface SendOptions {
  readonly target: Target;
  readonly mgmtClass: number;
  readonly classVersion: number | null;
  readonly method: number;
  /** A name of the class, or a number. */
  readonly attribute: string;
  readonly modifier: number;
  /** All 64 bits; the kernel puts its own into the upper half of a request's. */
  readonly tid: bigint | null;
  readonly sl: number;
  readonly pathBits: number;
  readonly qpn: number | null;
  readonly qkey: number | null;
  readonly pkeyIndex: number;
  /** A global route header goes with it: its other fields. */
  readonly grh: Omit<NonNullable<Address['grh']>, 'gid' | 'gidIndex'> & {
    readonly gid: Uint8Array | null;
    /** null: one from which the GID can be reached. */
    readonly gidIndex: number | null;
  };
  /** Unless a route header is needed, or asked for, none goes with it. */
  readonly withGrh: boolean;
  /** `field=value` of the user-MAD header; they win over all else. */
  readonly headerFields: readonly string[];
  /** Bytes of the datagram to hand to the kernel, instead of all. */
  readonly length: number | null;
  /** Hexadecimal digits. */
  readonly data: string | null;
  /** Bytes of a file. */
  readonly dataBytes: Uint8Array | null;
  /** `field=value` of a known attribute. */
  readonly fields: readonly string[];
  readonly componentMask: bigint | null;
  /** M_Key of a subnet datagram, SM_Key of an administration one. */
  readonly key: bigint | null;
  readonly oui: number | null;
  readonly rmpp: boolean;
  readonly count: number;
}

/** Whether the method changes something, or may: it needs --write. */
export const needsWrite = (method: number): boolean => !READING_METHODS.has(method) && !isResponse(method);

/** Methods that no answer belongs to: what a responder, a trap or a connection message sends. */
const ANSWERED = new Set(
  (['Get', 'Set', 'GetTable', 'GetMulti', 'GetTraceTable', 'Delete', 'Report'] as const).map((name) =>
    Method.valueOf(name),
  ),
);
const FIRST_USER_QPN = 2;

/** The datagram, its transaction id aside. Throws Failure for values that do not fit. */
export function buildMad(options: SendOptions): Uint8Array {
  const { mgmtClass, method, target } = options;
  const { id, attribute } = findAttribute(mgmtClass, options.attribute);
  try {
    const given = [options.data, options.dataBytes, options.fields[0]].filter((each) => each != null);
    if (given.length > 1)
      throw new FieldValueError('the data comes as --data, --data-file or fields, one of them');
    if (options.fields.length > 0 && !attribute) {
      throw new FieldValueError(`the fields of attribute ${options.attribute} are not known; give --data`);
    }
    const fields = attribute ? parseAttribute(attribute, mgmtClass, options.fields) : {};
    const data = options.dataBytes ?? (options.data === null ? null : parseHexBytes(options.data));
    if (isVendor2(mgmtClass) && options.oui === null) {
      throw new FieldValueError(`${classText(mgmtClass)} has a vendor: give --oui, such as 0x001405`);
    }
    if (isDirected(mgmtClass) !== (target.kind === 'path')) {
      throw new FieldValueError('a directed path goes with the class SUBN_DIRECTED_ROUTE, and only with it');
    }
    const sections: Partial<Record<Section['name'], FieldValues>> = {};
    if (target.kind === 'path')
      sections.dr_smp = { ...directedValues(target.path), m_key: options.key ?? 0n };
    else if (isSmp(mgmtClass)) sections.smp = { m_key: options.key ?? 0n };
    if (isSa(mgmtClass)) {
      const bits = attribute === null ? null : componentBits(attribute);
      const chosen = Object.keys(fields).reduce((mask, name) => mask | (bits?.get(name) ?? 0n), 0n);
      sections.sa = { component_mask: options.componentMask ?? chosen, sm_key: options.key ?? 0n };
    }
    if (isVendor2(mgmtClass)) sections.vendor = { oui: options.oui ?? 0 };
    // With bit 0 of the flags the kernel splits the message; it fills in the rest.
    const isLong = data !== null && data.length > 0 && options.rmpp;
    if (isLong) sections.rmpp = { version: 1, type: 1, flags: 1 };
    const mad = encodeMad({
      header: {
        base_version: 1,
        mgmt_class: mgmtClass,
        class_version: options.classVersion ?? classVersion(mgmtClass),
        method,
        attr_id: id,
        attr_mod: options.modifier,
        tid: options.tid ?? 0n,
      },
      sections,
      attribute: data === null ? attribute : null,
      fields,
      ...(data === null ? {} : { data }),
    });
    if (mad.length > MAD_SIZE && !options.rmpp) {
      throw new FieldValueError(
        `${data?.length ?? 0} bytes of data do not fit one datagram: --rmpp sends several`,
      );
    }
    return mad;
  } catch (error) {
    throw usageFailure(error);
  }
}

async function addressOf(session: MadSession, options: SendOptions): Promise<Address> {
  const { mgmtClass } = options;
  const qpn = options.qpn ?? (isSmp(mgmtClass) ? 0 : 1);
  if (isSmp(mgmtClass) && qpn >= FIRST_USER_QPN) {
    throw usageFailure(new FieldValueError('subnet management goes to queue pair 0'));
  }
  return {
    lid: await lidOf(session, options),
    qpn,
    qkey: options.qkey ?? (qpn === 0 ? 0 : GSI_QKEY),
    sl: options.sl,
    pathBits: options.pathBits,
    pkeyIndex: options.pkeyIndex,
    grh: await routeOf(session, options),
    set: parseSet(options.headerFields),
  };
}

async function lidOf(session: MadSession, { target, mgmtClass }: SendOptions): Promise<number> {
  return !isSmp(mgmtClass) && (await session.isEthernet()) ? 0 : session.lidOf(target, mgmtClass);
}

async function routeOf(
  session: MadSession,
  { target, grh, withGrh, mgmtClass }: SendOptions,
): Promise<Address['grh']> {
  const gid = grh.gid ?? (target.kind === 'gid' ? target.gid : null);
  if (withGrh && gid === null) {
    throw usageFailure(
      new FieldValueError('a global route header needs a GID: as the target, or with --grh-gid'),
    );
  }
  if (!withGrh && (isSmp(mgmtClass) || !(await session.isEthernet()))) return null;
  if (gid === null) return session.routeTo(target);
  return { ...grh, gid, gidIndex: grh.gidIndex ?? (await session.gidIndexFor(gid)) };
}

function parseSet(assignments: readonly string[]): HeaderValues {
  try {
    return parseHeaderFields(assignments);
  } catch (error) {
    throw usageFailure(error);
  }
}

/**
 * Sends the datagram as often as wanted, and shows the last answer. Throws Failure.
 * @param signal what has come by then is the result, where anything has
 */
export async function sendMad(
  session: MadSession,
  options: SendOptions,
  mad = buildMad(options),
  signal: AbortSignal | null = null,
): Promise<MadSendResult> {
  const { mgmtClass, method, target } = options;
  const what = `${methodText(method)} ${options.attribute} (${classText(mgmtClass)})`;
  const address = await addressOf(session, options);
  const version = options.classVersion ?? classVersion(mgmtClass);
  const rmpp = hasRmpp(mgmtClass) && (options.rmpp || isSa(mgmtClass)) ? 1 : 0;
  const key = { mgmtClass, version, rmpp, oui: isVendor2(mgmtClass) ? options.oui : null } as const;
  const base = {
    schema: SCHEMA_IDS.madSend,
    device: session.device,
    port: session.portNumber,
    target: targetJson(target, target.kind === 'path' ? null : address.lid || null),
  } as const;
  const tid = options.tid === null ? undefined : Number(options.tid & 0xffffffffn);

  const length = options.length ?? undefined;

  if (!ANSWERED.has(method)) {
    const agent = session.agent(key);
    // A response keeps the whole transaction id of its request.
    const own = isResponse(method) ? null : tid;
    // How often the segments of a long message are sent again.
    const { retries } = session.options;
    const patient = rmpp === 1 ? { ...address, set: { retries, ...address.set } } : address;
    let last: number | null = null;
    try {
      for (let sent = 0; sent < options.count; sent++) {
        last = await session.post({ agent, address: patient, mad, tid: own, length });
      }
    } catch (error) {
      throw await sendingFailed(session, what, target, { address, mad, length }, error);
    }
    return {
      ...base,
      request: describeMad(withTid(mad, last)),
      error: null,
      sent: options.count,
      received: 0,
      header: null,
      reply: null,
      returned_tid: null,
      rtt: null,
      elapsed_ms: null,
      attempts: null,
    };
  }

  const started = performance.now();
  const request = session.request(key, address, mad, { tid, length });
  const outcome = await exchangeAll(session, options.count, (asker) => session.begin(request, asker));
  const elapsed = performance.now() - started;
  const { times, reasons, last } = outcome;
  const wasCutOff = signal?.aborted === true && times.length > 0;
  const fatal = reasons.find(isFatal);
  if (fatal !== undefined && !wasCutOff) {
    throw await sendingFailed(session, what, target, { address, mad, length }, fatal);
  }
  const failure = wasCutOff
    ? new Failure('INTERRUPTED', `interrupted: ${times.length} of ${options.count} were answered`, '')
    : verdict(session, what, options, outcome);
  const [reason] = reasons;
  const returned = !last && reason instanceof NoReplyError ? reason.returned : null;
  const answered = last?.mad ?? returned?.mad;
  return {
    ...base,
    request: describeMad(withTid(mad, answered ? tidLow(answered) : null)),
    error: failure?.toJSON() ?? null,
    sent: times.length + reasons.length,
    received: times.length,
    header: last ? receivedHeaderJson(last) : returned && receivedHeaderJson(returned),
    reply: last ? describeMad(last.mad) : null,
    returned_tid: returned && madHeader.fields.tid.toJson(madHeader.decode(returned.mad).tid),
    rtt: roundTrips(times),
    elapsed_ms: milliseconds(elapsed),
    attempts: last?.attempts ?? null,
  };
}

const TID = madHeader.offsetOf('tid');
const tidLow = (mad: Uint8Array): number | null =>
  mad.length < HEADER_SIZE ? null : Number(madHeader.decode(mad).tid & 0xffffffffn);

/** The datagram as it went out last: the kernel has the high half of the transaction id, the low half is set here. */
function withTid(mad: Uint8Array, low: number | null): Uint8Array {
  if (low === null || mad.length < HEADER_SIZE) return mad;
  const sent = Uint8Array.from(mad);
  new DataView(sent.buffer).setUint32(TID + 4, low);
  return sent;
}

/** As many in a row lost, and nobody is there: what is left would be lost as well. */
const HOPELESS = 16;

/** What became of the requests. Of thousands of answers only the times, the last and the first with a fault are kept. */
interface Exchanges {
  readonly times: readonly number[];
  readonly reasons: readonly unknown[];
  readonly last: Reply | undefined;
  /** The first answer whose status is not 0, or that is too short to have one. */
  readonly refused: Reply | undefined;
}

/** Does an exchange so often, as many at a time as the window has room for. */
function exchangeAll(
  session: MadSession,
  count: number,
  exchange: (asker: Asker) => void,
): Promise<Exchanges> {
  return new Promise((resolve) => {
    const times: number[] = [];
    const reasons: unknown[] = [];
    let last: Reply | undefined;
    let refused: Reply | undefined;
    let started = 0;
    let lostInARow = 0;
    let isLost = false;
    const { window } = session.options;
    const goOn = (): void => {
      const isHopeless = isLost || lostInARow >= Math.max(HOPELESS, window);
      if (started < count && !isHopeless) start();
      else if (times.length + reasons.length === started) resolve({ times, reasons, last, refused });
    };
    const asker: Asker = {
      answered(reply) {
        times.push(reply.rttMs);
        last = last === refused ? reply.kept() : reply.keptIn(last);
        if (refused === undefined && reply.status !== 0) refused = last;
        lostInARow = 0;
        goOn();
      },
      failed(error) {
        reasons.push(error);
        lostInARow++;
        isLost ||= isFatal(error);
        goOn();
      },
    };
    const start = (): void => {
      started++;
      try {
        exchange(asker);
      } catch (error) {
        asker.failed(error);
      }
    };
    // Answers may come, and start others, while these are sent.
    while (started < Math.min(count, window) && !isLost) start();
  });
}

const isFatal = (reason: unknown): boolean => !(reason instanceof NoReplyError);

function verdict(
  session: MadSession,
  what: string,
  options: SendOptions,
  { times, reasons, last, refused }: Exchanges,
): Failure | null {
  const shown = refused ?? last;
  if (!shown) return requestFailed(session.title, what, options.target, reasons[0]);
  try {
    const { status } = decodeMad(shown.mad);
    if (status !== 0) return statusFailure(what, options.mgmtClass, status);
  } catch (error) {
    if (error instanceof LayoutError) return requestFailed(session.title, what, options.target, error);
    throw error;
  }
  if (reasons.length === 0) return null;
  const sent = times.length + reasons.length;
  const rest = options.count - sent;
  return new Failure(
    'SOME_LOST',
    `${reasons.length} of ${sent} requests were not answered${rest === 0 ? '' : `; ${rest} more were not sent after so many in a row without an answer`}`,
    'a smaller --window, a longer --timeout or more --retries may help',
  );
}
