import { concludeWithLab, failedLabStatus, LAB_ARGUMENT_DESCRIPTION, requireLab } from './lab-residence.ts';
import { defineCommand } from './spec.ts';

export const labStatusCommand = defineCommand({
  path: ['lab', 'status'],
  summary: 'Show which labs are up',
  arguments: [{ usage: '[lab]', description: LAB_ARGUMENT_DESCRIPTION }],
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
    requireLab('status', args[0] ?? 'roce');
    const { roceLabStatus } = await import('../lab/roce/lab.ts');
    return concludeWithLab(context, roceLabStatus);
  },
});
