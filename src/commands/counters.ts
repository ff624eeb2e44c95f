import { ExitStatus } from '../explain/failure.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { PORT_ARGUMENT, portSelectors } from './port-argument.ts';
import { defineCommand, flag, positiveInteger, seconds, UsageError } from './spec.ts';

export const countersCommand = defineCommand({
  summary: 'Show the counters of ports, and how fast they count',
  arguments: [PORT_ARGUMENT],
  options: {
    watch: seconds('-w, --watch <seconds>', 'read again and again, so far apart, until interrupted'),
    count: positiveInteger('-c, --count <N>', 'with --watch: end after N readings'),
    verbose: flag('-v, --verbose', 'show counters that are 0 too'),
  },
  streams: { with: 'watch' },
  details: [
    'Reads counters and hw_counters of each port, hw_counters of the device, and the counts of connection management messages, all from sysfs: it needs no library and no privileges. Each counter has its unit and its meaning; errors and congestion are named so. Counters that the driver does not have are shown as N/A, never as 0.',
    'The kernel counts port_xmit_data and port_rcv_data in words of 4 bytes, as InfiniBand does. They are shown in bytes; the key raw of --json has what the kernel shows.',
    'With --watch it shows what has changed since the reading before, and how much a second; the table is drawn anew in place on a terminal, and --json prints one object a line. A counter that has fallen was reset, or has passed the end of its 32 or 64 bits: event says which, and delta counts what can be known. Error counters of the InfiniBand architecture stop at their highest value, which is shown as full: rdmatool mad reset-counters sets them back.',
    'Ends with 69 where there is no device, with 1 where it has no such port.',
  ],
  examples: [
    { command: 'rdmatool counters', does: 'every counter that is not 0' },
    { command: 'rdmatool counters rdmap0s6/1 --watch 1', does: 'the counters of one port at work' },
    {
      command: `rdmatool counters --json | jq '[.ports[].counters[] | select(.kind == "error" and .value != "0")]'`,
      does: 'errors, for a script',
    },
    {
      command: 'rdmatool lab run roce -- rdmatool counters --watch 0.5 --count 2 --json',
      does: 'two readings of the lab, an object a line',
    },
  ],
  seeAlso: ['rdmatool-port(1)', 'rdmatool-mad-get(1)', 'rdma-statistic(8)', 'perfquery(8)'],
  failed: (error) => ({
    schema: SCHEMA_IDS.counters,
    error,
    time: new Date().toISOString(),
    interval_ms: null,
    ports: [],
  }),
  async run({ args, options, context }) {
    if (options.count !== null && options.watch === null) throw new UsageError('--count goes with --watch');
    const selectors = await portSelectors(args);
    const { CounterReader } = await import('../devices/counters.ts');
    const reader = new CounterReader({ selectors });
    const show = async (how: typeof context.conclude): Promise<number> => {
      const result = await reader.read();
      return how(result, async () => {
        const { countersView } = await import('../views/counters.ts');
        return countersView(result, { verbose: options.verbose, brief: options.watch !== null });
      });
    };
    if (options.watch === null) return show(context.conclude);
    const interruption = context.interruption();
    const enough = new AbortController();
    const { repeatUntil } = await import('../waiting/repeat.ts');
    let status: number = ExitStatus.DONE;
    let readings = 0;
    await repeatUntil(AbortSignal.any([interruption, enough.signal]), options.watch * 1000, async () => {
      status = (await show(context.frame)) || status;
      readings++;
      // What is not there at first is a mistake; what goes away later may come back.
      if (readings === options.count || (readings === 1 && status === ExitStatus.UNAVAILABLE)) enough.abort();
    });
    return interruption.aborted ? ExitStatus.INTERRUPTED : status;
  },
});
