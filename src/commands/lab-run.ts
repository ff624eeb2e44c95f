import { defineCommand, text, texts } from './spec.ts';

export const labRunCommand = defineCommand({
  path: ['lab', 'run'],
  summary: 'Run a command on simulated RDMA devices',
  arguments: [
    { usage: '<lab>', description: 'efa: AWS EFA devices under the real libibverbs and libefa' },
    { usage: '<command...>', description: 'the program and its arguments, after --' },
  ],
  options: {
    instance: text('--instance <type>', 'devices of an EC2 instance type'),
    device: texts('--device <name:model>', 'one device; may be repeated'),
    fault: texts('--fault <fault>', 'something that goes wrong; may be repeated'),
  },
  details: [
    'The program runs unchanged on the real, unmodified libibverbs and libefa of the machine. A small interposed library answers in place of the kernel, and a temporary sysfs tree shows the devices. It is compiled when it is first used, and cached under $XDG_CACHE_HOME/rdmatool. Everything temporary is removed when the program ends, however it ends.',
  ],
  examples: [
    { command: 'rdmatool lab run efa -- rdmatool query-device', does: 'one EFA card' },
    {
      command: 'rdmatool lab run efa --instance p5.48xlarge -- ibv_devinfo',
      does: 'the 32 cards of a p5.48xlarge, seen by another program',
    },
    {
      command:
        'rdmatool lab run efa --device rdmap0s6:efa2 --device rdmap16s27:efa0 --fault rdmap16s27:open=EACCES -- rdmatool query-device',
      does: 'two cards, one of which may not be opened',
    },
  ],
  seeAlso: ['rdmatool-query-device(1)'],
  commandAfterDashes: true,
  async run({ args, options }) {
    throw new Error(`not yet: ${args.length} ${options.instance}`);
  },
});
