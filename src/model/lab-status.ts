/** The result of `lab status`, `lab up` and `lab down`. */
import Type from 'typebox';
import { exact, Failure, nullable } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

export const LabState = exact({
  name: Type.String(),
  state: Type.Union(
    [Type.Literal('up'), Type.Literal('starting'), Type.Literal('down'), Type.Literal('died')],
    { description: '`died`: it was up, and has ended without being asked to' },
  ),
  machine: nullable(
    exact(
      {
        kernel: Type.String({ description: 'Its release' }),
        acceleration: Type.Union([Type.Literal('kvm'), Type.Literal('emulation')]),
        since: Type.String({ description: 'RFC 3339' }),
      },
      { description: 'Of a lab that is up, or was' },
    ),
  ),
  process: nullable(
    exact(
      {
        pid: Type.Integer({ description: 'Of the process that keeps it' }),
        memory_bytes: Type.String({ pattern: '^[0-9]+$' }),
      },
      { description: 'Of a lab that is up' },
    ),
  ),
  death: nullable(
    exact(
      {
        reason: Type.String(),
        console: Type.Array(Type.String(), { description: 'Its last lines' }),
      },
      { description: 'Of a lab that has died' },
    ),
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
