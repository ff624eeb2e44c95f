import { defineLab } from './lab-kind.ts';
import { text, texts } from './spec.ts';

const FABRIC_OPTIONS = {
  net: text('--net <file>', 'the fabric of a topology file, as ibnetdiscover(8) prints it'),
  fabric: text('--fabric <shape>', 'a built-in fabric; pair if not given'),
  partition: texts('--partition <name=pkey>', 'a partition of all ports; may be repeated'),
  fault: texts('--fault <fault>', 'something that goes wrong; may be repeated'),
};

export const ibLab = defineLab({
  name: 'ib',
  about: 'an InfiniBand fabric under the real libibumad',
  options: {
    ...FABRIC_OPTIONS,
    host: text('--host <name>', 'the host that the command runs on; the second if not given'),
  },
  details: [
    'In lab ib the fabric is simulated by ibsim and managed by opensm, and the program finds one device, ibsim0, with one port. The command starts when the ports are active. It uses the fabric that lab up ib started, if that runs and no other is asked for. The simulator cuts tables of the subnet administration to one MAD. Where a program opens the umad device itself, the simulator knows the old header alone (rdmatool mad ... --header old). Of the header that stands before a datagram it looks at the LID, and at queue pair 0 or 1; the other fields are taken and not carried over, and there are no global route headers. It does not check the agent: the id comes back with the answer as it was sent (rdmatool mad send --header-field id=N), where a kernel knows of no such agent; an id in the thousands ends the program. It stands still for ever when some hundreds of datagrams are on their way: no more than 128 of a --window are used there.',
  ],
  async reference() {
    const { FABRICS, IB_FAULTS } = await import('../lab/ib/lab.ts');
    return [
      {
        title: 'Fabrics of ib',
        completes: 'shape',
        rows: FABRICS.map(({ syntax, description }) => [syntax, description]),
      },
      {
        title: 'Faults of ib',
        completes: 'fault',
        rows: IB_FAULTS.map(({ syntax, description }) => [syntax, description]),
      },
    ];
  },
  examples: [
    {
      command: 'rdmatool lab run ib --fabric fat-tree:4,2,4 -- ibnetdiscover',
      does: 'a tree of 22 nodes, seen by another program',
    },
  ],
  async run(command, options, say) {
    const { runIbLab } = await import('../lab/ib/lab.ts');
    return runIbLab({
      topology: options.net ?? undefined,
      fabric: options.fabric ?? undefined,
      host: options.host ?? undefined,
      partitions: options.partition,
      faults: options.fault,
      command,
      say,
    });
  },
  residence: {
    options: FABRIC_OPTIONS,
    details: [
      'Lab ib: the servers of a fabric start and are left running; lab run uses them then, from several terminals if wanted, and starts at once. Fabrics and faults are those of rdmatool-lab-run(1). Its files lie under $XDG_RUNTIME_DIR/rdmatool.',
    ],
    examples: [
      { command: 'rdmatool lab up ib --fabric fat-tree:4,2,4', does: 'a tree of 22 nodes' },
      {
        command: 'rdmatool lab run ib --host H1_0 -- rdmatool mad get NodeInfo 0,1',
        does: 'used from a host',
      },
      { command: 'rdmatool lab down ib', does: 'ended' },
    ],
    async up(options, say) {
      const { ibLabStatus, upIbLab } = await import('../lab/ib/lab.ts');
      const summary = await upIbLab({
        topology: options.net ?? undefined,
        fabric: options.fabric ?? undefined,
        partitions: options.partition,
        faults: options.fault,
      });
      say(`lab ib: ${summary} is up`);
      return ibLabStatus();
    },
    async down(say) {
      const { downIbLab, ibLabStatus } = await import('../lab/ib/lab.ts');
      const wasUp = await downIbLab();
      say(`lab ib: ${wasUp ? 'ended' : 'was not up'}`);
      return ibLabStatus();
    },
    async status() {
      const { ibLabStatus } = await import('../lab/ib/lab.ts');
      return ibLabStatus();
    },
  },
});
