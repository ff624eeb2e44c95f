/** The results of the commands `decode …`. */
import Type from 'typebox';
import type { Json } from '../layout/codec.ts';
import { exact, Failure, nullable } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

const place = {
  offset: Type.Integer({ description: 'Bytes from the start of what was given' }),
  size: Type.Integer({ description: 'Bytes; of a bit field those that it touches' }),
  name: Type.String(),
};

/** Any value that a field can have. */
const Value = Type.Unsafe<Json>({});

export const DecodedField = exact({
  ...place,
  bit_offset: nullable(
    Type.Integer({ description: 'First bit from the start of what was given, the top bit of a byte first' }),
  ),
  bit_width: nullable(Type.Integer()),
  type: Type.String({ description: 'As C writes it' }),
  value: Value,
  meaning: Type.String(),
});
export type DecodedField = Type.Static<typeof DecodedField>;

const MissingField = exact(place);

export const DecodedPart = exact({
  title: Type.String({ description: 'The structure' }),
  fields: Type.Array(DecodedField),
});
export type DecodedPart = Type.Static<typeof DecodedPart>;

export const DecodeResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.decode),
    error: nullable(Failure),
    interface: Type.Union([Type.Literal('ucma'), Type.Literal('umad'), Type.Literal('mad')]),
    edition: nullable(Type.String({ description: 'Of ucma: linux or reference' })),
    header: nullable(Type.String({ description: 'Of umad: the header that was found, old or new' })),
    name: nullable(Type.String({ description: 'The command or the attribute; null where it is not known' })),
    brief: nullable(Type.String({ description: 'In one line' })),
    length: Type.Integer({ description: 'Bytes that were given' }),
    cut: Type.Boolean({ description: 'The text says that it leaves bytes out at its end' }),
    parts: Type.Array(DecodedPart),
    missing: Type.Array(MissingField, { description: 'What should be there, and is not' }),
    older: Type.Array(MissingField, {
      description: 'What newer kernels or programs have beyond the end; these bytes are whole without',
    }),
    extra: nullable(
      exact({
        offset: Type.Integer(),
        hex: Type.String({ description: 'Bytes that the structure does not have' }),
      }),
    ),
    notes: Type.Array(Type.String(), { description: 'What is wrong or unusual' }),
  },
  { title: 'rdmatool decode' },
);
export type DecodeResult = Type.Static<typeof DecodeResult>;
