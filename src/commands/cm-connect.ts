import { emptyOutcome } from '../model/cm-empty.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import {
  ADDRESS_HELP,
  backendOf,
  endpointOf,
  PEER_ARGUMENT,
  PEER_OPTIONS,
  settingsOf,
} from './cm-options.ts';
import { PRIVATE_DATA } from './cm-private-data.ts';
import { defineCommand, flag, integerBetween, UsageError } from './spec.ts';

/** rping's own size, and the most that is sent. */
const DEFAULT_PING_BYTES = 64;
const LARGEST_PING_BYTES = 1 << 20;
/** The time of each is kept. */
const MOST_PINGS = 10_000_000;

export const HANDSHAKE_OPTIONS = {
  privateData: PRIVATE_DATA,
  responderResources: integerBetween(
    '--responder-resources <N>',
    'RDMA reads of the peer that are answered at once, 255 for the most that the device can',
    0,
    255,
  ),
  initiatorDepth: integerBetween(
    '--initiator-depth <N>',
    'RDMA reads under way to the peer, 255 for the most that the device can',
    0,
    255,
  ),
  flowControl: flag('--flow-control', 'ask for end-to-end flow control'),
  rnrRetryCount: integerBetween(
    '--rnr-retry-count <N>',
    'retries where the other side has no buffer, 7 for ever',
    0,
    7,
  ),
  srq: flag('--srq', 'use a shared receive queue'),
  qpNum: integerBetween('--qp-num <N>', 'name this queue pair number, and make no queue pair', 0, 0xffffff),
};

export const cmConnectCommand = defineCommand({
  summary: 'Connect to a listener, step by step, and say why it fails',
  arguments: [PEER_ARGUMENT],
  options: {
    ...PEER_OPTIONS,
    ...HANDSHAKE_OPTIONS,
    retryCount: integerBetween('--retry-count <N>', 'retries of a request that is not acknowledged', 0, 7),
    hold: integerBetween('--hold <seconds>', 'keep the connection for so long', 0, 86_400),
    ping: integerBetween(
      '--ping <N>',
      'send N pings to and fro over the connection, as rping does',
      1,
      MOST_PINGS,
    ),
    size: integerBetween(
      '--size <bytes>',
      `with --ping: bytes of each, ${DEFAULT_PING_BYTES} unless given, at most ${LARGEST_PING_BYTES}`,
      1,
      LARGEST_PING_BYTES,
    ),
    count: integerBetween('--count <N>', 'connect so often, and time each step', 1, 10_000_000),
    concurrency: integerBetween(
      '--concurrency <N>',
      'with --count: so many at once, 1 unless given',
      1,
      65_536,
    ),
  },
  details: [
    'Resolves address and route, makes a queue pair (RC; UD with --ps udp), connects, keeps the connection for --hold seconds, disconnects, and shows each step with its duration. Everything is taken down, on failure and at Ctrl-C too. The values of the handshake are those of rping unless given.',
    'A rejection is shown with its reason by name and number, what it means and what to do next, and the private data of the peer. Over InfiniBand and RoCE the receiver of private data is told the room of the message, not the length that was sent: the rest is zeros.',
    'With --ping N data goes over the connection, in the protocol of rping: the peer (rping -s, or rdmatool cm listen --echo) reads each ping of --size bytes by RDMA read, and writes it back by RDMA write. What comes back is compared with what was sent. Shown are the pings sent, received and verified, the round trip (minimum, median, p99, maximum), the bandwidth, and the completion that failed, if one did. --timeout is the time for each half of a ping. rping -s serves pings up to its own -S only. With --ps udp the pings are datagrams that the peer sends back: rdmatool cm listen --ps udp --echo, or udaddy with the same count (-C) and size (-S), which answers when it has got all, and with bytes of its own.',
    'With --count the result is another one: connections per second, the shortest, median, 99th percentile and longest time of each step (those of cmtime), and failures grouped by their cause (schema cm-connect-many). Each connection is taken down before the next one takes its place.',
    'With --qp-num the handshake happens without a queue pair; --timeout then is worth raising where the peer makes one first.',
    ADDRESS_HELP,
  ],
  examples: [
    {
      command:
        "rdmatool lab run roce -- sh -c 'rdmatool cm listen 10.9.1.1 --count 1 & sleep 2; rdmatool cm connect 10.9.1.1 --bind 10.9.0.1 --private-data hello'",
      does: 'a whole connection in the lab',
    },
    {
      command:
        "rdmatool lab run roce -- sh -c 'rping -s -a 10.9.1.1 & sleep 1; rdmatool cm connect 10.9.1.1 --bind 10.9.0.1 --ping 10'",
      does: 'ten pings to a server of rping',
    },
    {
      command: 'rdmatool lab run roce -- rdmatool cm connect 10.9.1.1 --bind 10.9.0.1',
      does: 'nobody listens: rejected, reason 8',
    },
    {
      command: 'rdmatool cm connect 192.0.2.7:18515 --hold 10 --json',
      does: 'hold a connection for ten seconds, and tell all of it as JSON',
    },
    {
      command:
        "rdmatool lab run roce -- sh -c 'rdmatool cm listen 10.9.1.1 --count 100 >/dev/null & sleep 4; rdmatool cm connect 10.9.1.1 --bind 10.9.0.1 --count 100 --concurrency 8'",
      does: 'time the steps of a hundred connections, eight at once',
    },
  ],
  seeAlso: [
    'rdmatool-cm-listen(1)',
    'rdma_connect(3)',
    'rping(1)',
    'udaddy(1)',
    'ucmatose(1)',
    'rdmatool-cm-join(1)',
  ],
  failed: (error) => ({
    schema: SCHEMA_IDS.cmConnect,
    ...emptyOutcome('tcp', error),
    route: null,
    qp: null,
    connection: null,
    ping: null,
    events: [],
  }),
  async run({ args, options, context }) {
    const settings = await settingsOf(options);
    const peer = await endpointOf(args[0] ?? '', options.port);
    if (options.size !== null && options.ping === null) throw new UsageError('--size goes with --ping');
    if (options.ping !== null && (options.srq || options.qpNum !== null)) {
      throw new UsageError('--ping makes a queue pair of its own: not with --srq or --qp-num');
    }
    const { connect, RPING_REQUEST } = await import('../cm/connect.ts');
    const { thisEnvironment } = await import('../cm/session.ts');
    const request = {
      privateData: options.privateData ?? RPING_REQUEST.privateData,
      responderResources: options.responderResources ?? RPING_REQUEST.responderResources,
      initiatorDepth: options.initiatorDepth ?? RPING_REQUEST.initiatorDepth,
      flowControl: options.flowControl,
      retryCount: options.retryCount ?? RPING_REQUEST.retryCount,
      rnrRetryCount: options.rnrRetryCount ?? RPING_REQUEST.rnrRetryCount,
      srq: options.srq,
      qpNum: options.qpNum,
      holdMs: (options.hold ?? 0) * 1000,
      ping: options.ping === null ? null : { count: options.ping, size: options.size ?? DEFAULT_PING_BYTES },
    };
    const backend = backendOf(options);
    if (backend.showBytes && options.count !== null) {
      throw new UsageError('--show-bytes shows one connection: leave out --count');
    }
    if (options.concurrency !== null && options.count === null) {
      throw new UsageError('--concurrency goes with --count');
    }
    if (options.count !== null) {
      const { count } = options;
      const { concludeMany } = await import('./cm-connect-many.ts');
      const many = { connection: request, count, concurrency: options.concurrency ?? 1, apart: true };
      return concludeMany({ peer, request: many, settings, backend }, context);
    }
    const result = await connect(peer, request, settings, thisEnvironment(context.interruption(), backend));
    return context.conclude(result, async () => {
      const { cmConnectView } = await import('../views/cm.ts');
      return cmConnectView(result);
    });
  },
});
