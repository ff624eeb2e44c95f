/** The result of `port`: what query-device knows of ports, and what lies around them. */
import Type from 'typebox';
import { ibvPortAttr } from '../abi/verbs.ts';
import { exact, Failure, Guid, nullable, Unavailable, withMembersOf } from './parts.ts';
import { PORT_PROPERTIES } from './query-device.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

export const PortNetdev = exact({
  name: Type.String(),
  ifindex: nullable(Type.Integer()),
  operstate: nullable(Type.String({ description: '`up`, `down`, `dormant` …' })),
  mtu: nullable(Type.Integer({ description: 'Bytes' })),
  address: nullable(Type.String({ description: 'Hardware address' })),
  unavailable: Unavailable,
});
export type PortNetdev = Type.Static<typeof PortNetdev>;

export const PortEntry = withMembersOf(ibvPortAttr, {
  device: Type.String(),
  ...PORT_PROPERTIES,
  source: nullable(
    Type.Union([Type.Literal('verbs'), Type.Literal('sysfs')], {
      description: 'Who answered: libibverbs, or sysfs alone',
    }),
  ),
  driver: nullable(Type.String()),
  fw_ver: nullable(Type.String()),
  node_guid: nullable(Guid),
  port_guid: nullable(Guid),
  netdevs: Type.Array(PortNetdev, { description: 'Network devices of the port' }),
  notes: Type.Array(Type.String()),
});
export type PortEntry = Type.Static<typeof PortEntry>;

export const PortResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.port),
    error: nullable(Failure),
    ports: Type.Array(PortEntry),
  },
  { title: 'rdmatool port' },
);
export type PortResult = Type.Static<typeof PortResult>;
