import type { Codec, Json, Member } from './codec.ts';

/** One field of a structure as some bytes have it. */
export interface FieldReading {
  /** Bytes from the start of what is read. */
  readonly offset: number;
  readonly size: number;
  /** Path for members of nested structures, unions and arrays: `ib_route[0].dgid`. */
  readonly name: string;
  readonly type: string;
  readonly value: Json;
  /** The declaration's sentence, empty where it has none. */
  readonly meaning: string;
  /** For bit fields: the first bit from the start of what is read, the top bit of a byte first. */
  readonly bitOffset?: number;
  readonly bitWidth?: number;
}

/** A field that the bytes do not, or not wholly, hold. */
export interface MissingField {
  readonly offset: number;
  readonly size: number;
  readonly name: string;
}

export interface Readings {
  readonly fields: readonly FieldReading[];
  readonly missing: readonly MissingField[];
}

export interface ReadingOptions {
  /** What the offsets are counted from: the place of the structure in something larger. */
  readonly offset?: number;
  /** What goes before each name. */
  readonly prefix?: string;
  /** For a union, by the name of its member: the reading to take. Without a word each is shown. */
  readonly choose?: { readonly [union: string]: string };
}

/**
 * Reads a structure field by field from bytes that may be too few; more than the structure takes are left alone.
 * Members of nested structures, of unions and of arrays of structures are fields of their own.
 */
export function readFields(
  layout: Codec<unknown>,
  bytes: Uint8Array,
  { offset: base = 0, prefix = '', choose = {} }: ReadingOptions = {},
): Readings {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fields: FieldReading[] = [];
  const missing: MissingField[] = [];
  const visit = (
    codec: Codec<unknown>,
    name: string,
    at: number,
    chosen: string | undefined,
    bits: Bits | null,
  ): void => {
    if (codec.members) {
      const isChosen = (member: Member): boolean => chosen === undefined || member.name === chosen;
      for (const member of codec.members.filter(isChosen)) {
        const path = name === '' ? `${prefix}${member.name}` : `${name}.${member.name}`;
        visit(member.codec, path, at + member.offset, choose[member.name], bitsOf(member, base + at));
      }
      return;
    }
    if (codec.elements?.codec.members) {
      const { codec: element, length } = codec.elements;
      for (let index = 0; index < length; index++) {
        visit(element, `${name}[${index}]`, at + index * element.size, undefined, null);
      }
      return;
    }
    const place = { offset: base + at, size: codec.size, name };
    if (at + codec.size > bytes.length) {
      missing.push(place);
      return;
    }
    const value = codec.toJson(codec.read(view, at));
    fields.push({ ...place, type: codec.type, value, meaning: codec.meaning ?? '', ...bits });
  };
  visit(layout, '', 0, undefined, null);
  return { fields, missing };
}

type Bits = Required<Pick<FieldReading, 'bitOffset' | 'bitWidth'>>;

/** Bits that are whole bytes are a plain field. */
function bitsOf({ bitOffset, bitWidth }: Member, start: number): Bits | null {
  if (bitOffset === undefined || bitWidth === undefined) return null;
  if (bitOffset % 8 === 0 && bitWidth % 8 === 0) return null;
  return { bitOffset: start * 8 + bitOffset, bitWidth };
}
