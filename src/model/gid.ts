/** The result of `gid`. */
import Type from 'typebox';
import { GidType } from '../abi/verbs-codes.ts';
import { exact, Failure, nullable, ofEnumeration, Unavailable } from './parts.ts';
import { GID_SOURCES } from './query-device.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

/** How far packets to a GID go. */
export const GID_SCOPES = ['empty', 'loopback', 'link-local', 'multicast', 'routable'] as const;
export type GidScope = (typeof GID_SCOPES)[number];

export const GidEntry = exact({
  index: Type.Integer(),
  gid: Type.String({ description: 'IPv6 text, short form; `::` is an empty entry' }),
  gid_full: Type.String({ description: 'All eight groups, as sysfs has them' }),
  type: nullable(ofEnumeration(GidType)),
  ipv4: nullable(Type.String({ description: 'The address inside an IPv4-mapped GID' })),
  netdev: nullable(Type.String({ description: 'Network device behind the entry' })),
  netdev_state: nullable(Type.String({ description: '`up`, `down` and so on, as its operstate in sysfs' })),
  scope: Type.Enum([...GID_SCOPES]),
  wanted: Type.Boolean({ description: 'The one whose index RDMA programs want: see `choice` of the port' }),
  unavailable: Unavailable,
});
export type GidEntry = Type.Static<typeof GidEntry>;

export const GidChoice = exact({
  index: Type.Integer({
    description: 'For NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX, -x of perftest and the like',
  }),
  reason: Type.String(),
  others: Type.Array(Type.Integer(), {
    description: 'Entries that would serve as well, on other addresses or network devices',
  }),
});
export type GidChoice = Type.Static<typeof GidChoice>;

export const GidPort = exact({
  port: Type.Integer(),
  link_layer: nullable(Type.String({ description: '`INFINIBAND`, `ETHERNET`, `UNSPECIFIED`' })),
  gid_tbl_len: nullable(Type.Integer({ description: 'Entries of the table, empty ones too' })),
  gids_from: nullable(Type.Enum([...GID_SOURCES], { description: 'What told them' })),
  choice: nullable(GidChoice),
  gids: nullable(Type.Array(GidEntry)),
  unavailable: Unavailable,
});
export type GidPort = Type.Static<typeof GidPort>;

export const GidDevice = exact({
  name: Type.String(),
  error: nullable(Failure),
  driver: nullable(Type.String()),
  ports: Type.Array(GidPort),
  notes: Type.Array(Type.String(), { description: 'What a reader of these values should know' }),
});
export type GidDevice = Type.Static<typeof GidDevice>;

export const GidResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.gid),
    error: nullable(Failure),
    devices: Type.Array(GidDevice),
  },
  { title: 'rdmatool gid' },
);
export type GidResult = Type.Static<typeof GidResult>;
