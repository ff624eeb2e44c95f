import { concludeWithLabs, failedLabStatus, residenceOf } from './lab-residence.ts';
import { aboutLabs, labWords, RESIDENT_LABS } from './labs.ts';
import { defineCommand } from './spec.ts';

export const labDownCommand = defineCommand({
  summary: 'End a lab that is up',
  arguments: [{ usage: '<lab>', description: aboutLabs(RESIDENT_LABS), complete: labWords(RESIDENT_LABS) }],
  options: {},
  details: [
    'Commands that run in it end with it. Nothing of it is left but what is cached. A lab that is not up is no failure.',
  ],
  examples: RESIDENT_LABS.map(({ name }) => ({
    command: `rdmatool lab down ${name}`,
    does: `end lab ${name}`,
  })),
  seeAlso: ['rdmatool-lab-up(1)'],
  failed: failedLabStatus,
  async run({ args, context }) {
    const { residence } = residenceOf('down', args[0]);
    const say = (line: string): void => context.streams.message(line);
    return concludeWithLabs(context, async () => [await residence.down(say)]);
  },
});
