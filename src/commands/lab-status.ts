import { concludeWithLabs, failedLabStatus, residenceOf } from './lab-residence.ts';
import { aboutLabs, labWords, RESIDENT_LABS } from './labs.ts';
import { defineCommand } from './spec.ts';

export const labStatusCommand = defineCommand({
  summary: 'Show which labs are up',
  arguments: [
    {
      usage: '[lab]',
      description: `${aboutLabs(RESIDENT_LABS)}; without one, all of them`,
      complete: labWords(RESIDENT_LABS),
    },
  ],
  options: {},
  details: [
    'A lab that was up and has ended by itself is reported once, with the end of its console and exit status 1; what it left is removed.',
  ],
  examples: [
    { command: 'rdmatool lab status', does: 'all labs' },
    {
      command: "rdmatool lab status roce --json | jq -r '.labs[0].state'",
      does: 'up, starting, down or died',
    },
  ],
  seeAlso: ['rdmatool-lab-up(1)'],
  failed: failedLabStatus,
  async run({ args, context }) {
    const [name] = args;
    const residences =
      name === undefined
        ? RESIDENT_LABS.map((kind) => residenceOf('status', kind.name).residence)
        : [residenceOf('status', name).residence];
    return concludeWithLabs(context, () => Promise.all(residences.map((residence) => residence.status())));
  },
});
