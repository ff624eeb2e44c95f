import type { Codec, Json, JsonSchema, Member } from './codec.ts';
import { LayoutError } from './error.ts';

/** Member name to type, in the order of the declaration. */
export type Fields = { readonly [name: string]: Codec<unknown> };

type Values<F extends Fields> = {
  -readonly [K in keyof F]: F[K] extends Codec<infer T, infer _J> ? T : never;
};
type JsonValues<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Codec<infer _T, infer J> ? J : never;
};

/** What `encode` takes: members left out, at any depth, are zero. */
export type Encodable<T> = T extends Uint8Array | bigint | number | string
  ? T
  : T extends readonly (infer E)[]
    ? readonly Encodable<E>[]
    : { readonly [K in keyof T]?: Encodable<T[K]> };

/** A C structure: one declaration, from which come decode, encode, size, offsets, types and JSON. */
export interface Struct<F extends Fields> extends Codec<Values<F>, JsonValues<F>> {
  /** The C tag, without `struct`. */
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
  const size = roundUp(end, align);
  if (options.size !== undefined && options.size !== size) {
    throw new TypeError(`${title}: ${size} bytes declared, ${options.size} expected`);
  }
  return record(title, size, align, fields, members);
}

/** A structure from placed members; `struct` and the bit records share it. */
export function record<F extends Fields>(
  title: string,
  size: number,
  align: number,
  fields: F,
  members: readonly Member[],
): Struct<F> {
  const each = (value: (member: Member) => unknown): Values<F> =>
    Object.fromEntries(members.map((member) => [member.name, value(member)])) as Values<F>;

  const self: Struct<F> = {
    title,
    type: `struct ${title}`,
    size,
    align,
    members,
    fields,
    read: (view, offset) => each((member) => member.codec.read(view, offset + member.offset)),
    write(view, offset, values, path) {
      const known = new Set(members.map((member) => member.name));
      for (const name of Object.keys(values)) {
        if (!known.has(name)) throw new LayoutError(`${path} has no member ${name}`);
      }
      for (const member of members) {
        const value = values[member.name];
        // A member left out keeps the bytes that are there: zero in encode's fresh buffer.
        if (value !== undefined) {
          member.codec.write(view, offset + member.offset, value, `${path}.${member.name}`);
        }
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

/** `element[length]`. Encoding takes exactly `length` elements. */
export function array<T, J extends Json>(element: Codec<T, J>, length: number): Codec<T[], readonly J[]> {
  return {
    type: `${element.type}[${length}]`,
    size: element.size * length,
    align: element.align,
    read: (view, offset) =>
      Array.from({ length }, (_, index) => element.read(view, offset + index * element.size)),
    write(view, offset, values, path) {
      if (values.length !== length) {
        throw new LayoutError(`${path}: ${values.length} elements given, exactly ${length} needed`);
      }
      values.forEach((value, index) => {
        element.write(view, offset + index * element.size, value, `${path}[${index}]`);
      });
    },
    zero: () => Array.from({ length }, () => element.zero()),
    toJson: (values) => values.map((value) => element.toJson(value)),
    schema: () => ({ type: 'array', items: describedSchema(element), minItems: length, maxItems: length }),
  };
}
