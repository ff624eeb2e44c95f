/** A JSON Schema (draft 2020-12), as far as layouts write one. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * One C type: how many bytes it takes, how they are read and written, and how the value looks in JSON.
 * `T` is the decoded value, `J` its JSON form.
 */
export interface Codec<T, J extends Json = Json> {
  /** The type as a C programmer would write it: `u32`, `be64`, `u8[16]`, `struct ibv_gid_entry`. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** Natural alignment in bytes. */
  readonly align: number;
  /** What the value means, one sentence; it goes into field tables and JSON Schemas. */
  readonly meaning?: string;
  /** The members, where the type is a structure or a union. */
  readonly members?: readonly Member[];
  /** The type of the elements and their number, where the type is an array. */
  readonly elements?: { readonly codec: Codec<unknown>; readonly length: number };
  /** Reads the value at `offset`. The caller has checked the bounds. */
  read(view: DataView, offset: number): T;
  /**
   * Writes `value` at `offset`; the caller has checked the bounds. Bytes and bits that the type does not
   * cover (padding, members left out) keep what they hold. Throws LayoutError, naming `path`, where the value
   * does not fit: nothing is ever cut or rounded.
   */
  write(view: DataView, offset: number, value: T, path: string): void;
  /** The value that all-zero bytes decode to. */
  zero(): T;
  toJson(value: T): J;
  schema(): JsonSchema;
}

/** One member of a structure, placed. */
export interface Member {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
  readonly codec: Codec<unknown>;
  /** For bit fields: the first bit in the structure, as the IBTA counts (bit 0 is the top bit of byte 0). */
  readonly bitOffset?: number;
  readonly bitWidth?: number;
}

export type Decoded<C> = C extends Codec<infer T, infer _J> ? T : never;
export type JsonOf<C> = C extends Codec<infer _T, infer J> ? J : never;

/** The same type with a sentence on what the value means. */
export function about<C extends Codec<unknown>>(codec: C, meaning: string): C {
  return { ...codec, meaning };
}
