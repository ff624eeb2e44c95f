import { labFailure } from './lab-failure.ts';
import { mergedOptions, ownOptions } from './lab-kind.ts';
import { concludeWithLabs, failedLabStatus, residenceOf } from './lab-residence.ts';
import { aboutLabs, labReference, labWords, RESIDENT_LABS } from './labs.ts';
import { defineCommand, flag, UsageError } from './spec.ts';

const LAB_OPTIONS = mergedOptions(RESIDENT_LABS, (kind) => kind.residence?.options);

export const labUpCommand = defineCommand({
  summary: 'Start a lab that stays: commands start at once in it',
  arguments: [{ usage: '<lab>', description: aboutLabs(RESIDENT_LABS), complete: labWords(RESIDENT_LABS) }],
  options: {
    ...LAB_OPTIONS,
    foreground: flag('--foreground', 'stay, and end the lab when this command is ended'),
  },
  details: RESIDENT_LABS.flatMap((kind) => kind.residence?.details ?? []),
  reference: labReference(RESIDENT_LABS, (kind) => kind.residence?.options),
  examples: RESIDENT_LABS.flatMap((kind) => kind.residence?.examples ?? []),
  seeAlso: ['rdmatool-lab-run(1)', 'rdmatool-lab-down(1)', 'rdmatool-lab-status(1)', 'qemu(1)'],
  failed: failedLabStatus,
  async run({ args, options, context }) {
    const { kind, residence } = residenceOf('up', args[0]);
    const own = ownOptions('up', kind, residence.options, LAB_OPTIONS, options);
    const say = (line: string): void => context.streams.message(line);
    if (!options.foreground) return concludeWithLabs(context, async () => [await residence.up(own, say)]);
    if (!residence.keep) throw new UsageError(`lab up ${kind.name}: --foreground is not for this lab`);
    return residence.keep(own, say).catch((error: unknown) => {
      throw labFailure(error);
    });
  },
});
