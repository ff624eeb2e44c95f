/** Whole management datagrams: bytes to fields and back. */
import type { Decoded, Json } from '../layout/codec.ts';
import { LayoutError } from '../layout/error.ts';
import { type Encodable, type Fields, omitting, type Struct } from '../layout/struct.ts';
import { type Attribute, attributeOf, formOf, layoutFor, layoutWith } from './attributes.ts';
import { isVendor2, Method } from './classes.ts';
import { RESPONSE_BIT } from './codes.ts';
import { FieldValueError, isField } from './field.ts';
import {
  dataPlace,
  directedSmp,
  HEADER_SIZE,
  hasRmpp,
  isDirected,
  isSa,
  isSmp,
  lidSmp,
  MAD_SIZE,
  madHeader,
  rmppHeader,
  saHeader,
  vendorHeader,
} from './headers.ts';

/** Values of an attribute by field name. */
export type FieldValues = { readonly [field: string]: unknown };

/** A section between the common header and the data, with the values that it holds. */
export interface Section {
  readonly name: 'smp' | 'dr_smp' | 'rmpp' | 'sa' | 'vendor';
  readonly layout: Struct<Fields>;
  readonly values: FieldValues;
}

export interface Mad {
  readonly header: Decoded<typeof madHeader>;
  /** 0, or why the request failed; without the direction bit of directed SMPs. */
  readonly status: number;
  readonly sections: readonly Section[];
  /** null where the number is not one that is known in the class. */
  readonly attribute: Attribute | null;
  /** The attribute's values: one record, several of an SA table, none of an answer without. */
  readonly records: readonly FieldValues[];
  /** What stands where the data is, whether it is understood or not. */
  readonly data: Uint8Array;
}

/** Sections of a class in the order of their places. */
export function sectionsOf(mgmtClass: number): { name: Section['name']; layout: Struct<Fields> }[] {
  if (isDirected(mgmtClass)) return [{ name: 'dr_smp', layout: directedSmp }];
  if (isSmp(mgmtClass)) return [{ name: 'smp', layout: lidSmp }];
  return [
    ...(hasRmpp(mgmtClass) ? [{ name: 'rmpp' as const, layout: rmppHeader }] : []),
    ...(isSa(mgmtClass) ? [{ name: 'sa' as const, layout: saHeader }] : []),
    ...(isVendor2(mgmtClass) ? [{ name: 'vendor' as const, layout: vendorHeader }] : []),
  ];
}

/** The status of a directed SMP begins with the direction. */
const DIRECTION_BIT = 0x8000;

/** 0, or why the request failed, of the whole header that begins there, without decoding the rest. */
export function statusAt(bytes: Uint8Array, start: number): number {
  const status = (bytes[start + 4] ?? 0) * 0x100 + (bytes[start + 5] ?? 0);
  return isDirected(bytes[start + 1] ?? 0) ? status & ~DIRECTION_BIT : status;
}

const isTable = (method: number): boolean =>
  method === Method.valueOf('GetTableResp') || method === Method.valueOf('GetMultiResp');

/**
 * Decodes a datagram, or several that RMPP has joined: header, data of all.
 * @throws LayoutError where there are too few bytes for the class, or for its attribute
 */
export function decodeMad(bytes: Uint8Array): Mad {
  if (bytes.length < HEADER_SIZE) {
    throw new LayoutError(
      `a management datagram has at least ${HEADER_SIZE} bytes; these are ${bytes.length}`,
    );
  }
  const header = madHeader.decode(bytes);
  const mgmtClass = header.mgmt_class;
  const place = dataPlace(mgmtClass);
  const joins = hasRmpp(mgmtClass);
  if (bytes.length < place.offset) {
    throw new LayoutError(
      `class 0x${mgmtClass.toString(16)} has ${place.offset} bytes before its data; these are ${bytes.length}`,
    );
  }
  if (bytes.length > MAD_SIZE && !joins) {
    throw new LayoutError(
      `a datagram of class 0x${mgmtClass.toString(16)} has ${MAD_SIZE} bytes; these are ${bytes.length}`,
    );
  }
  const sections = sectionsOf(mgmtClass).map(
    ({ name, layout }): Section => ({ name, layout, values: layout.decode(bytes) }),
  );
  const end = isSmp(mgmtClass) ? place.offset + place.length : bytes.length;
  const data = bytes.subarray(place.offset, end);
  const status = isDirected(mgmtClass) ? header.status & ~DIRECTION_BIT : header.status;
  const attribute = attributeOf(mgmtClass, header.attr_id);
  return {
    header,
    status,
    sections,
    attribute,
    records: attribute === null || status !== 0 ? [] : recordsOf(attribute, header, sections, data),
    data,
  };
}

function recordsOf(
  attribute: Attribute,
  header: Decoded<typeof madHeader>,
  sections: readonly Section[],
  data: Uint8Array,
): FieldValues[] {
  const sa = sections.find(({ name }) => name === 'sa');
  if (!sa || !isTable(header.method)) {
    if (data.length < attribute.layout.size) {
      throw new LayoutError(
        `${attribute.name} has ${attribute.layout.size} bytes; the datagram has ${data.length} for it`,
      );
    }
    return [layoutFor(attribute, header.mgmt_class, data).decode(data)];
  }
  const distance = Number(sa.values['attr_offset']) * 8;
  if (distance === 0) return [];
  if (distance < attribute.layout.size) {
    throw new LayoutError(
      `the answer has ${distance} bytes a record; ${attribute.name} has ${attribute.layout.size}`,
    );
  }
  const length = Math.min(data.length, tableLength(sections, data.length));
  const count = Math.floor(length / distance);
  return Array.from({ length: count }, (_, index) =>
    attribute.layout.decode(data.subarray(index * distance)),
  );
}

/** Bytes of an SA table that are records: all but the SA header that the payload length counts in. */
function tableLength(sections: readonly Section[], most: number): number {
  const rmpp = sections.find(({ name }) => name === 'rmpp');
  const payload = Number(rmpp?.values['payload_length'] ?? 0);
  const SA_HEADER_IN_PAYLOAD = 20;
  // A joined message keeps the first segment's header, whose payload length counts 20 bytes a segment.
  return most > MAD_SIZE || payload < SA_HEADER_IN_PAYLOAD ? most : payload - SA_HEADER_IN_PAYLOAD;
}

/** What a datagram is made from. Values left out are zero. */
export interface MadParts {
  readonly header: Encodable<Decoded<typeof madHeader>>;
  readonly sections?: Readonly<Partial<Record<Section['name'], FieldValues>>>;
  readonly attribute?: Attribute | null;
  readonly fields?: FieldValues;
  /** Instead of an attribute: the bytes of the data, from its place on. */
  readonly data?: Uint8Array;
}

/**
 * Encodes a datagram of 256 bytes; longer with data that RMPP shall split.
 * @throws LayoutError where a value does not fit
 */
export function encodeMad(parts: MadParts): Uint8Array {
  const mgmtClass = parts.header.mgmt_class ?? 0;
  const place = dataPlace(mgmtClass);
  const data =
    parts.data ?? (parts.attribute ? encodeFields(parts.attribute, parts.fields ?? {}) : new Uint8Array());
  if (data.length > place.length && !(hasRmpp(mgmtClass) && parts.data)) {
    throw new LayoutError(
      `${data.length} bytes of data; class 0x${mgmtClass.toString(16)} has room for ${place.length}`,
    );
  }
  const bytes = new Uint8Array(Math.max(MAD_SIZE, place.offset + data.length));
  const view = new DataView(bytes.buffer);
  madHeader.write(view, 0, { ...madHeader.zero(), ...parts.header }, madHeader.title);
  for (const { name, layout } of sectionsOf(mgmtClass)) {
    const values = parts.sections?.[name];
    // Members left out keep their zeros; only the declared type asks for every one.
    if (values) layout.write(view, 0, values as Decoded<typeof layout>, layout.title);
  }
  bytes.set(data, place.offset);
  return bytes;
}

function encodeFields(attribute: Attribute, fields: FieldValues): Uint8Array {
  const layout = layoutWith(attribute, Object.keys(fields)) ?? attribute.layout;
  return layout.encode(fields);
}

/** A record's values as JSON has them. */
export function recordJson(attribute: Attribute, values: FieldValues): { readonly [field: string]: Json } {
  const layout = layoutWith(attribute, Object.keys(values)) ?? attribute.layout;
  // The values come from the same layout, or were given for it.
  return layout.toJson(values as Decoded<typeof layout>);
}

/** A section's values as JSON has them. */
export function sectionJson({ layout, values }: Section): { readonly [field: string]: Json } {
  return layout.toJson(values as Decoded<typeof layout>);
}

/** The common header as JSON has it, without the status, which is shown with its meaning. */
export const headerLayout = omitting(madHeader, 'status', 'reserved');

export const isResponse = (method: number): boolean => (method & RESPONSE_BIT) !== 0;

/**
 * Values from `field=value` texts. The details of a Notice go by its trap_number; a trap of which they are given is
 * a generic one unless it is said otherwise.
 * @throws FieldValueError for a field that the attribute does not have, and for a value that does not fit
 */
export function parseAttribute(
  attribute: Attribute,
  mgmtClass: number,
  assignments: readonly string[],
): FieldValues {
  const names = assignments.map((assignment) => nameIn(assignment) ?? '');
  const trap = assignments.find((assignment) => nameIn(assignment) === 'trap_number');
  if (trap === undefined || layoutWith({ ...attribute, forms: [] }, names)) {
    return parseFields(attribute.layout, assignments);
  }
  const { trap_number } = parseFields(attribute.layout, [trap]);
  const form = formOf(attribute, mgmtClass, Number(trap_number));
  return form
    ? { is_generic: 1, ...parseFields(form, assignments) }
    : parseFields(attribute.layout, assignments);
}

const ASSIGNMENT = /^([a-z]\w*)=(.*)$/is;
const nameIn = (assignment: string): string | undefined => ASSIGNMENT.exec(assignment)?.[1]?.toLowerCase();

/**
 * Values from `field=value` texts.
 * @throws FieldValueError for a field that the attribute does not have, and for a value that does not fit
 */
export function parseFields(layout: Struct<Fields>, assignments: readonly string[]): FieldValues {
  const values: Record<string, unknown> = {};
  for (const assignment of assignments) {
    const [, name = '', value] = ASSIGNMENT.exec(assignment) ?? [];
    if (value === undefined) throw new FieldValueError(`'${assignment}' is not FIELD=VALUE`);
    const member = layout.members.find((candidate) => candidate.name === name.toLowerCase());
    if (!member || !isField(member.codec)) throw new UnknownFieldError(name, layout);
    if (Object.hasOwn(values, member.name)) throw new FieldValueError(`${member.name} is given twice`);
    try {
      values[member.name] = member.codec.parse(value);
    } catch (error) {
      if (!(error instanceof FieldValueError)) throw error;
      throw new FieldValueError(`${layout.title}.${member.name}: ${error.message}`);
    }
  }
  return values;
}

/** A field name that the attribute does not have. */
export class UnknownFieldError extends Error {
  override readonly name = 'UnknownFieldError';
  readonly known: readonly string[];
  constructor(
    readonly field: string,
    layout: Struct<Fields>,
  ) {
    super(`${layout.title} has no field ${field}`);
    this.known = layout.members.map((member) => member.name);
  }
}
