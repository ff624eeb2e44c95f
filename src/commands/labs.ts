import { efaLab } from './lab-efa.ts';
import { ibLab } from './lab-ib.ts';
import type { LabKind } from './lab-kind.ts';
import { roceLab } from './lab-roce.ts';
import { UsageError } from './spec.ts';

/** Every lab, in the order of the help. */
export const LABS: readonly LabKind[] = [efaLab, ibLab, roceLab];

/** The labs that can stay up. */
export const RESIDENT_LABS = LABS.filter((kind) => kind.residence !== undefined);

/** `efa: AWS EFA devices …; roce: two soft-RoCE devices …`. */
export const aboutLabs = (kinds: readonly LabKind[]): string =>
  kinds.map(({ name, about }) => `${name}: ${about}`).join('; ');

/**
 * The lab of that name.
 * @throws UsageError
 */
export function labNamed(
  command: string,
  name: string | undefined,
  among: readonly LabKind[] = LABS,
): LabKind {
  const kind = among.find((candidate) => candidate.name === name);
  if (kind) return kind;
  if (LABS.some((candidate) => candidate.name === name)) {
    throw new UsageError(`lab ${command}: lab ${name} has nothing to keep up; lab run ${name} is enough`);
  }
  throw new UsageError(
    `lab ${command}: there is no lab '${name ?? ''}'; there is ${among.map((known) => known.name).join(', ')}`,
  );
}
