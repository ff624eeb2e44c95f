import { defineCommand, text, texts, UsageError } from './spec.ts';

export const labUpCommand = defineCommand({
  path: ['lab', 'up'],
  summary: 'Start a lab that stays until lab down',
  arguments: [{ usage: '<lab>', description: 'ib: an InfiniBand fabric' }],
  options: {
    net: text('--net <file>', 'the fabric of a topology file, as ibnetdiscover(8) prints it'),
    fabric: text('--fabric <shape>', 'a built-in fabric; pair if not given'),
    partition: texts('--partition <name=pkey>', 'a partition of all ports; may be repeated'),
    fault: texts('--fault <fault>', 'something that goes wrong; may be repeated'),
  },
  details: [
    'Starts the servers of a lab and leaves them running; lab run uses them then, from several terminals if wanted, and starts at once. Fabrics and faults are those of rdmatool-lab-run(1).',
    'One lab of a kind runs a user at a time. Its files lie under $XDG_RUNTIME_DIR/rdmatool.',
  ],
  examples: [
    { command: 'rdmatool lab up ib --fabric fat-tree:4,2,4', does: 'a tree of 22 nodes' },
    { command: 'rdmatool lab run ib --host H1_0 -- rdmatool mad get NodeInfo 0,1', does: 'used from a host' },
    { command: 'rdmatool lab down ib', does: 'ended' },
  ],
  seeAlso: ['rdmatool-lab-run(1)', 'rdmatool-lab-down(1)'],
  endsItself: true,
  async run({ args, options, context }) {
    const [lab] = args;
    if (lab !== 'ib') throw new UsageError(`lab up: there is no lab '${lab}' that stays up; there is ib`);
    const { upIbLab } = await import('../lab/ib/lab.ts');
    const { labFailure } = await import('./lab-failure.ts');
    const summary = await labFailure(() =>
      upIbLab({
        topology: options.net ?? undefined,
        fabric: options.fabric ?? undefined,
        partitions: options.partition,
        faults: options.fault,
      }),
    );
    context.streams.message(`lab ib: ${summary} is up`);
    return 0;
  },
});
