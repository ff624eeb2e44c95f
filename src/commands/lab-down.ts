import { concludeWithLab, failedLabStatus, LAB_ARGUMENT_DESCRIPTION, requireLab } from './lab-residence.ts';
import { defineCommand } from './spec.ts';

export const labDownCommand = defineCommand({
  path: ['lab', 'down'],
  summary: 'End a lab that is up',
  arguments: [{ usage: '<lab>', description: LAB_ARGUMENT_DESCRIPTION }],
  options: {},
  details: [
    'Commands that run in it end with it. Nothing of it is left but the cached kernel. A lab that is not up is no failure.',
  ],
  examples: [{ command: 'rdmatool lab down roce', does: 'end the virtual machine' }],
  seeAlso: ['rdmatool-lab-up(1)'],
  failed: failedLabStatus,
  async run({ args, context }) {
    requireLab('down', args[0]);
    const { downRoceLab } = await import('../lab/roce/lab.ts');
    return concludeWithLab(context, () => downRoceLab((line) => context.streams.message(line)));
  },
});
