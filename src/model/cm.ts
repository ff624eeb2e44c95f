/** Results of the `cm` commands. */
import Type from 'typebox';
import { ibvSaPathRec } from '../abi/rdmacm.ts';
import { CmEventType, PortSpace } from '../abi/rdmacm-codes.ts';
import { QpType } from '../abi/verbs-codes.ts';
import { ibUverbsQpAttr } from '../abi/verbs-qp.ts';
import type { EnumJson } from '../layout/enumeration.ts';
import { CmEcho, CmPing } from './cm-exchange.ts';
import { kernelCommands } from './kernel-commands.ts';
import { exact, Failure, nullable, ofEnumeration, ofLayout } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

export const CmAddress = exact({
  addr: Type.String({ description: 'Numeric; a link-local IPv6 address with its scope, `fe80::1%4`' }),
  port: Type.Integer(),
});
export type CmAddress = Type.Static<typeof CmAddress>;

/** An event by its whole C name. */
export const CmEventValue = Type.Unsafe<EnumJson>({
  type: 'object',
  title: CmEventType.title,
  properties: {
    value: { type: 'integer' },
    name: { enum: [...CmEventType.entries.map(([name]) => CmEventType.prefix + name), null] },
  },
  required: ['value', 'name'],
  additionalProperties: false,
});

const status = Type.Integer({
  description:
    'Negative errno, 0, or a code of the transport. A step that brought none of its own has -ETIMEDOUT when its time was over, -EINTR at Ctrl-C, -ENOENT for a name that does not resolve',
});
const statusName = nullable(Type.String({ description: 'Name of the status; null for 0' }));

export const CmStep = exact({
  step: Type.String({
    description:
      '`resolve_addr`, `connect` …, as the calls of librdmacm; `getaddrinfo` where a name is looked up',
  }),
  duration_ms: Type.Number({ description: 'Until its event came' }),
  event: nullable(CmEventValue),
  status,
  status_name: statusName,
});
export type CmStep = Type.Static<typeof CmStep>;

const privateData = {
  private_data: nullable(Type.String({ pattern: '^0x([0-9a-f]{2})*$' })),
  private_data_text: nullable(
    Type.String({ description: 'The same where it is printable, without the zeros at its end' }),
  ),
  private_data_len: nullable(Type.Integer({ description: 'Bytes, as the library tells' })),
  private_data_padded: nullable(
    Type.Boolean({
      description: 'true over InfiniBand and RoCE: the length is the room of the message, not what was sent',
    }),
  ),
};

/** What the last message of the peer said. */
export const CmConnection = exact({
  ...privateData,
  responder_resources: nullable(Type.Integer()),
  initiator_depth: nullable(Type.Integer()),
  flow_control: nullable(Type.Integer()),
  retry_count: nullable(Type.Integer()),
  rnr_retry_count: nullable(Type.Integer()),
  srq: nullable(Type.Integer()),
  qp_num: nullable(Type.Integer({ description: "The peer's queue pair" })),
  qkey: nullable(Type.String({ description: 'Datagrams: the Q_Key to send with' })),
});
export type CmConnection = Type.Static<typeof CmConnection>;

/** An event that came besides those of the steps. */
export const CmFurtherEvent = exact({
  time: Type.String({ description: 'RFC 3339' }),
  event: CmEventValue,
  status,
  status_name: statusName,
  meaning: Type.String(),
});
export type CmFurtherEvent = Type.Static<typeof CmFurtherEvent>;

/** What every one-shot command has. */
export const CM_COMMON = {
  error: nullable(Failure),
  port_space: Type.Enum(['tcp', 'udp', 'ib', 'ipoib']),
  local: nullable(CmAddress),
  peer: nullable(CmAddress),
  device: nullable(Type.String()),
  ib_port: nullable(Type.Integer()),
  steps: Type.Array(CmStep),
  kernel_commands: kernelCommands,
};

export const CmRoute = exact({
  sgid: Type.String(),
  dgid: Type.String(),
  pkey: Type.String({ pattern: '^0x[0-9a-f]{4}$' }),
  link_layer: nullable(
    Type.String({
      description: 'Of the port: on Ethernet (RoCE) LIDs and preference of a path have no meaning',
    }),
  ),
  paths: Type.Array(ofLayout(ibvSaPathRec)),
});
export type CmRoute = Type.Static<typeof CmRoute>;

export const CmCreateIdResult = exact(
  { schema: Type.Literal(SCHEMA_IDS.cmCreateId), ...CM_COMMON },
  { title: 'rdmatool cm create-id' },
);
export type CmCreateIdResult = Type.Static<typeof CmCreateIdResult>;

export const CmBindResult = exact(
  { schema: Type.Literal(SCHEMA_IDS.cmBind), ...CM_COMMON },
  { title: 'rdmatool cm bind' },
);
export type CmBindResult = Type.Static<typeof CmBindResult>;

export const CmResolveResult = exact(
  { schema: Type.Literal(SCHEMA_IDS.cmResolve), ...CM_COMMON, route: nullable(CmRoute) },
  { title: 'rdmatool cm resolve' },
);
export type CmResolveResult = Type.Static<typeof CmResolveResult>;

export const CmQueuePair = exact({
  qp_num: Type.Integer(),
  type: Type.Enum(['RC', 'UD']),
  srq: Type.Boolean(),
  real: Type.Boolean({ description: 'false: a number that was only named in the handshake' }),
});
export type CmQueuePair = Type.Static<typeof CmQueuePair>;

export const CmConnectResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.cmConnect),
    ...CM_COMMON,
    route: nullable(CmRoute),
    qp: nullable(CmQueuePair),
    connection: nullable(CmConnection),
    ping: nullable(CmPing),
    events: Type.Array(CmFurtherEvent, { description: 'What came while the connection was held' }),
  },
  { title: 'rdmatool cm connect' },
);
export type CmConnectResult = Type.Static<typeof CmConnectResult>;

export const CmInitQpAttrResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.cmInitQpAttr),
    ...CM_COMMON,
    attributes: Type.Array(ofLayout(ibUverbsQpAttr), { description: 'For INIT, RTR and RTS, in turn' }),
  },
  { title: 'rdmatool cm init-qp-attr' },
);
export type CmInitQpAttrResult = Type.Static<typeof CmInitQpAttrResult>;

export const CmListenObject = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.cmListen),
    time: Type.String({ description: 'RFC 3339' }),
    error: nullable(Failure),
    event: nullable(CmEventValue),
    status,
    status_name: statusName,
    id: nullable(Type.String({ description: 'The same for all events of one connection' })),
    meaning: nullable(Type.String()),
    action: nullable(
      Type.Enum(['listening', 'accept', 'reject', 'disconnect', 'destroy'], {
        description: 'What rdmatool did about it',
      }),
    ),
    local: nullable(CmAddress),
    peer: nullable(CmAddress),
    device: nullable(Type.String()),
    ib_port: nullable(Type.Integer()),
    connection: nullable(CmConnection),
    echo: nullable(CmEcho),
    kernel_commands: kernelCommands,
  },
  { title: 'rdmatool cm listen: one object a line' },
);
export type CmListenObject = Type.Static<typeof CmListenObject>;

export const CmAddrinfo = exact({
  flags: Type.Integer({ description: 'RAI_ flags' }),
  family: exact({ value: Type.Integer(), name: nullable(Type.Enum(['INET', 'INET6', 'IB'])) }),
  qp_type: ofEnumeration(QpType),
  port_space: ofEnumeration(PortSpace),
  src_addr: nullable(CmAddress),
  dst_addr: nullable(CmAddress),
  src_canonname: nullable(Type.String()),
  dst_canonname: nullable(Type.String()),
  route_len: Type.Integer({ description: 'Bytes of path records that came along' }),
});
export type CmAddrinfo = Type.Static<typeof CmAddrinfo>;

export const CmGetaddrinfoResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.cmGetaddrinfo),
    error: nullable(Failure),
    node: nullable(Type.String()),
    service: nullable(Type.String()),
    duration_ms: nullable(Type.Number()),
    results: Type.Array(CmAddrinfo),
  },
  { title: 'rdmatool cm getaddrinfo' },
);
export type CmGetaddrinfoResult = Type.Static<typeof CmGetaddrinfoResult>;
