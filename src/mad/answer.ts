/** From a request to its answer: `mad serve`. */
import { Method } from '../datagram/classes.ts';
import { RESPONSE_BIT } from '../datagram/codes.ts';
import { hasComponents, mostRecords } from '../datagram/components.ts';
import { dataPlace, hasRmpp, isSa } from '../datagram/headers.ts';
import { encodeMad, isResponse, type Mad } from '../datagram/message.ts';
import type { AnswerRule } from './answer-file.ts';

export interface Answer {
  /** Longer than one datagram where RMPP has to send it. */
  readonly mad: Uint8Array;
  readonly method: number;
  readonly status: number;
  readonly rmpp: boolean;
}

/** The kernel's own word for what nobody serves. */
const UNSUPPORTED_METHOD_ATTRIB = 0x000c;
/** What an SA says to a Get that finds none, or more than the one that has room. IBTA 15.4.4, C15-0.1.30. */
const SA_NO_RECORDS = 0x0300;
const SA_TOO_MANY_RECORDS = 0x0400;

const named = (...names: readonly Parameters<typeof Method.valueOf>[0][]): number[] =>
  names.map((name) => Method.valueOf(name));

/** Methods that a rule without one answers. */
export const ASKING = named('Get', 'Set', 'GetTable', 'GetTraceTable', 'GetMulti', 'Delete');
const TABLES = new Set(named('GetTable', 'GetTraceTable', 'GetMulti'));
const RESPONSES = new Map([
  [Method.valueOf('Set'), Method.valueOf('GetResp')],
  [Method.valueOf('Trap'), Method.valueOf('TrapRepress')],
]);
/** What is sent without being answered. */
const UNANSWERED = new Set(named('Send', 'TrapRepress'));

export const methodsOf = ({ method }: AnswerRule): number[] => (method === null ? ASKING : [method]);

const fits = (rule: AnswerRule, { header, sections }: Mad): boolean =>
  rule.mgmtClass === header.mgmt_class &&
  rule.classVersion === header.class_version &&
  (rule.attributeId === null || rule.attributeId === header.attr_id) &&
  (rule.modifier === null || rule.modifier === header.attr_mod) &&
  methodsOf(rule).includes(header.method) &&
  (rule.oui === null || sections.find(({ name }) => name === 'vendor')?.values['oui'] === rule.oui);

/** The answer of the first rule that fits, a refusal where none does; null for what is not to be answered. */
export function answerTo(request: Mad, rules: readonly AnswerRule[]): Answer | null {
  const { header } = request;
  if (isResponse(header.method) || UNANSWERED.has(header.method)) return null;
  // A class that is only kept from others.
  if (!rules.some(({ mgmtClass }) => mgmtClass === header.mgmt_class)) return null;
  const rule = rules.find((each) => fits(each, request));
  if (rule === undefined) return build(request, UNSUPPORTED_METHOD_ATTRIB, null);
  const saysNothing = rule.record === null && rule.status === 0 && rule.data.length === 0;
  if (saysNothing && isSa(header.mgmt_class)) return build(request, SA_NO_RECORDS, null);
  const chosen = rule.status === 0 ? chosenRecords(request, rule) : null;
  if (chosen === null || header.method !== Method.valueOf('Get')) {
    return build(request, rule.status, { ...rule, data: chosen ?? rule.data });
  }
  const count = rule.distance === 0 ? 0 : chosen.length / rule.distance;
  if (count === 1) return build(request, 0, { ...rule, data: chosen });
  return build(request, count === 0 ? SA_NO_RECORDS : SA_TOO_MANY_RECORDS, null);
}

/** The rule's records that the request asks for, one after another; null where they are not records, or not asked for. */
function chosenRecords(request: Mad, { record, data, distance }: AnswerRule): Uint8Array | null {
  const asks = request.header.method === Method.valueOf('Get') || TABLES.has(request.header.method);
  if (record === null || !asks) return null;
  const sa = request.sections.find(({ name }) => name === 'sa')?.values ?? {};
  const mask = BigInt(String(sa['component_mask'] ?? 0));
  const [wanted = {}] = request.records;
  if (mask === 0n || distance === 0) return data;
  const pieces: Uint8Array[] = [];
  const most = mostRecords(record, mask, wanted) ?? Number.POSITIVE_INFINITY;
  for (let at = 0; at < data.length && pieces.length < most; at += distance) {
    const piece = data.subarray(at, at + distance);
    if (hasComponents(record, mask, wanted, record.layout.decode(piece))) pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function build(
  request: Mad,
  status: number,
  rule: Pick<AnswerRule, 'data' | 'distance' | 'record'> | null,
): Answer {
  const { header } = request;
  const { mgmt_class: mgmtClass } = header;
  const method = RESPONSES.get(header.method) ?? header.method | RESPONSE_BIT;
  const room = dataPlace(mgmtClass).length;
  // What was asked about stands in the answer too, unless a rule has better.
  const all = rule?.data ?? request.data.subarray(0, room);
  const isTable = TABLES.has(header.method);
  const isOne = isSa(mgmtClass) && !isTable && (rule?.distance ?? 0) > 0;
  const data = isOne ? all.subarray(0, rule?.distance) : all;
  const rmpp = hasRmpp(mgmtClass) && (data.length > room || (isSa(mgmtClass) && isTable && status === 0));
  const section = (name: string) => request.sections.find((each) => each.name === name)?.values ?? {};
  const mad = encodeMad({
    header: { ...header, method, status, class_specific: 0, reserved: 0 },
    sections: {
      ...(rmpp ? { rmpp: { version: 1, type: 1, flags: 1 } } : {}),
      sa: {
        ...section('sa'),
        sm_key: 0n,
        attr_offset: status === 0 && rule !== null ? rule.distance / 8 : 0,
      },
      vendor: section('vendor'),
      smp: section('smp'),
    },
    data: rmpp ? data : data.subarray(0, room),
  });
  // RMPP counts the bytes of the message: none stands after the last record.
  const end = dataPlace(mgmtClass).offset + data.length;
  return {
    mad: rmpp ? mad.subarray(0, Math.max(end, dataPlace(mgmtClass).offset)) : mad,
    method,
    status,
    rmpp,
  };
}
