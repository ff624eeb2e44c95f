import { ExitStatus, Failure, type FailureCode, type FailureJson } from '../explain/failure.ts';
import type { MadGetResult } from '../model/mad.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import {
  CLASS_OPTION,
  IN_LAB,
  KEY_OPTION,
  PORT_OPTIONS,
  sessionOptions,
  TARGET_ARGUMENT,
  targetOf,
  wholeNumber,
} from './mad-options.ts';
import { defineCommand, flag, integerBetween, positiveInteger, UsageError } from './spec.ts';

export const madGetCommand = defineCommand({
  summary: 'Ask a node for NodeInfo, PortInfo, PortCounters …',
  arguments: [
    { usage: '<attribute>', description: 'what to ask for; any spelling of upper and lower case' },
    { usage: '[target]', description: `${TARGET_ARGUMENT}; local if not given` },
  ],
  options: {
    ...PORT_OPTIONS,
    keyFile: KEY_OPTION,
    class: CLASS_OPTION,
    portNum: wholeNumber('--port-num <N>', 'port of the node; of a host its own if not given', 255),
    allPorts: flag('--all-ports', 'every port of the node'),
    block: wholeNumber('--block <N>', 'block of a table', 0xffff),
    inPort: wholeNumber('--in-port <N>', 'SLtoVLMappingTable: port of a switch that packets come in by', 255),
    mod: wholeNumber(
      '--mod <number>',
      'the attribute modifier, instead of what those options make of it',
      0xffffffff,
    ),
    watch: integerBetween(
      '--watch <seconds>',
      'ask again and again, so far apart, until interrupted',
      1,
      86_400,
    ),
    count: positiveInteger('-c, --count <N>', 'with --watch: ask so often, and end'),
  },
  streams: { with: 'watch' },
  details: [
    'Sends a Get and shows the answer field by field, under the names of the IBTA. Along a directed path it works before a subnet manager has been there. GUIDs and GIDs are looked up by the subnet administration.',
    'With --json the header that came with the answer, the header of the datagram, the fields and the round-trip time are in one document; with --watch one document a line. A watch goes on when an answer is lost or refused, and ends when the port is.',
    'Ends with 1 where the node answers with a status other than 0, with 75 where nobody answers.',
  ],
  async reference() {
    const { ATTRIBUTES } = await import('../datagram/attributes.ts');
    return [
      {
        title: 'Attributes',
        completes: 'attribute',
        rows: ATTRIBUTES.filter(
          ({ family }) => family !== 'administration' && family !== 'communication',
        ).map(({ name, family, meaning }) => [
          name,
          `${meaning}${family === 'general' ? ` (--class${name === 'Notice' ? '' : ', PERF if not given'})` : ''}`,
        ]),
      },
    ];
  },
  examples: [
    { command: `${IN_LAB} mad get NodeInfo 0,1`, does: 'what is behind the cable' },
    { command: `${IN_LAB} mad get PortInfo 1 --port-num 1`, does: 'port 1 of the switch, by its LID' },
    { command: `${IN_LAB} mad get PortCounters 1 --all-ports`, does: 'the counters of all its ports' },
    {
      command: `${IN_LAB} mad get PortInfo --json | jq -r .fields.port_state.name`,
      does: 'the state of the own port, for a script',
    },
  ],
  seeAlso: ['rdmatool-mad-table(1)', 'rdmatool-mad-send(1)', 'smpquery(8)', 'perfquery(8)', 'sminfo(8)'],
  failed: (error) => failedDocument(error),
  async run({ args, options, context }) {
    const [attribute = '', targetArgument] = args;
    if (options.allPorts && (options.portNum !== null || options.mod !== null)) {
      throw new UsageError('mad get: --all-ports goes without --port-num and --mod');
    }
    if (options.count !== null && options.watch === null) {
      throw new UsageError('mad get: --count goes with --watch');
    }
    const target = targetArgument === undefined ? null : await targetOf(targetArgument);
    const { checkQuestion, getAllPorts, getAttribute } = await import('../mad/get.ts');
    const { withSession } = await import('../mad/open.ts');
    const { targetJson } = await import('../mad/results.ts');
    const question = {
      attribute,
      target,
      mgmtClass: options.class,
      modifier: options.mod,
      portNum: options.portNum,
      inPort: options.inPort,
      block: options.block,
    };
    checkQuestion(question);
    const views = (): Promise<typeof import('../views/mad-get.ts')> => import('../views/mad-get.ts');
    const wanted = await sessionOptions(options);
    return withSession(wanted, options, context.interruption(), async (session, signal) => {
      const once = async (time: string | null, show: typeof context.conclude): Promise<number> => {
        if (options.allPorts) {
          const result = { ...(await getAllPorts(session, question)), time };
          return show(result, async () => (await views()).madGetPortsView(result));
        }
        const result = { ...(await getAttribute(session, question)), time };
        return show(result, async () => (await views()).madGetView(result));
      };
      // What is known of the question stands in the document of its failure too.
      const failed = (error: Failure, time: string | null): MadGetResult => ({
        ...failedDocument(error.toJSON()),
        time,
        device: session.device,
        port: session.portNumber,
        attribute,
        target: target === null ? null : targetJson(target, null),
      });
      if (options.watch === null) {
        return once(null, context.conclude).catch((error: unknown) => {
          if (!(error instanceof Failure) || signal.aborted) throw error;
          return context.conclude(failed(error, null), async () => []);
        });
      }
      return watch(signal, options.watch * 1000, options.count, async () => {
        const time = new Date().toISOString();
        try {
          return await once(time, context.event);
        } catch (error) {
          if (!(error instanceof Failure) || signal.aborted || LASTING.has(error.code)) throw error;
          return context.event(failed(error, time), async () => []);
        }
      });
    });
  },
});

/** What asking again does not mend; anything else must not end a watch. */
const LASTING: ReadonlySet<FailureCode> = new Set([
  'USAGE',
  'NO_SUCH_PORT',
  'REGISTER_FAILED',
  'DEVICE_GONE',
  'INTERRUPTED',
]);

/** The exit status: that of the first failure where every time failed, 1 where some did. */
async function watch(
  signal: AbortSignal,
  everyMs: number,
  count: number | null,
  once: () => Promise<number>,
): Promise<number> {
  const { repeatUntil } = await import('../waiting/repeat.ts');
  const statuses: number[] = [];
  await repeatUntil(signal, everyMs, async () => statuses.push(await once()), count ?? undefined);
  if (signal.aborted) return ExitStatus.INTERRUPTED;
  const failed = statuses.filter((status) => status !== ExitStatus.DONE);
  const [first = ExitStatus.DONE] = failed;
  return failed.length === 0 || failed.length === statuses.length ? first : ExitStatus.FAILED;
}

const failedDocument = (error: FailureJson): MadGetResult => ({
  schema: SCHEMA_IDS.madGet,
  error,
  time: null,
  device: null,
  port: null,
  attribute: null,
  target: null,
  port_num: null,
  header: null,
  mad: null,
  fields: null,
  rtt_ms: null,
  attempts: null,
});
