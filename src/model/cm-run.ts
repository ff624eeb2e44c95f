/** What `cm run` tells of each step. */
import Type from 'typebox';
import { ibvSaPathRec } from '../abi/rdmacm.ts';
import { ibUverbsAhAttr, ibUverbsQpAttr } from '../abi/verbs-qp.ts';
import { CmAddress, CmConnection, CmEventValue } from './cm.ts';
import { KernelField, kernelCommands } from './kernel-commands.ts';
import { exact, Failure, nullable, ofLayout } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

const CmRunCreated = exact({ port_space: Type.Enum(['tcp', 'udp', 'ib', 'ipoib']), channel: Type.String() });

const CmRunAddresses = exact({
  local: nullable(CmAddress),
  peer: nullable(CmAddress),
  device: nullable(Type.String()),
  ib_port: nullable(Type.Integer()),
});

const CmRunPaths = exact({ paths: Type.Array(ofLayout(ibvSaPathRec)) });

const CmRunGids = exact({
  sgid: Type.String(),
  dgid: Type.String(),
  pkey: Type.String({ pattern: '^0x[0-9a-f]{4}$' }),
});

const CmRunQueuePair = exact({
  qp_num: Type.Integer(),
  type: Type.Enum(['RC', 'UD']),
  srq: Type.Boolean(),
});

const CmRunQpAttr = exact({ qp_attr: ofLayout(ibUverbsQpAttr) });

const CmRunEce = exact({
  vendor_id: Type.String({ pattern: '^0x' }),
  options: Type.String({ pattern: '^0x' }),
});

export const CmRunEvent = exact({
  event: CmEventValue,
  status: Type.Integer({ description: 'Negative errno, 0, or a code of the transport' }),
  status_name: nullable(Type.String()),
  meaning: Type.String(),
  event_id: nullable(Type.String({ description: 'The name of its id; null for one without a name' })),
  connection: nullable(CmConnection),
  ah_attr: nullable(ofLayout(ibUverbsAhAttr)),
});
export type CmRunEvent = Type.Static<typeof CmRunEvent>;

const CmRunTakenDown = exact({
  ids: Type.Array(Type.String(), { description: 'Ids that were still there, in the order of their end' }),
  channels: Type.Array(Type.String()),
});

/** The fields of the kernel's answer. */
const CmRunAnswer = exact({ fields: Type.Array(KernelField) });

/** What the operations answer; an operation with a result of a new form adds it here. */
export const CmRunResult = Type.Union([
  CmRunCreated,
  CmRunAddresses,
  CmRunPaths,
  CmRunGids,
  CmRunQueuePair,
  CmRunQpAttr,
  CmRunEce,
  CmRunEvent,
  CmRunTakenDown,
  CmRunAnswer,
]);
export type CmRunResult = Type.Static<typeof CmRunResult>;

export const CmRunObject = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.cmRun),
    time: Type.String({ description: 'RFC 3339' }),
    error: nullable(Failure),
    line: nullable(Type.Integer({ description: 'Of the script, from 1; null for what no line asked for' })),
    column: nullable(Type.Integer({ description: 'Of a mistake in the script, from 1' })),
    step: nullable(Type.String({ description: 'The line as it stands' })),
    operation: nullable(Type.String({ description: '`resolve-addr` …, and `take-down` at the end' })),
    id: nullable(Type.String({ description: 'The id or channel that the step is about' })),
    state: nullable(Type.String({ description: 'Where the id stands after the step' })),
    duration_ms: nullable(Type.Number()),
    failure_expected: Type.Boolean({ description: 'The step says with ! that it is to fail' }),
    ok: Type.Boolean({ description: 'The step ended as the script expects' }),
    result: nullable(CmRunResult),
    kernel_commands: kernelCommands,
  },
  { title: 'rdmatool cm run: one object a line' },
);
export type CmRunObject = Type.Static<typeof CmRunObject>;
