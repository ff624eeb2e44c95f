/** The result of `query-device`. */
import Type from 'typebox';
import { EFADV_CAP_NAMES, EFADV_CAPS, type EfadvCapName, efadvDeviceAttr } from '../abi/efadv.ts';
import { ibvCompCntrCaps, ibvDeviceAttr, ibvDeviceAttrEx, ibvPortAttr } from '../abi/verbs.ts';
import { GidType, LinkSpeed, NodeType, TransportType } from '../abi/verbs-codes.ts';
import { omitting } from '../layout/struct.ts';
import {
  exact,
  Failure,
  Guid,
  nullable,
  ofEnumeration,
  ofLayout,
  Unavailable,
  withMembersOf,
} from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

export const LibraryOrigin = exact({
  path: nullable(Type.String({ description: 'The file that answered' })),
  version: nullable(Type.String({ description: 'Release of rdma-core, from the name of the file' })),
  unavailable: Unavailable,
});
export type LibraryOrigin = Type.Static<typeof LibraryOrigin>;

export const Gid = exact({
  index: Type.Integer(),
  gid: Type.String({ description: 'IPv6 text, short form' }),
  type: nullable(ofEnumeration(GidType)),
  netdev: nullable(Type.String({ description: 'Network device behind the entry' })),
  ipv4: nullable(Type.String({ description: 'The address inside an IPv4-mapped GID' })),
});
export type Gid = Type.Static<typeof Gid>;

/** What told the GIDs of a port: calls of libibverbs, or what stands in for them. */
export const GID_SOURCES = [
  'ibv_query_gid_table',
  'ibv_query_gid_ex',
  'ibv_query_gid',
  'sysfs',
  'umad_get_port',
] as const;

export const Pkey = exact({
  index: Type.Integer(),
  pkey: Type.String({ pattern: '^0x[0-9a-f]{4}$' }),
  membership: Type.Enum(['full', 'limited']),
});
export type Pkey = Type.Static<typeof Pkey>;

/** What is told of a port beside the members of ibv_port_attr. */
export const PORT_PROPERTIES = {
  port: Type.Integer(),
  error: nullable(Failure),
  speed: nullable(ofEnumeration(LinkSpeed)),
  rate_gbps: nullable(Type.Number({ description: 'Lanes times the speed of a lane, Gb/s' })),
  effective_speed_gbps: nullable(Type.Number({ description: 'From ibv_query_port_speed, Gb/s' })),
  gids: nullable(Type.Array(Gid)),
  gids_from: nullable(Type.Enum([...GID_SOURCES], { description: 'The call that told the GIDs' })),
  pkeys: nullable(Type.Array(Pkey)),
  unavailable: Unavailable,
};

export const Port = withMembersOf(ibvPortAttr, PORT_PROPERTIES);
export type Port = Type.Static<typeof Port>;

type Capabilities = { readonly [N in EfadvCapName]: boolean | null };
type Needs = { readonly [N in EfadvCapName]?: string };

const each = (schema: (name: EfadvCapName) => Type.TSchema) =>
  Object.fromEntries(EFADV_CAP_NAMES.map((name) => [name, schema(name)]));

export const Efa = withMembersOf(efadvDeviceAttr, {
  inlen: Type.Integer({ description: 'Length of the structure that the library took, bytes' }),
  caps: Type.Unsafe<Capabilities>(
    exact(
      each((name) => Type.Union([Type.Boolean(), Type.Null()], { description: EFADV_CAPS[name].meaning })),
      { description: 'null: the library that answered is too old to say; `needs` names the one that can' },
    ),
  ),
  needs: Type.Unsafe<Needs>(
    Type.Partial(exact(each(() => Type.String())), {
      additionalProperties: false,
      description: 'The release that reports a capability which is null',
    }),
  ),
  max_sq_depth: nullable(Type.Integer({ description: 'From efadv_get_max_sq_depth, no inline data' })),
  max_rq_depth: nullable(Type.Integer({ description: 'From efadv_get_max_rq_depth' })),
  verdict: Type.String({ description: 'What the card can do with RDMA read and write, for people' }),
  unavailable: Unavailable,
});
export type Efa = Type.Static<typeof Efa>;

export const UverbsNode = exact({
  path: Type.String(),
  mode: nullable(Type.String({ pattern: '^[0-7]{4}$', description: 'null: the node does not exist' })),
  owner: nullable(Type.String()),
  group: nullable(Type.String()),
  accessible: Type.Boolean({ description: 'This process may read and write it' }),
});
export type UverbsNode = Type.Static<typeof UverbsNode>;

const sysfsText = (description: string) => nullable(Type.String({ description }));

export const SysfsPort = exact({
  port: Type.Integer(),
  state: sysfsText('`4: ACTIVE`'),
  phys_state: sysfsText('`5: LinkUp`'),
  link_layer: sysfsText('`InfiniBand`, `Ethernet`, `Unknown`'),
  rate: sysfsText('`100 Gb/sec (4X EDR)`'),
});
export type SysfsPort = Type.Static<typeof SysfsPort>;

export const SysfsDevice = exact({
  driver: sysfsText('Kernel driver of the PCI device'),
  pci_address: sysfsText('`0000:00:06.0`'),
  numa_node: nullable(Type.Integer({ description: '-1: the platform names none' })),
  netdevs: Type.Array(Type.String(), { description: 'Network devices of the same PCI function' }),
  node_desc: sysfsText('Node description'),
  fw_ver: sysfsText('Firmware version'),
  hca_type: sysfsText('Model, where the driver tells'),
  board_id: sysfsText('Board identifier'),
  uverbs: sysfsText('Verbs device, `uverbs0`'),
  uverbs_node: nullable(UverbsNode),
  ports: Type.Array(SysfsPort),
});
export type SysfsDevice = Type.Static<typeof SysfsDevice>;

export const Device = exact({
  name: Type.String(),
  error: nullable(Failure),
  node_guid: nullable(Guid),
  node_type: nullable(ofEnumeration(NodeType)),
  transport: nullable(ofEnumeration(TransportType)),
  attributes: nullable(ofLayout(ibvDeviceAttr)),
  attributes_ex: nullable(ofLayout(omitting(ibvDeviceAttrEx, 'orig_attr'))),
  comp_cntr_caps: nullable(ofLayout(ibvCompCntrCaps)),
  num_comp_vectors: nullable(Type.Integer()),
  efa: nullable(Efa),
  ports: Type.Array(Port),
  sysfs: SysfsDevice,
  notes: Type.Array(Type.String(), { description: 'What a reader of these values should know' }),
  unavailable: Unavailable,
});
export type Device = Type.Static<typeof Device>;

export const QueryDeviceResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.queryDevice),
    error: nullable(Failure),
    libraries: exact({ libibverbs: LibraryOrigin, libefa: LibraryOrigin }),
    devices: Type.Array(Device),
  },
  { title: 'rdmatool query-device' },
);
export type QueryDeviceResult = Type.Static<typeof QueryDeviceResult>;
