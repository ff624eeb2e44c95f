import { labFailure } from './lab-failure.ts';
import { concludeWithLab, failedLabStatus, LAB_ARGUMENT_DESCRIPTION, requireLab } from './lab-residence.ts';
import { defineCommand, flag } from './spec.ts';

export const labUpCommand = defineCommand({
  path: ['lab', 'up'],
  summary: 'Start a lab that stays, so that commands in it start at once',
  arguments: [{ usage: '<lab>', description: LAB_ARGUMENT_DESCRIPTION }],
  options: {
    foreground: flag('--foreground', 'stay, and end the lab when this command is ended'),
    emulate: flag('--emulate', 'do not use KVM, even where it is there'),
  },
  details: [
    'A kernel of Debian starts in a virtual machine (QEMU, with KVM where that is usable), and rdmatool-lab-run(1) uses it until rdmatool-lab-down(1) ends it. The manual page of lab run says what is in it. Nothing of this needs root.',
    "The kernel is the package linux-image-amd64 of the Debian that runs here, downloaded once by apt-get and not installed. What is needed of it is cached under $XDG_CACHE_HOME/rdmatool/roce; remove that to get the suite's present kernel.",
    'The machine has no network. It is reached through a socket in $XDG_RUNTIME_DIR/rdmatool, or /tmp/rdmatool-UID, which only this user may enter.',
  ],
  examples: [
    {
      command: 'rdmatool lab up roce',
      does: 'start it; a few seconds where the processor has to be emulated',
    },
    { command: 'rdmatool lab run roce -- rdma link', does: 'use it' },
    { command: 'rdmatool lab down roce', does: 'end it' },
  ],
  seeAlso: ['rdmatool-lab-run(1)', 'rdmatool-lab-down(1)', 'rdmatool-lab-status(1)', 'qemu(1)'],
  failed: failedLabStatus,
  async run({ args, options, context }) {
    requireLab('up', args[0]);
    const { keepRoceLab, upRoceLab } = await import('../lab/roce/lab.ts');
    const say = (line: string): void => context.streams.message(line);
    if (!options.foreground)
      return concludeWithLab(context, () => upRoceLab({ emulate: options.emulate, say }));
    return keepRoceLab({ emulate: options.emulate, say }).catch((error: unknown) => {
      throw labFailure(error);
    });
  },
});
