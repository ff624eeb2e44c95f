/**
 * C structures, declared once.
 *
 * Why no npm library: none gives C's natural alignment, bit runs in the IBTA's numbering, precise TypeScript
 * types, JSON with its schema and errors that name the member together. Koffi and ref-struct-di align as C does,
 * but have neither bit fields nor value types and need a native addon even to decode a file; @yume-chan/struct,
 * typed-struct, restructure, c-struct and binary-parser place members one after another, padding by hand, with bit
 * fields of one integer at most or none (and binary-parser only decodes).
 */
import type { Codec, Json, JsonSchema, Member } from './codec.ts';
import { LayoutError, shown } from './error.ts';
import { checkLength } from './scalar.ts';

/** Member name to type, in the order of the declaration. */
export type Fields = { readonly [name: string]: Codec<unknown> };

type Values<F extends Fields> = {
  -readonly [K in keyof F]: F[K] extends Codec<infer T, infer _J> ? T : never;
};
type JsonValues<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Codec<infer _T, infer J> ? J : never;
};
type Without<F extends Fields, N extends PropertyKey> = { readonly [K in keyof F as Exclude<K, N>]: F[K] };

/** What `encode` takes: members left out, at any depth, are zero. */
export type Encodable<T> = unknown extends T
  ? T
  : T extends Uint8Array | bigint | number | string
    ? T
    : T extends readonly (infer E)[]
      ? readonly Encodable<E>[]
      : { readonly [K in keyof T]?: Encodable<T[K]> };

/** A C structure or union: one declaration, from which come decode, encode, size, offsets, types and JSON. */
export interface Struct<F extends Fields> extends Codec<Values<F>, JsonValues<F>> {
  readonly kind: 'struct' | 'union';
  /** The C tag, without `struct` or `union`. */
  readonly title: string;
  readonly members: readonly Member[];
  readonly fields: F;
  /** Decodes the structure from the start of `bytes`; LayoutError if they are too few. More are ignored. */
  decode(bytes: Uint8Array): Values<F>;
  /** Decodes the members that lie wholly inside `bytes`: an older program's or kernel's shorter form. */
  decodeAvailable(bytes: Uint8Array): Partial<Values<F>>;
  /** Encodes into exactly `size` bytes. */
  encode(values: Encodable<Values<F>>): Uint8Array;
  /** Bytes from the start to the member. */
  offsetOf(name: keyof F & string): number;
}

export interface StructOptions {
  /** No padding between members, alignment 1: `__attribute__((packed))`. */
  readonly packed?: boolean;
  /** The size that the C compiler is known to give, where a wrong one must be noticed at once. */
  readonly size?: number;
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const roundUp = (offset: number, align: number): number => Math.ceil(offset / align) * align;

/**
 * Declares a C structure with the members' natural alignment (the System V ABI's, the same on x86-64 and arm64).
 * @param title the C tag
 * @param fields the members in order
 */
export function struct<const F extends Fields>(
  title: string,
  fields: F,
  options: StructOptions = {},
): Struct<F> {
  let end = 0;
  let align = 1;
  const members: Member[] = [];
  for (const [name, codec] of Object.entries(fields)) {
    const memberAlign = options.packed ? 1 : codec.align;
    const offset = roundUp(end, memberAlign);
    members.push({ name, offset, size: codec.size, codec });
    end = offset + codec.size;
    align = Math.max(align, memberAlign);
  }
  return record(title, checkedSize(title, roundUp(end, align), options), align, fields, members);
}

/**
 * Declares a C union. It decodes to every member's reading of the same bytes: the caller knows which one
 * holds. `encode` takes one member, or several that agree on the bytes that they share.
 * @param title the C tag
 */
export function union<const F extends Fields>(
  title: string,
  fields: F,
  options: StructOptions = {},
): Struct<F> {
  const codecs = Object.entries(fields);
  const align = options.packed ? 1 : Math.max(1, ...codecs.map(([, codec]) => codec.align));
  const end = Math.max(0, ...codecs.map(([, codec]) => codec.size));
  const members = codecs.map(([name, codec]): Member => ({ name, offset: 0, size: codec.size, codec }));
  return record(title, checkedSize(title, roundUp(end, align), options), align, fields, members, 'union');
}

/**
 * The structure without some of its members: neither decoded, encoded (their bytes are zero) nor shown. Size
 * and offsets stay. `toJson` takes the values of the whole structure too.
 */
export function omitting<F extends Fields, const N extends keyof F & string>(
  layout: Struct<F>,
  ...names: readonly N[]
): Struct<Without<F, N>> {
  for (const name of names) {
    if (!Object.hasOwn(layout.fields, name)) throw new TypeError(`${layout.title} has no member ${name}`);
  }
  const kept = layout.members.filter(({ name }) => !names.some((omitted) => omitted === name));
  // Object.fromEntries forgets the names; they are those of `layout` without `names`.
  const fields = Object.fromEntries(kept.map(({ name, codec }) => [name, codec])) as Without<F, N>;
  const rest = record(layout.title, layout.size, layout.align, fields, kept, layout.kind);
  return layout.meaning === undefined ? rest : { ...rest, meaning: layout.meaning };
}

function checkedSize(title: string, size: number, options: StructOptions): number {
  if (options.size !== undefined && options.size !== size) {
    throw new TypeError(`${title}: ${size} bytes declared, ${options.size} expected`);
  }
  return size;
}

/** The members that `values` gives, each with its value. Throws LayoutError for one that is not declared. */
function given(members: readonly Member[], values: unknown, path: string): [Member, unknown][] {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new LayoutError(`${path}: ${shown(values)} is not an object of members`);
  }
  const own = new Map<string, unknown>(Object.entries(values));
  const found: [Member, unknown][] = [];
  for (const member of members) {
    const value = own.get(member.name);
    own.delete(member.name);
    // A member left out keeps the bytes that are there: zero in encode's fresh buffer.
    if (value !== undefined) found.push([member, value]);
  }
  for (const name of own.keys()) throw new LayoutError(`${path} has no member ${name}`);
  return found;
}

/** Throws LayoutError where members of a union give the bits that they share different values. */
function checkAgreement(size: number, parts: readonly [Member, unknown][], path: string): void {
  if (parts.length < 2) return;
  const bytes = new Uint8Array(size);
  const write = ([member, value]: readonly [Member, unknown], into: Uint8Array): void =>
    member.codec.write(viewOf(into), 0, value, `${path}.${member.name}`);
  for (const part of parts) write(part, bytes);
  for (const part of parts) {
    // A member that no later one overwrote changes nothing when it is written once more.
    const again = bytes.slice();
    write(part, again);
    if (again.some((byte, index) => byte !== bytes[index])) {
      throw new LayoutError(`${path}: ${part[0].name} and another member of the union want different bytes`);
    }
  }
}

/** A structure from placed members; `struct`, `union` and the bit records share it. */
export function record<F extends Fields>(
  title: string,
  size: number,
  align: number,
  fields: F,
  members: readonly Member[],
  kind: 'struct' | 'union' = 'struct',
): Struct<F> {
  for (const { name } of members) {
    // JavaScript moves such keys to the front, out of the order of the declaration.
    if (/^\d+$/.test(name)) throw new TypeError(`${title}: ${name} cannot be the name of a member`);
  }
  // Object.fromEntries forgets the names: they are those of `fields`, from which `members` was made.
  const each = (value: (member: Member) => unknown): Values<F> =>
    Object.fromEntries(members.map((member) => [member.name, value(member)])) as Values<F>;

  const self: Struct<F> = {
    kind,
    title,
    type: `${kind} ${title}`,
    size,
    align,
    members,
    fields,
    read: (view, offset) => each((member) => member.codec.read(view, offset + member.offset)),
    write(view, offset, values, path) {
      const parts = given(members, values, path);
      if (kind === 'union') checkAgreement(size, parts, path);
      for (const [member, value] of parts) {
        member.codec.write(view, offset + member.offset, value, `${path}.${member.name}`);
      }
    },
    zero: () => each((member) => member.codec.zero()),
    toJson: (values) =>
      Object.fromEntries(
        members.map((member): [string, Json] => [member.name, member.codec.toJson(values[member.name])]),
      ) as JsonValues<F>,
    schema: () => ({
      type: 'object',
      title,
      properties: Object.fromEntries(members.map(({ name, codec }) => [name, describedSchema(codec)])),
      required: members.map(({ name }) => name),
      additionalProperties: false,
    }),
    decode(bytes) {
      if (bytes.length < size) {
        throw new LayoutError(`${title}: ${bytes.length} bytes given, ${size} needed`);
      }
      return self.read(viewOf(bytes), 0);
    },
    decodeAvailable(bytes) {
      const view = viewOf(bytes);
      const inside = members.filter((member) => member.offset + member.size <= bytes.length);
      return Object.fromEntries(
        inside.map((member) => [member.name, member.codec.read(view, member.offset)]),
      ) as Partial<Values<F>>;
    },
    encode(values) {
      const bytes = new Uint8Array(size);
      // `write` leaves out what is left out; only its declared type asks for every member.
      self.write(viewOf(bytes), 0, values as Values<F>, title);
      return bytes;
    },
    offsetOf(name) {
      const member = members.find((candidate) => candidate.name === name);
      if (!member) throw new LayoutError(`${title} has no member ${name}`);
      return member.offset;
    },
  };
  return self;
}

/** A type's schema with its meaning as the description. */
export function describedSchema(codec: Codec<unknown>): JsonSchema {
  return codec.meaning === undefined ? codec.schema() : { description: codec.meaning, ...codec.schema() };
}

/** `u32` of length 3 is `u32[3]`; `u32[2]` of length 3 is `u32[3][2]`, as C writes it. */
const arrayType = (element: string, length: number): string => {
  const brackets = /(\[\d+\])+$/.exec(element)?.[0] ?? '';
  return `${element.slice(0, element.length - brackets.length)}[${length}]${brackets}`;
};

/** `element[length]`. Encoding takes exactly `length` elements. */
export function array<T, J extends Json>(element: Codec<T, J>, length: number): Codec<T[], readonly J[]> {
  checkLength(length);
  return {
    type: arrayType(element.type, length),
    elements: { codec: element, length },
    size: element.size * length,
    align: element.align,
    read: (view, offset) =>
      Array.from({ length }, (_, index) => element.read(view, offset + index * element.size)),
    write(view, offset, values, path) {
      if (!Array.isArray(values)) throw new LayoutError(`${path}: ${shown(values)} is not an array`);
      if (values.length !== length) {
        throw new LayoutError(`${path}: ${values.length} elements given, exactly ${length} needed`);
      }
      // Not forEach, which passes over holes.
      for (const [index, value] of values.entries()) {
        element.write(view, offset + index * element.size, value, `${path}[${index}]`);
      }
    },
    zero: () => Array.from({ length }, () => element.zero()),
    toJson: (values) => values.map((value) => element.toJson(value)),
    schema: () => ({ type: 'array', items: describedSchema(element), minItems: length, maxItems: length }),
  };
}
