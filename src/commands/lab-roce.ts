import { defineLab } from './lab-kind.ts';
import { flag, texts } from './spec.ts';

const emulate = flag('--emulate', 'do not use KVM, even where it is there');

export const roceLab = defineLab({
  name: 'roce',
  about: 'two soft-RoCE devices and the real kernel, in a virtual machine',
  options: {
    share: texts('--share <directory>', 'a further directory that the program sees; may be repeated'),
    emulate,
  },
  details: [
    "In lab roce the program runs in a virtual machine, with the machine's own programs and libraries, on a kernel of Debian with the modules rdma_rxe, rdma_ucm, ib_umad and ib_uverbs. The devices rxe0 (10.9.0.1, fd09::1) and rxe1 (10.9.1.1, fd09:1::1) are the ends of one wire, over which their packets really go. The program is root there; setpriv --reuid nobody --clear-groups takes that away. It has the current directory, and those of --share, at the same paths and may write to them; /usr and /etc are this machine's, read-only; all else is memory, and gone with the lab. The environment is carried over, and so are streams, a terminal and signals; what the program started ends with it. Memory that is both mapped for writing and shared is not to be had on files of this machine.",
    'Lab roce uses the machine that rdmatool-lab-up(1) has left running, where a command takes a fraction of a second; else it starts one for this command and ends it, which takes some seconds.',
  ],
  examples: [
    {
      command:
        "rdmatool lab run roce -- sh -c 'rping -s -a 10.9.1.1 -C 3 & sleep 1; rping -c -a 10.9.1.1 -I 10.9.0.1 -C 3 -v'",
      does: 'RDMA between two soft-RoCE devices',
    },
  ],
  async run(command, options, say, unread) {
    const { runRoceLab } = await import('../lab/roce/lab.ts');
    return runRoceLab({ command, shares: options.share, emulate: options.emulate, say, unread: unread() });
  },
  residence: {
    options: { emulate },
    details: [
      'Lab roce: a kernel of Debian starts in a virtual machine (QEMU, with KVM where that is usable), and rdmatool-lab-run(1) uses it until rdmatool-lab-down(1) ends it. The manual page of lab run says what is in it. Nothing of this needs root.',
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
    async up(options, say) {
      const { upRoceLab } = await import('../lab/roce/lab.ts');
      return upRoceLab({ emulate: options.emulate, say });
    },
    async keep(options, say) {
      const { keepRoceLab } = await import('../lab/roce/lab.ts');
      return keepRoceLab({ emulate: options.emulate, say });
    },
    async down(say) {
      const { downRoceLab } = await import('../lab/roce/lab.ts');
      return downRoceLab(say);
    },
    async status() {
      const { roceLabStatus } = await import('../lab/roce/lab.ts');
      return roceLabStatus();
    },
  },
});
