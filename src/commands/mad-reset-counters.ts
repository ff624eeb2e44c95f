import { SCHEMA_IDS } from '../model/schema-ids.ts';
import {
  IN_LAB,
  PORT_OPTIONS,
  requireWrite,
  sessionOptions,
  TARGET_ARGUMENT,
  targetOf,
  WRITE_FLAG,
  wholeNumber,
} from './mad-options.ts';
import { defineCommand, flag, UsageError } from './spec.ts';

export const madResetCountersCommand = defineCommand({
  summary: 'Set the counters of a port to zero',
  arguments: [{ usage: '<target>', description: TARGET_ARGUMENT }],
  options: {
    ...PORT_OPTIONS,
    write: WRITE_FLAG,
    portNum: wholeNumber('--port-num <N>', 'port of the node; of a host its own if not given', 255),
    allPorts: flag('--all-ports', 'every port of the node'),
    extended: flag('--extended', 'the counters of PortCountersExtended too'),
  },
  details: [
    'Sends Set PortCounters with all counters selected. What was counted is lost to everybody who watches them: that needs --write.',
  ],
  examples: [
    { command: `${IN_LAB} mad reset-counters 2 --write`, does: 'those of the host with LID 2' },
    { command: `${IN_LAB} mad reset-counters 1 --all-ports --write`, does: 'those of all ports of a switch' },
  ],
  seeAlso: ['rdmatool-mad-get(1)', 'perfquery(8)'],
  failed: (error) => ({
    schema: SCHEMA_IDS.madReset,
    error,
    device: null,
    port: null,
    target: null,
    ports: [],
  }),
  async run({ args, options, context }) {
    requireWrite(options.write, 'mad reset-counters');
    if (options.allPorts && options.portNum !== null) {
      throw new UsageError('mad reset-counters: --all-ports goes without --port-num');
    }
    const target = await targetOf(args[0] ?? '');
    const { withSession } = await import('../mad/open.ts');
    const { resetCounters } = await import('../mad/reset-counters.ts');
    const wanted = await sessionOptions(options);
    return withSession(wanted, options, context.interruption(), async (session) => {
      const { portNum, allPorts, extended } = options;
      const result = await resetCounters(session, { target, portNum, allPorts, extended });
      return context.conclude(result, async () =>
        (await import('../views/mad-message.ts')).madResetView(result),
      );
    });
  },
});
