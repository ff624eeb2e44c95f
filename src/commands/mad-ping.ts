import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { PORT_OPTIONS, sessionOptions, TARGET_ARGUMENT, targetOf } from './mad-options.ts';
import { defineCommand, milliseconds, positiveInteger } from './spec.ts';

export const madPingCommand = defineCommand({
  summary: 'Ping a node that runs ibping -S, and time the round trips',
  arguments: [{ usage: '<target>', description: TARGET_ARGUMENT }],
  options: {
    ...PORT_OPTIONS,
    count: positiveInteger('-c, --count <N>', 'pings; 5 if not given'),
    interval: milliseconds('--interval <ms>', 'between two pings; 100 if not given'),
  },
  details: [
    'Sends a Get of vendor class 0x32 with OUI 0x001405, which the server of ibping(8) answers with its name. Ctrl-C ends it with what has come. The server of ibping(8) does not survive in lab ib, whose simulator ends programs that get a datagram of a class which they did not register.',
    'Ends with 1 where some pings were lost, with 75 where all were.',
  ],
  examples: [
    { command: 'rdmatool mad ping 3', does: 'the node with LID 3, where ibping -S runs' },
    {
      command: 'rdmatool mad ping 0x0002c90300001234 -c 100 --interval 10 --json',
      does: 'a hundred, by GUID, for a script',
    },
  ],
  seeAlso: ['rdmatool-mad-get(1)', 'ibping(8)'],
  failed: (error) => ({
    schema: SCHEMA_IDS.madPing,
    error,
    device: null,
    port: null,
    target: null,
    server: null,
    sent: 0,
    received: 0,
    replies: [],
    rtt: null,
  }),
  async run({ args, options, context }) {
    const target = await targetOf(args[0] ?? '');
    const { withSession } = await import('../mad/open.ts');
    const { ping } = await import('../mad/ping.ts');
    const pings = { target, count: options.count ?? 5, intervalMs: options.interval ?? 100 };
    const wanted = await sessionOptions(options);
    return withSession(wanted, options, context.interruption(), async (session, signal) => {
      const result = await ping(session, pings, signal);
      return context.conclude(result, async () =>
        (await import('../views/mad-message.ts')).madPingView(result),
      );
    });
  },
});
