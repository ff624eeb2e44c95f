/** The results of the commands `mad …`. */
import Type from 'typebox';
import { ibUserMadHdr, UNSET_ON_RECEIVE } from '../abi/umad.ts';
import { ATTRIBUTES, type Attribute, componentBits, layoutsOf } from '../datagram/attributes.ts';
import { directedSmp, lidSmp, rmppHeader, saHeader, vendorHeader } from '../datagram/headers.ts';
import { headerLayout } from '../datagram/message.ts';
import type { Json, JsonOf } from '../layout/codec.ts';
import { describedSchema, omitting } from '../layout/struct.ts';
import { exact, Failure, nullable, ofLayout, Unavailable } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

const plainHeader = omitting(ibUserMadHdr, 'reserved', 'status', 'pkey_index', ...UNSET_ON_RECEIVE);
const headerMember = (name: keyof typeof ibUserMadHdr.fields) =>
  nullable(Type.Unsafe<number>(describedSchema(ibUserMadHdr.fields[name])));
const headerExtras = {
  kind: Type.Union([Type.Literal('old'), Type.Literal('new')], {
    description: 'Which header the kernel was spoken to with',
  }),
  status: exact(
    {
      value: Type.Integer({ description: '0, or an errno' }),
      name: Type.String({ description: '`SUCCESS`, `ETIMEDOUT` …' }),
    },
    { description: ibUserMadHdr.fields.status.meaning ?? '' },
  ),
  timeout_ms: headerMember('timeout_ms'),
  qkey: headerMember('qkey'),
  gid_index: headerMember('gid_index'),
  pkey_index: headerMember('pkey_index'),
  unavailable: Unavailable,
  notes: Type.Record(Type.String(), Type.String(), {
    description: 'What is to be known of the value of a key of this object: key to note',
  }),
};

/** The user-MAD header that came with a datagram. */
export const ReceivedHeader = Type.Unsafe<
  JsonOf<typeof plainHeader> & Type.Static<Type.TObject<typeof headerExtras>>
>(
  exact({
    ...Object.fromEntries(
      plainHeader.members.map(({ name, codec }) => [name, Type.Unsafe(describedSchema(codec))]),
    ),
    ...headerExtras,
  }),
);
export type ReceivedHeader = Type.Static<typeof ReceivedHeader>;

export const MadStatus = exact({
  value: Type.Integer(),
  name: nullable(Type.String({ description: '`SUCCESS`, `UNSUPPORTED_METHOD_ATTRIB` …; null: not known' })),
});
export type MadStatus = Type.Static<typeof MadStatus>;

const envelopeSections = {
  status: MadStatus,
  smp: nullable(ofLayout(lidSmp)),
  dr_smp: nullable(ofLayout(directedSmp)),
  rmpp: nullable(ofLayout(rmppHeader)),
  sa: nullable(ofLayout(saHeader)),
  vendor: nullable(ofLayout(vendorHeader)),
};

/** A decoded datagram, its data aside. */
export const MadEnvelope = Type.Unsafe<
  ReturnType<typeof headerLayout.toJson> & Type.Static<Type.TObject<typeof envelopeSections>>
>(
  exact({
    ...Object.fromEntries(
      headerLayout.members.map(({ name, codec }) => [name, Type.Unsafe(describedSchema(codec))]),
    ),
    ...envelopeSections,
  }),
);
export type MadEnvelope = Type.Static<typeof MadEnvelope>;

/** The values of one attribute: the schema of each is among the alternatives, by title. */
const fieldsAmong = (attributes: readonly Attribute[]) =>
  Type.Unsafe<{ readonly [field: string]: Json }>({
    anyOf: attributes.flatMap(layoutsOf).map((layout) => layout.schema()),
  });
const isRecord = (attribute: Attribute): boolean => componentBits(attribute) !== null;

export const AttributeFields = fieldsAmong(ATTRIBUTES);
const RecordFields = fieldsAmong(ATTRIBUTES.filter(isRecord));
const NodeFields = fieldsAmong(
  ATTRIBUTES.filter(({ family }) => family !== 'administration' && family !== 'communication'),
);
export type AttributeFields = Type.Static<typeof AttributeFields>;

/** Where a request went, as it was asked for; `lid` is also what a GUID or GID was resolved to. */
export const MadTarget = exact({
  lid: nullable(Type.Integer({ description: 'null: along a path, or not resolved' })),
  path: nullable(Type.Array(Type.Integer(), { description: 'Ports to leave by, from this host' })),
  guid: nullable(Type.String()),
  gid: nullable(Type.String()),
});
export type MadTarget = Type.Static<typeof MadTarget>;

const answer = {
  header: nullable(ReceivedHeader),
  mad: nullable(MadEnvelope),
  fields: nullable(NodeFields),
  rtt_ms: nullable(Type.Number({ description: 'From the last attempt to its answer, ms' })),
  attempts: nullable(Type.Integer()),
};

export const MadGetResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.madGet),
    error: nullable(Failure),
    time: nullable(Type.String({ description: 'RFC 3339; of an answer with --watch' })),
    device: nullable(Type.String()),
    port: nullable(Type.Integer({ description: 'Port of this host' })),
    attribute: nullable(Type.String()),
    target: nullable(MadTarget),
    port_num: nullable(Type.Integer({ description: 'The port that was asked about' })),
    ...answer,
  },
  { title: 'rdmatool mad get' },
);
export type MadGetResult = Type.Static<typeof MadGetResult>;

export const MadPortAnswer = exact({ port_num: Type.Integer(), error: nullable(Failure), ...answer });
export type MadPortAnswer = Type.Static<typeof MadPortAnswer>;

export const MadGetPortsResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.madGetPorts),
    error: nullable(Failure),
    time: nullable(Type.String({ description: 'RFC 3339; of an answer with --watch' })),
    device: nullable(Type.String()),
    port: nullable(Type.Integer({ description: 'Port of this host' })),
    attribute: nullable(Type.String()),
    target: nullable(MadTarget),
    ports: Type.Array(MadPortAnswer),
  },
  { title: 'rdmatool mad get --all-ports' },
);
export type MadGetPortsResult = Type.Static<typeof MadGetPortsResult>;

export const MadTableResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.madTable),
    error: nullable(Failure),
    device: nullable(Type.String()),
    port: nullable(Type.Integer({ description: 'Port of this host' })),
    record: nullable(Type.String()),
    component_mask: nullable(
      Type.String({ pattern: '^0x[0-9a-f]{16}$', description: 'Fields that records were chosen by' }),
    ),
    header: answer.header,
    mad: answer.mad,
    records: Type.Array(RecordFields),
    records_held: nullable(
      Type.Integer({
        description:
          'Records that the answer announces, more than came where it was cut; null: it does not say',
      }),
    ),
    rtt_ms: answer.rtt_ms,
    attempts: answer.attempts,
  },
  { title: 'rdmatool mad table' },
);
export type MadTableResult = Type.Static<typeof MadTableResult>;

export const RoundTrips = exact({
  min_ms: Type.Number(),
  median_ms: Type.Number(),
  p99_ms: Type.Number(),
  max_ms: Type.Number(),
});

export const MadPingResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.madPing),
    error: nullable(Failure),
    device: nullable(Type.String()),
    port: nullable(Type.Integer({ description: 'Port of this host' })),
    target: nullable(MadTarget),
    server: nullable(Type.String({ description: 'Host and domain, as the server tells' })),
    sent: Type.Integer(),
    received: Type.Integer(),
    replies: Type.Array(
      exact({
        sequence: Type.Integer(),
        rtt_ms: nullable(Type.Number({ description: 'null: no answer, or one that refused' })),
        status: nullable(MadStatus),
      }),
    ),
    rtt: nullable(RoundTrips),
  },
  { title: 'rdmatool mad ping' },
);
export type MadPingResult = Type.Static<typeof MadPingResult>;

export const MadResetResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.madReset),
    error: nullable(Failure),
    device: nullable(Type.String()),
    port: nullable(Type.Integer({ description: 'Port of this host' })),
    target: nullable(MadTarget),
    ports: Type.Array(
      exact({ port_num: Type.Integer(), attribute: Type.String(), error: nullable(Failure) }),
    ),
  },
  { title: 'rdmatool mad reset-counters' },
);
export type MadResetResult = Type.Static<typeof MadResetResult>;

/** A datagram of which only the bytes may be certain. */
export const DecodedMad = exact({
  mad: nullable(MadEnvelope),
  attribute: nullable(Type.String({ description: 'null: not one that is known in the class' })),
  records: Type.Array(AttributeFields, { description: 'Fields of the attribute; several of an SA table' }),
  hex: Type.String({ description: 'The whole datagram' }),
  undecoded: nullable(Type.String({ description: 'Why the bytes could not be read' })),
});
export type DecodedMad = Type.Static<typeof DecodedMad>;

export const MadSendResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.madSend),
    error: nullable(Failure),
    device: nullable(Type.String()),
    port: nullable(Type.Integer({ description: 'Port of this host' })),
    target: nullable(MadTarget),
    request: nullable(DecodedMad),
    sent: Type.Integer(),
    received: Type.Integer(),
    header: answer.header,
    reply: nullable(DecodedMad),
    returned_tid: nullable(
      Type.String({
        description: 'Of a request that the kernel gave back unanswered; its header is `header`',
      }),
    ),
    rtt: nullable(RoundTrips),
    elapsed_ms: nullable(Type.Number({ description: 'From the first request to the last answer, ms' })),
    attempts: nullable(Type.Integer()),
  },
  { title: 'rdmatool mad send' },
);
export type MadSendResult = Type.Static<typeof MadSendResult>;

/** What `mad get` prints, of one port or of all. */
export const MadGetDocument = Type.Union([MadGetResult, MadGetPortsResult]);

/** An agent: what the kernel delivers to it. */
export const MadAgent = exact({
  id: Type.Integer({ description: 'As the kernel counts them on this open device' }),
  mgmt_class: exact({ value: Type.Integer(), name: nullable(Type.String()) }),
  class_version: Type.Integer(),
  oui: nullable(Type.String({ description: 'Vendor, of the classes 0x30 to 0x4f' })),
  methods: Type.Array(Type.String(), { description: 'What it gets unasked, by name or number' }),
  rmpp_version: Type.Integer({ description: '1: the kernel joins and splits long messages' }),
});
export type MadAgent = Type.Static<typeof MadAgent>;

const streamed = {
  error: nullable(Failure),
  time: Type.String({ description: 'RFC 3339' }),
  device: nullable(Type.String()),
  port: nullable(Type.Integer({ description: 'Port of this host' })),
  transport: nullable(Type.String({ description: '`libibumad` or `device`' })),
  header_kind: nullable(Type.String({ description: '`old` or `new`' })),
  agents: Type.Array(MadAgent, { description: 'On the first object: those that were registered' }),
  header: answer.header,
};

/** One line of what `mad recv` prints. */
export const MadRecvObject = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.madRecv),
    event: nullable(
      Type.String({ description: '`listening`, `received`, or `returned`: sent, and not acknowledged' }),
    ),
    ...streamed,
    message: nullable(DecodedMad),
  },
  { title: 'rdmatool mad recv' },
);
export type MadRecvObject = Type.Static<typeof MadRecvObject>;

/** One line of what `mad serve` prints. */
export const MadServeObject = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.madServe),
    event: nullable(
      Type.String({
        description:
          '`listening`, `answered`, `refused`: answered with a status, `passed over`: nobody answers such, `returned`: an answer that was not acknowledged',
      }),
    ),
    ...streamed,
    request: nullable(DecodedMad),
    answer: nullable(
      exact({
        method: exact({ value: Type.Integer(), name: nullable(Type.String()) }),
        status: MadStatus,
        bytes: Type.Integer({ description: 'Of the datagram, or of all that RMPP sends as one' }),
        rmpp: Type.Boolean({ description: 'Whether it goes in segments' }),
      }),
    ),
  },
  { title: 'rdmatool mad serve' },
);
export type MadServeObject = Type.Static<typeof MadServeObject>;
