/** The result of `schema` without a command: which commands have one. */
import Type from 'typebox';
import { exact, Failure, nullable } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

export const SchemaResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.schema),
    error: nullable(Failure),
    commands: Type.Array(Type.String({ description: 'A command whose output has a schema' })),
  },
  { title: 'rdmatool schema' },
);
