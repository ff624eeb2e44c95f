import { labFailure } from './lab-failure.ts';
import { defineCommand, flag, type Invocation, text, texts, UsageError } from './spec.ts';

const LABS = ['efa', 'roce'];

const OPTIONS = {
  instance: text('--instance <type>', 'efa: the devices of an EC2 instance type'),
  device: texts('--device <name:model>', 'efa: one device, after those of the instance; may be repeated'),
  fault: texts('--fault <fault>', 'efa: something that goes wrong; may be repeated'),
  share: texts('--share <directory>', 'roce: a further directory that the program sees; may be repeated'),
  emulate: flag('--emulate', 'roce: do not use KVM, even where it is there'),
};

export const labRunCommand = defineCommand({
  path: ['lab', 'run'],
  summary: 'Run a command on simulated RDMA devices',
  arguments: [
    {
      usage: '<lab>',
      description:
        'efa: AWS EFA devices under the real libibverbs and libefa; roce: two soft-RoCE devices and the real kernel, in a virtual machine',
    },
    { usage: '<command...>', description: 'the program and its arguments, after --' },
  ],
  options: OPTIONS,
  details: [
    'In lab efa the program runs unchanged, on the unmodified libibverbs and libefa of the machine. A small interposed library answers in place of the kernel, and a temporary sysfs tree shows the devices. The library is compiled when it is first used, and cached under $XDG_CACHE_HOME/rdmatool. Everything temporary is removed when the program ends, however it ends.',
    'Without --instance and --device there is one card, rdmap0s6:efa2. A figure that no real card has shown is marked as assumed in the profile of its model. A model may also be the path of a profile, a JSON file that sets any value; {"extends": "efa2", ...} sets some.',
    "In lab roce the program runs in a virtual machine, with the machine's own programs and libraries, on a kernel of Debian with the modules rdma_rxe, rdma_ucm, ib_umad and ib_uverbs. The devices rxe0 (10.9.0.1, fd09::1) and rxe1 (10.9.1.1, fd09:1::1) are the ends of one wire, over which their packets really go. The program is root there; setpriv --reuid nobody --clear-groups takes that away. It has the current directory, and those of --share, at the same paths and may write to them; /usr and /etc are this machine's, read-only; all else is memory, and gone with the lab. The environment is carried over, and so are streams, a terminal and signals; what the program started ends with it. Memory that is both mapped for writing and shared is not to be had on files of this machine.",
    'Lab roce uses the machine that rdmatool-lab-up(1) has left running, where a command takes a fraction of a second; else it starts one for this command and ends it, which takes some seconds.',
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
    {
      command:
        "rdmatool lab run roce -- sh -c 'rping -s -a 10.9.1.1 -C 3 & sleep 1; rping -c -a 10.9.1.1 -I 10.9.0.1 -C 3 -v'",
      does: 'RDMA between two soft-RoCE devices',
    },
  ],
  seeAlso: ['rdmatool-lab-up(1)', 'rdmatool-query-device(1)', 'ibv_devinfo(1)', 'rping(1)'],
  commandAfterDashes: true,
  run(invocation) {
    const [lab = ''] = invocation.args;
    requireOptionsOf(lab, invocation.options);
    return (lab === 'efa' ? runEfa(invocation) : runRoce(invocation)).catch((error: unknown) => {
      throw labFailure(error);
    });
  },
});

type RunInvocation = Invocation<typeof OPTIONS>;

/** An option of another lab is a mistake, and not to be ignored. */
function requireOptionsOf(lab: string, options: RunInvocation['options']): void {
  if (!LABS.includes(lab))
    throw new UsageError(`lab run: there is no lab '${lab}'; there is ${LABS.join(', ')}`);
  const others: readonly (keyof typeof OPTIONS)[] =
    lab === 'efa' ? ['share', 'emulate'] : ['instance', 'device', 'fault'];
  for (const name of others) {
    const value = options[name];
    const isGiven = Array.isArray(value) ? value.length > 0 : value !== OPTIONS[name].initial;
    if (isGiven) throw new UsageError(`lab run ${lab}: --${name} is not for this lab`);
  }
}

async function runEfa({ args, options, context }: RunInvocation): Promise<number> {
  const { runEfaLab } = await import('../lab/efa/lab.ts');
  return runEfaLab({
    instance: options.instance ?? undefined,
    devices: options.device,
    faults: options.fault,
    command: args.slice(1),
    say: (line) => context.streams.message(line),
  });
}

async function runRoce({ args, options, context }: RunInvocation): Promise<number> {
  const { runRoceLab } = await import('../lab/roce/lab.ts');
  return runRoceLab({
    command: args.slice(1),
    shares: options.share,
    emulate: options.emulate,
    say: (line) => context.streams.message(line),
  });
}
