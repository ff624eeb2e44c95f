import { defineCommand, text, texts, UsageError } from './spec.ts';

export const labRunCommand = defineCommand({
  path: ['lab', 'run'],
  summary: 'Run a command on simulated RDMA devices',
  arguments: [
    {
      usage: '<lab>',
      description:
        'efa: AWS EFA devices under the real libibverbs and libefa; ib: an InfiniBand fabric under the real libibumad',
    },
    { usage: '<command...>', description: 'the program and its arguments, after --' },
  ],
  options: {
    instance: text('--instance <type>', 'efa: the devices of an EC2 instance type'),
    device: texts('--device <name:model>', 'efa: one device, after those of the instance; may be repeated'),
    net: text('--net <file>', 'ib: the fabric of a topology file, as ibnetdiscover(8) prints it'),
    fabric: text('--fabric <shape>', 'ib: a built-in fabric; pair if not given'),
    host: text('--host <name>', 'ib: the host that the command runs on; the second if not given'),
    partition: texts('--partition <name=pkey>', 'ib: a partition of all ports; may be repeated'),
    fault: texts('--fault <fault>', 'something that goes wrong; may be repeated'),
  },
  details: [
    'The program runs unchanged. Everything temporary is removed when it ends, however it ends.',
    'Lab efa: the unmodified libibverbs and libefa of the machine. A small interposed library answers in place of the kernel, and a temporary sysfs tree shows the devices. The library is compiled when it is first used, and cached under $XDG_CACHE_HOME/rdmatool. Without --instance and --device there is one card, rdmap0s6:efa2. A figure that no real card has shown is marked as assumed in the profile of its model. A model may also be the path of a profile, a JSON file that sets any value; {"extends": "efa2", ...} sets some.',
    'Lab ib: the fabric is simulated by ibsim and managed by opensm, and the program finds one device, ibsim0, with one port. The command starts when the ports are active. It uses the fabric that lab up ib started, if that runs and no other is asked for. The simulator cuts tables of the subnet administration to one MAD.',
    "The exit status is the program's, or 128 and the signal's number, 126 or 127 where it cannot be started.",
  ],
  async reference() {
    const { EFA_FAULTS, EFA_INSTANCES, EFA_MODELS } = await import('../lab/efa/lab.ts');
    const { FABRICS, IB_FAULTS } = await import('../lab/ib/lab.ts');
    return [
      { title: 'Instance types', rows: EFA_INSTANCES.map(({ name, description }) => [name, description]) },
      { title: 'Models', rows: EFA_MODELS.map(({ name, description }) => [name, description]) },
      { title: 'Faults of efa', rows: EFA_FAULTS.map(({ syntax, description }) => [syntax, description]) },
      { title: 'Fabrics', rows: FABRICS.map(({ syntax, description }) => [syntax, description]) },
      { title: 'Faults of ib', rows: IB_FAULTS.map(({ syntax, description }) => [syntax, description]) },
    ];
  },
  examples: [
    { command: 'rdmatool lab run efa -- rdmatool query-device', does: 'one EFA card' },
    {
      command: 'rdmatool lab run efa --instance p5.48xlarge -- ibv_devinfo',
      does: 'the 32 cards of a p5.48xlarge, seen by another program',
    },
    {
      command:
        'rdmatool lab run efa --device rdmap0s6:efa2 --device rdmap16s27:efa0 --fault rdmap16s27:open=EACCES -- rdmatool list',
      does: 'two cards, one of which may not be opened',
    },
    {
      command: 'rdmatool lab run ib --fabric fat-tree:4,2,4 -- ibnetdiscover',
      does: 'a tree of 22 nodes, seen by another program',
    },
  ],
  seeAlso: ['rdmatool-query-device(1)', 'ibv_devinfo(1)', 'ibnetdiscover(8)', 'opensm(8)'],
  commandAfterDashes: true,
  async run({ args, options, context }) {
    const [lab, ...command] = args;
    const say = (line: string): void => context.streams.message(line);
    const { labFailure } = await import('./lab-failure.ts');
    switch (lab) {
      case 'efa': {
        refuse(lab, { net: options.net, fabric: options.fabric, host: options.host });
        refuse(lab, { partition: options.partition[0] ?? null });
        const { runEfaLab } = await import('../lab/efa/lab.ts');
        return labFailure(() =>
          runEfaLab({
            instance: options.instance ?? undefined,
            devices: options.device,
            faults: options.fault,
            command,
            say,
          }),
        );
      }
      case 'ib': {
        refuse(lab, { instance: options.instance, device: options.device[0] ?? null });
        const { runIbLab } = await import('../lab/ib/lab.ts');
        return labFailure(() =>
          runIbLab({
            topology: options.net ?? undefined,
            fabric: options.fabric ?? undefined,
            host: options.host ?? undefined,
            partitions: options.partition,
            faults: options.fault,
            command,
            say,
          }),
        );
      }
      default:
        throw new UsageError(`lab run: there is no lab '${lab}'; there are efa and ib`);
    }
  },
});

/** An option of another lab would be ignored without a word. */
function refuse(lab: string, options: Readonly<Record<string, string | null>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (value !== null) throw new UsageError(`lab run ${lab}: --${name} belongs to another lab`);
  }
}
