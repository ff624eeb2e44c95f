/** What `lab up`, `lab down` and `lab status` have in common. */
import { Failure, type FailureJson } from '../explain/failure.ts';
import type { LabDeath, LabStatus } from '../lab/status.ts';
import type { LabState, LabStatusResult } from '../model/lab-status.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { labFailure } from './lab-failure.ts';
import { type Context, UsageError } from './spec.ts';

/** The labs that can stay up. */
const LABS = ['roce'];

export const LAB_ARGUMENT_DESCRIPTION =
  'roce: two soft-RoCE devices and the real kernel, in a virtual machine';

/** @throws UsageError for a name that no lab has */
export function requireLab(command: string, name: string | undefined): void {
  if (name === 'efa')
    throw new UsageError(`lab ${command}: lab efa has nothing to keep up; lab run efa is enough`);
  if (name === undefined || !LABS.includes(name)) {
    throw new UsageError(`lab ${command}: there is no lab '${name}'; there is ${LABS.join(', ')}`);
  }
}

export const failedLabStatus = (error: FailureJson): LabStatusResult => ({
  schema: SCHEMA_IDS.labStatus,
  error,
  labs: [],
});

/** Shows how a lab is. Returns the exit status, which is that of a failure where it has died. */
export async function concludeWithLab(
  context: Context,
  work: () => Promise<LabStatus | { readonly interrupted: number }>,
): Promise<number> {
  const status = await work().catch((error: unknown) => {
    throw labFailure(error);
  });
  if ('interrupted' in status) return status.interrupted;
  const result: LabStatusResult = {
    schema: SCHEMA_IDS.labStatus,
    error: status.state === 'died' ? deathOf(status.name, status.death).toJSON() : null,
    labs: [stateOf(status)],
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
    'process' in status
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
