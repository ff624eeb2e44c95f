import { defineLab } from './lab-kind.ts';
import { text, texts } from './spec.ts';

export const efaLab = defineLab({
  name: 'efa',
  about: 'AWS EFA devices under the real libibverbs and libefa',
  options: {
    instance: text('--instance <type>', 'the devices of an EC2 instance type'),
    device: texts('--device <name:model>', 'one device, after those of the instance; may be repeated'),
    fault: texts('--fault <fault>', 'something that goes wrong; may be repeated'),
    rdmaCore: text('--rdma-core <prefix>', "another rdma-core than the machine's own"),
  },
  details: [
    'In lab efa the program runs unchanged, on the unmodified libibverbs and libefa of the machine. A small interposed library answers in place of the kernel, and a temporary sysfs tree shows the devices. The library is compiled when it is first used, and cached under $XDG_CACHE_HOME/rdmatool. Everything temporary is removed when the program ends, however it ends.',
    'Without --instance and --device there is one card, rdmap0s6:efa2. A figure that no real card has shown is marked as assumed in the profile of its model. A model may also be the path of a profile, a JSON file that sets any value; {"extends": "efa2", ...} sets some.',
    "With --rdma-core the program, and all that it starts, uses the libibverbs, the providers and the programs below PREFIX. PREFIX is where an rdma-core was installed, or the root of another system, in which packages were unpacked or which debootstrap has made. Where the C library of that system is there too, programs are started on it, through that root's own dynamic loader; it has to be as new as the machine's own, or newer. Nothing of the machine is changed.",
  ],
  async reference() {
    const { EFA_FAULTS, EFA_INSTANCES, EFA_MODELS } = await import('../lab/efa/lab.ts');
    return [
      {
        title: 'Instance types of efa',
        completes: 'type',
        rows: EFA_INSTANCES.map(({ name, description }) => [name, description]),
      },
      { title: 'Models of efa', rows: EFA_MODELS.map(({ name, description }) => [name, description]) },
      {
        title: 'Faults of efa',
        completes: 'fault',
        rows: EFA_FAULTS.map(({ syntax, description }) => [syntax, description]),
      },
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
      command: 'rdmatool lab run efa --rdma-core /srv/trixie -- rdmatool query-device',
      does: 'the same card, as the rdma-core of another system tells of it',
    },
  ],
  async run(command, options, say) {
    const { runEfaLab } = await import('../lab/efa/lab.ts');
    return runEfaLab({
      instance: options.instance ?? undefined,
      devices: options.device,
      faults: options.fault,
      rdmaCore: options.rdmaCore ?? undefined,
      command,
      say,
    });
  },
});
