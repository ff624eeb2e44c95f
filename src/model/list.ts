/** The result of `list`. */
import Type from 'typebox';
import { LinkSpeed, LinkWidth } from '../abi/verbs-codes.ts';
import { exact, Failure, Guid, nullable, ofEnumeration } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

export const ListedPort = exact({
  port: Type.Integer(),
  state: nullable(Type.String({ description: '`ACTIVE`, `DOWN` …' })),
  link_layer: nullable(Type.String({ description: '`INFINIBAND`, `ETHERNET`, `UNSPECIFIED`' })),
  rate_gbps: nullable(Type.Number()),
  active_width: nullable(ofEnumeration(LinkWidth)),
  speed: nullable(ofEnumeration(LinkSpeed)),
});
export type ListedPort = Type.Static<typeof ListedPort>;

export const ListedDevice = exact({
  name: Type.String(),
  error: nullable(Failure),
  driver: nullable(Type.String()),
  node_guid: nullable(Guid),
  ports: Type.Array(ListedPort),
  netdevs: Type.Array(Type.String()),
  uverbs: nullable(Type.String()),
});
export type ListedDevice = Type.Static<typeof ListedDevice>;

export const ListResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.list),
    error: nullable(Failure),
    devices: Type.Array(ListedDevice),
  },
  { title: 'rdmatool list' },
);
export type ListResult = Type.Static<typeof ListResult>;
