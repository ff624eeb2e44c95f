import type { DoctorPurpose } from '../model/doctor.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { endpointOf } from './cm-options.ts';
import { defineCommand, flag, optionalChoice, UsageError } from './spec.ts';

const PURPOSES = ['query', 'cm', 'mad', 'efa'] as const satisfies readonly DoctorPurpose[];

/** The finding is negative. */
const SOMETHING_FAILED = 1;

export const doctorCommand = defineCommand({
  summary: 'Say why nothing is found or works, and what repairs it',
  arguments: [
    {
      usage: '[address]',
      description: 'look at the way to this peer too, and connect: ADDR, ADDR:PORT or [ADDR6]:PORT',
      complete: 'address',
    },
  ],
  options: {
    for: {
      ...optionalChoice('--for <purpose>', 'only what this needs: query, cm, mad or efa', PURPOSES),
      complete: async () => [
        ['query', 'devices and what they can do'],
        ['cm', 'connections through the connection manager'],
        ['mad', 'management datagrams'],
        ['efa', 'Elastic Fabric Adapters'],
      ],
    },
    verbose: flag('-v, --verbose', 'show what is good and what was skipped, too'),
  },
  details: [
    'Looks at the machine from the bottom up: cards on the PCI bus, kernel modules, device nodes and the rights of this process, libraries and providers, ports, addresses, limits. Each check is ok, a warning, a failure or skipped, with the fact that was seen and the command that repairs it. The lowest failure stands first, for what is above it may follow from it; a check that is moot before a lower one is repaired is skipped, and says so.',
    'Without --for, what every RDMA program needs is a failure where it is missing, and what only some need (the connection manager, management datagrams) a warning. With --for, what the purpose needs is a failure, and the rest is not looked at. An address goes with --for cm, and implies it; in lab ib, where there is nothing else, --for mad is meant.',
    'Nothing is changed, and nothing is sent, unless there is an address: then the peer is connected to as rdmatool-cm-connect(1) does it, on port 7174 unless another is given, with 5 s for each step. Everything else of the way is read from this machine. Root is not needed; what another user may not open is found out for the user who runs it.',
    'Commands that repair are those of the distribution that runs here. In a container, "on the host" stands with what cannot be done inside.',
    'Ends with 0, with 1 where there is a failure.',
  ],
  examples: [
    { command: 'rdmatool doctor', does: 'why is no device found?' },
    { command: 'rdmatool doctor --for efa', does: 'what EFA needs: driver, libraries, memory, capabilities' },
    { command: 'rdmatool doctor 10.9.1.1:7174', does: 'why does a connection fail?' },
    {
      command: `rdmatool doctor --json | jq -r '.checks[] | select(.status == "failure") | .repair'`,
      does: 'the commands that repair what fails',
    },
    {
      command: 'rdmatool lab run efa --fault no-provider -- rdmatool doctor',
      does: 'a machine without the provider of its card',
    },
  ],
  seeAlso: ['rdmatool-query-device(1)', 'rdmatool-cm-connect(1)', 'rdma(8)', 'modprobe(8)', 'lspci(8)'],
  reference: async () => {
    const { CHECKS } = await import('../doctor/checks.ts');
    return [{ title: 'Checks', rows: CHECKS.map(({ id, what }) => [id, what] as const) }];
  },
  failed: (error) => ({
    schema: SCHEMA_IDS.doctor,
    error,
    for: null,
    address: null,
    root_cause: null,
    counts: { ok: 0, warning: 0, failure: 0, skipped: 0 },
    checks: [],
  }),
  async run({ args, options, context }) {
    const [address] = args;
    if (address !== undefined && options.for !== null && options.for !== 'cm') {
      throw new UsageError(`an address goes with --for cm, not with --for ${options.for}`);
    }
    const peer = address === undefined ? null : await endpointOf(address);
    const { examine, thisDoctorEnvironment } = await import('../doctor/examine.ts');
    const { isSimulated } = await import('../mad/simulator.ts');
    const { Progress } = await import('../output/progress.ts');
    // There is nothing but datagrams in lab ib.
    const purpose = options.for ?? (peer === null && isSimulated() ? 'mad' : null);
    const progress = new Progress(context.streams);
    progress.update('looking at this machine');
    let result: Awaited<ReturnType<typeof examine>>;
    try {
      const signal = peer === null ? null : context.interruption();
      result = await examine({ purpose, peer }, thisDoctorEnvironment(signal));
    } finally {
      progress.end();
    }
    const status = await context.conclude(result, async () => {
      const { doctorView } = await import('../views/doctor.ts');
      return doctorView(result, { verbose: options.verbose });
    });
    return status === 0 && result.counts.failure > 0 ? SOMETHING_FAILED : status;
  },
});
