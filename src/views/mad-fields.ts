/** The fields of an attribute for people. */
import { ATTRIBUTES, layoutWith } from '../datagram/attributes.ts';
import { isField } from '../datagram/field.ts';
import type { Json } from '../layout/codec.ts';
import type { EnumJson } from '../layout/enumeration.ts';
import type { FlagsJson } from '../layout/flags.ts';
import type { Fields, Struct } from '../layout/struct.ts';
import type { Cell } from '../output/blocks.ts';
import { enumText, flagsText, hexAndDecimal, hexText } from './values.ts';

type JsonObject = { readonly [field: string]: Json };

/** The layout whose fields these are. An attribute's name may stand for several; the fields decide. */
export function layoutOf(attribute: string, fields: JsonObject): Struct<Fields> | null {
  const names = Object.keys(fields);
  const named = ATTRIBUTES.filter(({ name }) => name === attribute);
  return named.map((each) => layoutWith(each, names)).find((layout) => layout !== null) ?? null;
}

/** A row a field. */
export function fieldRows(attribute: string, fields: JsonObject): [label: string, value: Cell][] {
  const layout = layoutOf(attribute, fields);
  return Object.entries(fields).map(([name, value]) => {
    const codec = layout?.fields[name];
    const text = fieldText(value, codec && isField(codec) ? codec.kind : 'number');
    return [name, WORD_COUNTERS.has(name) ? wordsText(text) : text];
  });
}

/** The counters of PortCounters and PortCountersExtended that count words, as `rdmatool counters` has them in bytes. */
const WORD_COUNTERS: ReadonlySet<string> = new Set(['port_xmit_data', 'port_rcv_data']);
const WORD_BYTES = 4n;

const wordsText = (text: string): string =>
  /^\d+$/.test(text) ? `${text} (words of ${WORD_BYTES} bytes) = ${BigInt(text) * WORD_BYTES} bytes` : text;

/** A value as a person wants it and as it is. */
export function fieldText(value: Json, kind: string): string {
  switch (kind) {
    case 'enum':
      return enumText(value as EnumJson);
    case 'flags':
      return flagsText(value as FlagsJson);
    case 'identifier':
      return hexAndDecimal(Number(value));
    case 'bytes':
      return hexText(String(value));
    case 'list':
      return listText(value);
    default:
      return String(value);
  }
}

/** Elements with their runs told as one: `1 x2`; zeros at the end are left out. */
function listText(value: Json): string {
  if (!Array.isArray(value)) return String(value);
  const texts = value.map((element) =>
    typeof element === 'object' && element !== null ? Object.values(element).join(':') : String(element),
  );
  let end = texts.length;
  while (end > 1 && isNothing(texts[end - 1] ?? '') && isNothing(texts[end - 2] ?? '')) end--;
  const shown = texts.slice(0, isNothing(texts[0] ?? '') && end === 1 ? 0 : end);
  const rest = texts.length - shown.length;
  return [...shown, ...(rest > 0 ? [`(${rest} more: 0)`] : [])].join(' ');
}

const isNothing = (text: string): boolean => /^(0x)?[0:]+$/.test(text);
