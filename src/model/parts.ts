/** Pieces that every result type is made of. */
import Type from 'typebox';
import { FAILURES, type FailureCode } from '../explain/failure.ts';
import type { Codec, Json, JsonOf } from '../layout/codec.ts';
import { type Enumeration, type EnumJson, enumSchema } from '../layout/enumeration.ts';
import { describedSchema, type Fields, type Struct } from '../layout/struct.ts';

export const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** An object with exactly these keys. */
export const exact = <P extends Type.TProperties>(properties: P, options: Type.TSchemaOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** The JSON form of a declared C type: a structure, an enum, a mask. */
export const ofLayout = <C extends Codec<unknown, Json>>(codec: C) =>
  Type.Unsafe<JsonOf<C>>(describedSchema(codec));

export const ofEnumeration = (table: Enumeration) => Type.Unsafe<EnumJson>(enumSchema(table));

export const Failure = exact(
  {
    code: Type.Unsafe<FailureCode>({ enum: Object.keys(FAILURES) }),
    errno: nullable(exact({ value: Type.Integer(), name: Type.String() })),
    message: Type.String(),
    hint: Type.String({ description: 'What to do next' }),
  },
  { title: 'failure' },
);

/** Why a key of the same object is null. */
export const Unavailable = Type.Record(Type.String(), Type.String(), {
  description: 'Why a key of this object is null: key to reason',
});

export const Guid = Type.String({ pattern: '^([0-9a-f]{4}:){3}[0-9a-f]{4}$' });

/** The members of a structure's JSON form, each of which may be missing. */
export type Nullable<S> = { readonly [K in keyof JsonOf<S>]: JsonOf<S>[K] | null };

/** An object with the members of a structure, each of them or null, beside other keys. */
export function withMembersOf<F extends Fields, P extends Type.TProperties>(
  layout: Struct<F>,
  properties: P,
) {
  const members = layout.members.map(({ name, codec }) => [
    name,
    nullable(Type.Unsafe(describedSchema(codec))),
  ]);
  return Type.Unsafe<Nullable<Struct<F>> & Type.Static<Type.TObject<P>>>(
    exact({ ...Object.fromEntries(members), ...properties }),
  );
}
