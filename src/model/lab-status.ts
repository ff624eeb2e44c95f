/** The result of `lab status`, `lab up` and `lab down`. */
import Type from 'typebox';
import { exact, Failure, nullable } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

export const LabState = exact({
  name: Type.String(),
  state: Type.Union(
    [Type.Literal('up'), Type.Literal('starting'), Type.Literal('down'), Type.Literal('died')],
    {
      description: '`died`: it was up, and has ended without being asked to',
    },
  ),
  kernel: nullable(Type.String({ description: 'The release of its kernel' })),
  acceleration: nullable(Type.Union([Type.Literal('kvm'), Type.Literal('emulation')])),
  since: nullable(Type.String({ description: 'RFC 3339' })),
  pid: nullable(Type.Integer({ description: 'Of the process that keeps it' })),
  memory_bytes: nullable(Type.String({ pattern: '^[0-9]+$' })),
  death: nullable(
    exact({
      reason: Type.String(),
      console: Type.Array(Type.String(), { description: 'The last lines of its console' }),
    }),
  ),
});
export type LabState = Type.Static<typeof LabState>;

export const LabStatusResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.labStatus),
    error: nullable(Failure),
    labs: Type.Array(LabState),
  },
  { title: 'rdmatool lab status' },
);
export type LabStatusResult = Type.Static<typeof LabStatusResult>;
