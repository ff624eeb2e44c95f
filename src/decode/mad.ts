/** Management datagrams, field by field, as far as the bytes go. IBTA volume 1, 13.4.2. */
import { attributeOf } from '../datagram/attributes.ts';
import { isVendor1, isVendor2, Method, MgmtClass } from '../datagram/classes.ts';
import {
  dataPlace,
  HEADER_SIZE,
  hasRmpp,
  isDirected,
  isSa,
  MAD_SIZE,
  madHeader,
} from '../datagram/headers.ts';
import { decodeMad, sectionsOf } from '../datagram/message.ts';
import { madStatusText } from '../explain/mad-status.ts';
import { LayoutError } from '../layout/error.ts';
import { type FieldReading, type MissingField, readFields } from '../layout/readings.ts';
import type { DecodedPart } from '../model/decode.ts';
import { type Findings, hexOf, partOf } from './result.ts';

/**
 * @param offset of the datagram in what was given; the fields' offsets count from there
 * @param isHeaderOnly the kernel has given back the header alone: the rest is not missing
 */
export function findMad(bytes: Uint8Array, offset = 0, isHeaderOnly = false): Findings {
  const common = readFields(madHeader, bytes, { offset, prefix: 'mad.' });
  const parts: DecodedPart[] = [partOf('mad_hdr', common.fields)];
  if (common.missing.length > 0) {
    return {
      name: null,
      brief: null,
      parts,
      missing: common.missing,
      extra: null,
      notes: [],
      wrong: null,
    };
  }
  const header = madHeader.decode(bytes);
  const mgmtClass = header.mgmt_class;
  const notes = notesOn(header);
  const attribute = attributeOf(mgmtClass, header.attr_id);
  const found = {
    name: attribute?.name ?? null,
    brief: madBrief(bytes),
    notes,
    wrong: header.base_version === 1 ? null : `base version ${header.base_version}: a datagram has 1`,
  };
  if (isHeaderOnly && bytes.length <= HEADER_SIZE) return { ...found, parts, missing: [], extra: null };
  const missing: MissingField[] = [];
  for (const { name, layout } of sectionsOf(mgmtClass)) {
    const section = readFields(layout, bytes, { offset, prefix: `${name}.` });
    parts.push(partOf(layout.title, section.fields));
    missing.push(...section.missing);
  }
  const place = dataPlace(mgmtClass);
  const data = bytes.subarray(place.offset);
  const status = isDirected(mgmtClass) ? header.status & 0x7fff : header.status;
  if (attribute !== null && status === 0) {
    const { count, distance } = recordsIn(bytes, attribute.layout.size);
    for (let index = 0; index < count; index++) {
      const at = place.offset + index * distance;
      const record = readFields(attribute.layout, bytes.subarray(at), {
        offset: offset + at,
        prefix: count > 1 ? `[${index}].` : '',
      });
      parts.push(partOf(count > 1 ? `${attribute.name} ${index + 1}` : attribute.name, record.fields));
      missing.push(...record.missing);
    }
    if (count === 0) notes.push('an answer without records');
  } else if (data.length > 0) {
    parts.push(partOf('data', [rawData(data, offset + place.offset)]));
    if (status !== 0) notes.push('the data of an answer with an error means nothing');
  }
  if (bytes.length < MAD_SIZE) {
    notes.push(`${bytes.length} bytes: a datagram has ${MAD_SIZE} on the wire, and the kernel fills it up`);
  }
  const hasTail = bytes.length > MAD_SIZE && !hasRmpp(mgmtClass);
  const extra = hasTail ? { offset: offset + MAD_SIZE, bytes: bytes.subarray(MAD_SIZE) } : null;
  return { ...found, parts, missing, extra };
}

/** One line: class, method, attribute, and the transaction. */
export function madBrief(bytes: Uint8Array): string | null {
  if (bytes.length < HEADER_SIZE) return null;
  const header = madHeader.decode(bytes);
  const { mgmt_class: mgmtClass, attr_id: id, attr_mod: modifier } = header;
  const status = isDirected(mgmtClass) ? header.status & 0x7fff : header.status;
  const attribute = attributeOf(mgmtClass, id)?.name ?? `attribute 0x${id.toString(16).padStart(4, '0')}`;
  return [
    className(mgmtClass),
    Method.nameOf(header.method) ?? `method 0x${header.method.toString(16)}`,
    attribute,
    ...(modifier === 0 ? [] : [`modifier 0x${modifier.toString(16)}`]),
    `tid 0x${header.tid.toString(16).padStart(16, '0')}`,
    ...(status === 0
      ? []
      : [
          `status 0x${status.toString(16).padStart(4, '0')} ${madStatusText(status, isSa(mgmtClass)).name ?? ''}`,
        ]),
  ]
    .join(' ')
    .trimEnd();
}

function className(mgmtClass: number): string {
  const hex = `0x${mgmtClass.toString(16).padStart(2, '0')}`;
  if (isVendor1(mgmtClass) || isVendor2(mgmtClass)) return `vendor ${hex}`;
  return MgmtClass.nameOf(mgmtClass) ?? `class ${hex}`;
}

function notesOn(header: ReturnType<typeof madHeader.decode>): string[] {
  const status = isDirected(header.mgmt_class) ? header.status & 0x7fff : header.status;
  if (status === 0) return [];
  const { name, meaning } = madStatusText(status, isSa(header.mgmt_class));
  return [`status 0x${status.toString(16).padStart(4, '0')}${name === null ? '' : ` ${name}`}: ${meaning}`];
}

/** How many records there are, and how far apart; of a datagram that is cut, one. */
function recordsIn(bytes: Uint8Array, size: number): { count: number; distance: number } {
  try {
    const { records, sections } = decodeMad(bytes);
    const sa = sections.find(({ name }) => name === 'sa');
    return {
      count: records.length,
      distance: records.length > 1 ? Number(sa?.values['attr_offset']) * 8 : size,
    };
  } catch (error) {
    if (!(error instanceof LayoutError)) throw error;
    return { count: 1, distance: size };
  }
}

const rawData = (bytes: Uint8Array, offset: number): FieldReading => ({
  offset,
  size: bytes.length,
  name: 'data',
  type: `u8[${bytes.length}]`,
  value: hexOf(bytes),
  meaning: 'what stands where the data is',
});
