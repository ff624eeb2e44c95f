/** The result of `counters`: one reading, and what has changed since the one before. */
import Type from 'typebox';
import { COUNTER_GROUPS, COUNTER_KINDS, COUNTER_UNITS } from '../explain/counters.ts';
import { exact, Failure, nullable, Unavailable } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

const Count = (description: string) => Type.String({ pattern: '^-?[0-9]+$', description });

export const Counter = exact({
  group: Type.Enum([...COUNTER_GROUPS], { description: 'The directory that the kernel shows it in' }),
  name: Type.String(),
  value: nullable(Count('In `unit`; null is not 0: the driver does not tell')),
  unit: Type.Enum([...COUNTER_UNITS]),
  raw: nullable(Type.String({ description: 'As the kernel shows it: port_xmit_data in words of 4 bytes' })),
  kind: Type.Enum([...COUNTER_KINDS]),
  meaning: nullable(Type.String()),
  saturated: Type.Boolean({
    description: 'It stands at its highest value, and counts no more until a reset',
  }),
  delta: Type.Optional(
    nullable(Count('Since the reading before, in `unit`; after a reset, what has been counted since it')),
  ),
  rate: Type.Optional(nullable(Type.Number({ description: '`delta` a second' }))),
  event: Type.Optional(
    Type.Union([Type.Literal('reset'), Type.Literal('wrapped'), Type.Null()], {
      description: 'Why the value has fallen',
    }),
  ),
  unavailable: Unavailable,
});
export type Counter = Type.Static<typeof Counter>;

export const PortCounters = exact({
  device: Type.String(),
  port: nullable(Type.Integer({ description: 'null: counters of the device as a whole' })),
  error: nullable(Failure),
  lifespan_ms: nullable(
    Type.Integer({ description: 'hw_counters may be so old; null: the driver has none, or does not say' }),
  ),
  counters: Type.Array(Counter),
});
export type PortCounters = Type.Static<typeof PortCounters>;

export const CountersResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.counters),
    error: nullable(Failure),
    time: Type.String({ description: 'Of the reading, RFC 3339' }),
    interval_ms: nullable(
      Type.Number({ description: 'Since the reading before; null: this is the first, there is no delta' }),
    ),
    ports: Type.Array(PortCounters),
  },
  { title: 'rdmatool counters' },
);
export type CountersResult = Type.Static<typeof CountersResult>;
