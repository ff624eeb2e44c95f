/** Records of the subnet administration: `mad table`. */

import { ATTRIBUTES, type Attribute, attributesNamed, componentBits } from '../datagram/attributes.ts';
import { Method, MgmtClass } from '../datagram/classes.ts';
import { RmppType } from '../datagram/codes.ts';
import { type FieldValues, type Mad, parseFields, recordJson } from '../datagram/message.ts';
import { Failure } from '../explain/failure.ts';
import type { MadTableResult } from '../model/mad.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { statusFailure, unknownAttribute, usageFailure } from './failures.ts';
import { envelopeOf, milliseconds, receivedHeaderJson } from './results.ts';
import type { MadSession } from './session.ts';
import type { Target } from './target.ts';

export interface TableOptions {
  readonly record: string;
  /** `field=value`: only records with that value. */
  readonly selection: readonly string[];
  /** Get, which answers with one record, instead of GetTable. */
  readonly single: boolean;
  /** Who is asked; null: the subnet manager. */
  readonly from: Target | null;
}

export interface TableQuery {
  readonly attribute: Attribute;
  readonly fields: FieldValues;
  readonly componentMask: bigint;
  readonly single: boolean;
  readonly from: Target | null;
}

export const RECORDS = ATTRIBUTES.filter((each) => componentBits(each) !== null);

/** Status of an SA that finds nothing. */
const NO_RECORDS = 0x0300;
/** Bytes of the SA header that the payload length of each segment counts in. */
const SA_HEADER_IN_PAYLOAD = 20;
/** Bytes of data in one datagram of SA. */
const SEGMENT = 200;

/** What is asked for, before any device is looked at. Throws Failure. */
export function tableQuery(options: TableOptions): TableQuery {
  const attribute = attributesNamed(options.record).find((each) => componentBits(each) !== null);
  if (!attribute) throw unknownAttribute(options.record, RECORDS);
  const bits = componentBits(attribute) ?? new Map<string, bigint>();
  let componentMask = 0n;
  let fields: ReturnType<typeof parseFields>;
  try {
    fields = parseFields(attribute.layout, options.selection);
  } catch (error) {
    throw usageFailure(error);
  }
  for (const name of Object.keys(fields)) {
    const bit = bits.get(name);
    if (bit === undefined) {
      throw new Failure(
        'USAGE',
        `records cannot be chosen by ${name}`,
        `${attribute.name} has these components: ${[...bits.keys()].join(', ')}`,
      );
    }
    componentMask |= bit;
  }
  return { attribute, fields, componentMask, single: options.single, from: options.from };
}

/** Asks for the records that fit. Throws Failure. */
export async function getTable(session: MadSession, query: TableQuery): Promise<MadTableResult> {
  const { attribute, fields, componentMask, single } = query;
  const mgmtClass = MgmtClass.valueOf('SUBN_ADM');
  const method = Method.valueOf(single ? 'Get' : 'GetTable');
  const target = query.from ?? (await session.subnetManager());
  const { mad, reply } = await session.ask({ attribute, mgmtClass, method, fields, componentMask, target });
  // A table without records is an answer, not a failure; a single record that is not there is one.
  const isEmpty = mad.status === NO_RECORDS && !single;
  const failure =
    mad.status === 0 || isEmpty
      ? null
      : statusFailure(`${Method.nameOf(method)} ${attribute.name}`, mgmtClass, mad.status);
  const held = recordsHeld(mad);
  return {
    schema: SCHEMA_IDS.madTable,
    error: failure?.toJSON() ?? null,
    device: session.device,
    port: session.portNumber,
    record: attribute.name,
    component_mask: `0x${componentMask.toString(16).padStart(16, '0')}`,
    header: receivedHeaderJson(reply),
    mad: envelopeOf(mad),
    records: mad.records.map((values) => recordJson(attribute, values)),
    records_held: held,
    rtt_ms: milliseconds(reply.rttMs),
    attempts: reply.attempts,
  };
}

/**
 * Records that the answer says it has: more than came where something between cuts long messages. null where the
 * answer was to come in segments, and does not say how long it is.
 */
function recordsHeld(mad: Mad): number | null {
  const section = (name: string) => mad.sections.find((each) => each.name === name)?.values;
  const rmpp = section('rmpp');
  const payload = Number(rmpp?.['payload_length'] ?? 0);
  const distance = Number(section('sa')?.['attr_offset'] ?? 0) * 8;
  const came = mad.records.length;
  if (distance === 0 || came === 0 || mad.data.length > SEGMENT) return came;
  const isUnsplit = rmpp?.['type'] === RmppType.valueOf('NONE') && rmpp?.['flags'] !== 0;
  if (isUnsplit) return came < Math.floor(SEGMENT / distance) ? came : null;
  // Each segment of data counts the header too.
  const segments = Math.max(1, Math.ceil(payload / (SEGMENT + SA_HEADER_IN_PAYLOAD)));
  return Math.max(came, Math.floor((payload - segments * SA_HEADER_IN_PAYLOAD) / distance));
}
