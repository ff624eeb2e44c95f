/** Result of `cm connect --count`. */
import Type from 'typebox';
import { CmAddress, CmEventValue } from './cm.ts';
import { exact, Failure, nullable } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

/** How long a step took, over all connections that took it to its end. */
export const CmStepTimes = exact({
  step: Type.String({ description: '`create_id`, `resolve_addr` …, as cmtime has them' }),
  count: Type.Integer(),
  min_ms: Type.Number(),
  median_ms: Type.Number(),
  p99_ms: Type.Number(),
  max_ms: Type.Number(),
  total_ms: Type.Number({ description: 'Sum; with several at once more than the time that passed' }),
});
export type CmStepTimes = Type.Static<typeof CmStepTimes>;

/** Connections that failed for the same cause. */
export const CmFailureGroup = exact({
  count: Type.Integer(),
  step: Type.String(),
  event: nullable(CmEventValue),
  status: Type.Integer({ description: 'Negative errno, 0, or a code of the transport' }),
  status_name: nullable(Type.String()),
  first: Failure,
});
export type CmFailureGroup = Type.Static<typeof CmFailureGroup>;

export const CmConnectManyResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.cmConnectMany),
    error: nullable(Failure),
    port_space: Type.Enum(['tcp', 'udp', 'ib', 'ipoib']),
    local: nullable(CmAddress),
    peer: nullable(CmAddress),
    device: nullable(Type.String()),
    count: Type.Integer({ description: 'Connections that were asked for' }),
    concurrency: Type.Integer({ description: 'How many at once' }),
    established: Type.Integer(),
    failed: Type.Integer(),
    duration_ms: nullable(Type.Number({ description: 'From the first create_id to the last destroy' })),
    connections_per_second: nullable(
      Type.Number({ description: 'Established ones, over the whole time, with their ends' }),
    ),
    steps: Type.Array(CmStepTimes),
    failures: Type.Array(CmFailureGroup, { description: 'The most frequent first' }),
  },
  { title: 'rdmatool cm connect --count' },
);
export type CmConnectManyResult = Type.Static<typeof CmConnectManyResult>;
