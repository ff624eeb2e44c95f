/** What `lab up`, `lab down` and `lab status` have in common. */
import { Failure, type FailureJson } from '../explain/failure.ts';
import type { LabDeath, LabStatus } from '../lab/status.ts';
import type { LabState, LabStatusResult } from '../model/lab-status.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { labFailure } from './lab-failure.ts';
import type { Interrupted, LabKind, Residence } from './lab-kind.ts';
import { labNamed, RESIDENT_LABS } from './labs.ts';
import { type Context, UsageError } from './spec.ts';

/** @throws UsageError for a name that no lab has which can stay up */
export function residenceOf(
  command: string,
  name: string | undefined,
): { kind: LabKind; residence: Residence } {
  const kind = labNamed(command, name, RESIDENT_LABS);
  if (!kind.residence) throw new UsageError(`lab ${command}: lab ${kind.name} cannot stay up`);
  return { kind, residence: kind.residence };
}

export const failedLabStatus = (error: FailureJson): LabStatusResult => ({
  schema: SCHEMA_IDS.labStatus,
  error,
  labs: [],
});

/** Shows how labs are. Returns the exit status, which is that of a failure where one has died. */
export async function concludeWithLabs(
  context: Context,
  work: () => Promise<readonly (LabStatus | Interrupted)[]>,
): Promise<number> {
  const answers = await work().catch((error: unknown) => {
    throw labFailure(error);
  });
  const statuses: LabStatus[] = [];
  for (const answer of answers) {
    if ('interrupted' in answer) return answer.interrupted;
    statuses.push(answer);
  }
  const died = statuses.find((status) => status.state === 'died');
  const result: LabStatusResult = {
    schema: SCHEMA_IDS.labStatus,
    error: died === undefined ? null : deathOf(died.name, died.death).toJSON(),
    labs: statuses.map(stateOf),
  };
  return context.conclude(result, async () => {
    const { labStatusView } = await import('../views/lab-status.ts');
    return labStatusView(result);
  });
}

const stateOf = (status: LabStatus): LabState => ({
  name: status.name,
  state: status.state,
  machine: 'machine' in status ? status.machine : null,
  process:
    'process' in status && status.process !== null
      ? { pid: status.process.pid, memory_bytes: String(status.process.memoryBytes) }
      : null,
  death: 'death' in status ? { reason: status.death.reason, console: [...status.death.console] } : null,
});

const deathOf = (name: string, { reason }: LabDeath): Failure =>
  new Failure(
    'LAB_FAILED',
    `lab ${name} has ended by itself: ${reason}`,
    `rdmatool lab up ${name} starts it again`,
  );
