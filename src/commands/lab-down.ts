import { defineCommand, UsageError } from './spec.ts';

export const labDownCommand = defineCommand({
  path: ['lab', 'down'],
  summary: 'End a lab that lab up started',
  arguments: [{ usage: '<lab>', description: 'ib: an InfiniBand fabric' }],
  options: {},
  details: ['Ends the servers and removes their files. Where the lab is not up, nothing is done.'],
  examples: [{ command: 'rdmatool lab down ib', does: 'end the fabric' }],
  seeAlso: ['rdmatool-lab-up(1)'],
  async run({ args, context }) {
    const [lab] = args;
    if (lab !== 'ib') throw new UsageError(`lab down: there is no lab '${lab}' that stays up; there is ib`);
    const { downIbLab } = await import('../lab/ib/lab.ts');
    const wasUp = await downIbLab();
    context.streams.message(`lab ib: ${wasUp ? 'ended' : 'was not up'}`);
    return 0;
  },
});
