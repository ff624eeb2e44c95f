import { ExitStatus, Failure } from '../explain/failure.ts';
import { defineCommand, text, texts, UsageError } from './spec.ts';

export const labRunCommand = defineCommand({
  path: ['lab', 'run'],
  summary: 'Run a command on simulated RDMA devices',
  arguments: [
    { usage: '<lab>', description: 'efa: AWS EFA devices under the real libibverbs and libefa' },
    { usage: '<command...>', description: 'the program and its arguments, after --' },
  ],
  options: {
    instance: text('--instance <type>', 'the devices of an EC2 instance type'),
    device: texts('--device <name:model>', 'one device, after those of the instance; may be repeated'),
    fault: texts('--fault <fault>', 'something that goes wrong; may be repeated'),
  },
  details: [
    'The program runs unchanged, on the unmodified libibverbs and libefa of the machine. A small interposed library answers in place of the kernel, and a temporary sysfs tree shows the devices. The library is compiled when it is first used, and cached under $XDG_CACHE_HOME/rdmatool. Everything temporary is removed when the program ends, however it ends.',
    'Without --instance and --device there is one card, rdmap0s6:efa2. A figure that no real card has shown is marked as assumed in the profile of its model. A model may also be the path of a profile, a JSON file that sets any value; {"extends": "efa2", ...} sets some.',
    "The exit status is the program's, or 128 and the signal's number, 126 or 127 where it cannot be started.",
  ],
  async reference() {
    const { EFA_FAULTS, EFA_INSTANCES, EFA_MODELS } = await import('../lab/efa/lab.ts');
    return [
      { title: 'Instance types', rows: EFA_INSTANCES.map(({ name, description }) => [name, description]) },
      { title: 'Models', rows: EFA_MODELS.map(({ name, description }) => [name, description]) },
      { title: 'Faults', rows: EFA_FAULTS.map(({ syntax, description }) => [syntax, description]) },
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
  ],
  seeAlso: ['rdmatool-query-device(1)', 'ibv_devinfo(1)'],
  commandAfterDashes: true,
  async run({ args, options, context }) {
    const [lab, ...command] = args;
    if (lab !== 'efa') throw new UsageError(`lab run: there is no lab '${lab}'; there is efa`);
    const { LabError, runEfaLab } = await import('../lab/efa/lab.ts');
    try {
      return await runEfaLab({
        instance: options.instance ?? undefined,
        devices: options.device,
        faults: options.fault,
        command,
        say: (line) => context.streams.message(line),
      });
    } catch (error) {
      if (!(error instanceof LabError)) throw error;
      const code =
        error.exit === ExitStatus.USAGE
          ? 'USAGE'
          : error.exit === ExitStatus.UNAVAILABLE
            ? 'NO_COMPILER'
            : 'LAB_FAILED';
      throw new Failure(code, error.message, error.hint ?? '', { cause: error });
    }
  },
});
