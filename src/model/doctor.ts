/** The result of `doctor`. */
import Type from 'typebox';
import { exact, Failure, nullable } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

/** What the machine is wanted for. */
export const DOCTOR_PURPOSES = ['query', 'cm', 'mad', 'efa'] as const;
export type DoctorPurpose = (typeof DOCTOR_PURPOSES)[number];

export const CHECK_STATUSES = ['ok', 'warning', 'failure', 'skipped'] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];

/** From the bottom up: a later one may need an earlier one. */
export const CHECK_IDS = [
  'sysfs',
  'container',
  'card',
  'ib_core',
  'namespace',
  'device',
  'ib_uverbs',
  'uverbs-node',
  'libibverbs',
  'open',
  'port',
  'gid',
  'mtu',
  'memlock',
  'efa-device',
  'libefa',
  'efa-capabilities',
  'efa-driver',
  'hugepages',
  'efa-network',
  'rdma_ucm',
  'rdma_cm-node',
  'librdmacm',
  'ib_umad',
  'umad-node',
  'libibumad',
  'route',
  'route-device',
  'neighbour',
  'connect',
] as const;
export type CheckId = (typeof CHECK_IDS)[number];

export const DoctorCheck = exact({
  id: Type.Enum([...CHECK_IDS]),
  subject: nullable(
    Type.String({ description: 'Device, port, node, module or library; null: the whole machine' }),
  ),
  status: Type.Enum([...CHECK_STATUSES], {
    description:
      'skipped: not applicable, or moot before a lower failure is repaired, or not to be seen from here',
  }),
  fact: Type.String({ description: 'What was seen' }),
  meaning: nullable(Type.String({ description: 'What follows from it' })),
  repair: nullable(Type.String({ description: 'The command that repairs it, or the next step' })),
});
export type DoctorCheck = Type.Static<typeof DoctorCheck>;

const Counts = exact(
  Object.fromEntries(CHECK_STATUSES.map((status) => [status, Type.Integer()])) as Record<
    CheckStatus,
    Type.TInteger
  >,
);

export const DoctorResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.doctor),
    error: nullable(Failure),
    for: nullable(Type.Enum([...DOCTOR_PURPOSES])),
    address: nullable(Type.String()),
    root_cause: nullable(
      exact(
        { id: Type.Enum([...CHECK_IDS]), subject: nullable(Type.String()) },
        { description: 'The lowest failure: the others may follow from it' },
      ),
    ),
    counts: Counts,
    checks: Type.Array(DoctorCheck, { description: 'From the bottom up' }),
  },
  { title: 'rdmatool doctor' },
);
export type DoctorResult = Type.Static<typeof DoctorResult>;
