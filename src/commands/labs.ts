import { efaLab } from './lab-efa.ts';
import { ibLab } from './lab-ib.ts';
import type { LabKind } from './lab-kind.ts';
import { roceLab } from './lab-roce.ts';
import { type CompletionWord, type OptionSpecs, type ReferenceTable, UsageError } from './spec.ts';

/** Every lab, in the order of the help. */
export const LABS: readonly LabKind[] = [efaLab, ibLab, roceLab];

/** The tables of words of some labs, for help, manual and completion. */
export const labReference =
  (kinds: readonly LabKind[], names: (kind: LabKind) => OptionSpecs | undefined) =>
  async (): Promise<ReferenceTable[]> => {
    const tables = await Promise.all(
      kinds.map(async (kind) => ({ kind, tables: (await kind.reference?.()) ?? [] })),
    );
    return tables.flatMap(({ kind, tables: own }) => {
      const values = Object.values(names(kind) ?? {}).map(({ flags }) => flags);
      // A command shows what its options take.
      return own.filter(
        ({ completes }) =>
          completes === undefined || values.some((flags) => flags.includes(`<${completes}>`)),
      );
    });
  };

/** The labs that can stay up. */
export const RESIDENT_LABS = LABS.filter((kind) => kind.residence !== undefined);

/** Names of labs, for a shell's completion. */
export const labWords = (kinds: readonly LabKind[]) => async (): Promise<CompletionWord[]> =>
  kinds.map(({ name, about }) => [name, about] as const);

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
