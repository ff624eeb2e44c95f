/** What `trace` prints: an object a call on an RDMA device, and one at the end. */
import Type from 'typebox';
import type { Json } from '../layout/codec.ts';
import { exact, Failure, nullable } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

export const TraceEntry = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.trace),
    time: nullable(Type.String({ description: 'RFC 3339; null where the log has times of the day or none' })),
    at_ms: nullable(Type.Number({ description: 'Since the first call on an RDMA device' })),
    line: Type.Integer({ description: 'Line of the log, from 1' }),
    pid: nullable(Type.Integer({ description: 'Of the thread' })),
    program: nullable(Type.String()),
    device: Type.String({ description: 'Path of the device node' }),
    call: Type.String({ description: 'open, write, read, ioctl, poll or close' }),
    name: nullable(
      Type.String({ description: 'The command, the request or the attribute; null where it is not known' }),
    ),
    brief: Type.String({ description: 'In one line, without the result' }),
    result: exact({
      value: nullable(Type.Integer({ description: 'null: the process ended in the call' })),
      errno: nullable(Type.String()),
    }),
    duration_ms: nullable(Type.Number({ description: 'Inside the call' })),
    fields: Type.Record(Type.String(), Type.Unsafe<Json>({}), {
      description: 'What the bytes say, by name',
    }),
    cut: Type.Boolean({ description: 'The log leaves bytes out (strace -s)' }),
    unseen: nullable(
      Type.String({ description: "What lies in the program's memory, where strace does not look" }),
    ),
    notes: Type.Array(Type.String()),
  },
  { title: 'rdmatool trace: a call' },
);
export type TraceEntry = Type.Static<typeof TraceEntry>;

const Times = exact({
  total_ms: Type.Number(),
  min_ms: Type.Number(),
  median_ms: Type.Number(),
  max_ms: Type.Number(),
});

export const TraceSummary = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.traceSummary),
    error: nullable(Failure),
    exit_status: nullable(Type.Integer({ description: 'Of the program; null for a log that was read' })),
    lines: Type.Integer({ description: 'Of the log' }),
    calls: Type.Array(
      exact({
        device: Type.String({ description: 'rdma_cm, umad or issm' }),
        name: Type.String(),
        calls: Type.Integer(),
        errors: Type.Integer(),
        times: nullable(Times),
      }),
    ),
    damaged: Type.Array(exact({ line: Type.Integer(), text: Type.String(), reason: Type.String() }), {
      description: 'Lines that are not what strace writes',
    }),
  },
  { title: 'rdmatool trace: the end' },
);
export type TraceSummary = Type.Static<typeof TraceSummary>;

export const TraceObject = Type.Union([TraceEntry, TraceSummary]);
