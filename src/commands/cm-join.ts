import { emptyOutcome } from '../model/cm-empty.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { backendOf, endpointOf, JOIN_OPTIONS, settingsOf } from './cm-options.ts';
import { choice, defineCommand, flag, integerBetween, positiveInteger, UsageError } from './spec.ts';

/** mckey's own size. */
const DEFAULT_BYTES = 100;
const LARGEST_BYTES = 4096;

export const cmJoinCommand = defineCommand({
  summary: 'Join a multicast group, send, receive, leave it',
  arguments: [{ usage: '<group>', description: 'the group: an IPv4 or IPv6 multicast address' }],
  options: {
    ...JOIN_OPTIONS,
    ps: choice('--ps <space>', 'port space: udp or ipoib', ['udp', 'ipoib'], 'udp'),
    sendOnly: flag('--send-only', 'join to send only: nothing is received'),
    send: positiveInteger('--send <N>', 'send N datagrams to the group'),
    receive: positiveInteger('--receive <N>', 'wait for N datagrams of others, for --timeout at most'),
    size: integerBetween(
      '--size <bytes>',
      `with --send: bytes of each, ${DEFAULT_BYTES} unless given, at most the MTU`,
      1,
      LARGEST_BYTES,
    ),
    hold: integerBetween('--hold <seconds>', 'stay in the group for so long', 0, 86_400),
  },
  details: [
    'Finds the device by the route to the group (or by --bind), makes a queue pair, joins, and shows the address of the group: multicast GID and LID, Q_Key, SL, MTU and the rest. Then it sends and receives what was asked for, leaves the group and takes everything down. A line on standard error tells when the group has been joined.',
    'The datagrams are those of mckey: each carries the number of the sending queue pair as immediate data. A device gives datagrams to its own members too; those of this program itself are counted apart.',
    'Over InfiniBand the subnet administrator makes the group where it does not exist; one that is joined to send only must exist on older ones. The connection manager does not tell the MTU of the group: the active MTU of the port is shown, and rdmatool mad get MCMemberRecord knows.',
  ],
  examples: [
    {
      command:
        "rdmatool lab run roce -- sh -c 'mckey -m 239.9.1.1 -b 10.9.1.1 & sleep 2; rdmatool cm join 239.9.1.1 --bind 10.9.0.1 --send 10; wait'",
      does: 'send to a member on the other device of the lab',
    },
    {
      command: 'rdmatool cm join 239.9.1.1 --bind 192.0.2.7 --receive 10 --timeout 60000 --json',
      does: 'wait a minute for ten datagrams, and tell who sent them',
    },
  ],
  seeAlso: ['mckey(1)', 'rdma_join_multicast(3)', 'rdmatool-cm-connect(1)'],
  failed: (error) => ({
    schema: SCHEMA_IDS.cmJoin,
    ...emptyOutcome('udp', error),
    send_only: false,
    group: null,
    qp: null,
    sent: 0,
    received: 0,
    own: 0,
    senders: [],
  }),
  async run({ args, options, context }) {
    if (options.sendOnly && options.receive !== null) {
      throw new UsageError('--send-only receives nothing: not with --receive');
    }
    if (options.size !== null && options.send === null) throw new UsageError('--size goes with --send');
    const settings = await settingsOf({ ...options, port: 0 });
    const group = await endpointOf(args[0] ?? '');
    const { join } = await import('../cm/join.ts');
    const { thisEnvironment } = await import('../cm/session.ts');
    const request = {
      sendOnly: options.sendOnly,
      send: options.send ?? 0,
      receive: options.receive ?? 0,
      size: options.size ?? DEFAULT_BYTES,
      holdMs: (options.hold ?? 0) * 1000,
    };
    const waits = request.receive > 0 || request.holdMs > 0;
    const environment = thisEnvironment(context.interruption(), backendOf(options));
    const result = await join(group, request, settings, environment, ({ gid }) => {
      if (waits) context.streams.message(`joined ${gid}`);
    });
    return context.conclude(result, async () => {
      const { cmJoinView } = await import('../views/cm-join.ts');
      return cmJoinView(result);
    });
  },
});
