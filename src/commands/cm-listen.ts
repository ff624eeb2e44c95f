import { REASON_CONSUMER, SENDABLE_REASONS } from '../cm/reject-reasons.ts';
import { emptyListenObject } from '../model/cm-empty.ts';
import { HANDSHAKE_OPTIONS } from './cm-connect.ts';
import { ADDRESS_HELP, BIND_OPTIONS, backendOf, endpointOf, settingsOf } from './cm-options.ts';
import { defineCommand, flag, integerBetween, positiveInteger, UsageError } from './spec.ts';

export const cmListenCommand = defineCommand({
  summary: 'Listen for connections, answer them, and show every event',
  arguments: [
    {
      usage: '[address]',
      description: 'where to listen: ADDR, ADDR:PORT or [ADDR6]:PORT; everywhere without one',
    },
  ],
  options: {
    ...BIND_OPTIONS,
    ...HANDSHAKE_OPTIONS,
    reject: flag('--reject', 'reject every request'),
    reason: integerBetween(
      '--reason <N>',
      'with --reject: 28 (the application), or 35 (rdma_reject_ece)',
      Math.min(...SENDABLE_REASONS),
      Math.max(...SENDABLE_REASONS),
    ),
    hold: integerBetween(
      '--hold <seconds>',
      'disconnect so long after a connection stands; without it the peer is waited for',
      0,
      86_400,
    ),
    echo: flag('--echo', 'send back what comes: pings as rping -s does, datagrams as udaddy'),
    count: positiveInteger('--count <N>', 'end after N connections have ended, or requests been rejected'),
    backlog: integerBetween(
      '--backlog <N>',
      'requests that may wait to be answered, 128 unless given',
      1,
      65535,
    ),
  },
  details: [
    'Each event is shown as it comes: a request with the address, the private data and the parameters of the peer, what was done about it, established, disconnected, the end of the time wait, the removal of the device, a change of address. --json prints one object a line. Connections are accepted with a real queue pair, and disconnected when the peer does.',
    'It goes on until Ctrl-C (which ends with 130), until --count is reached, or until nothing came for --timeout.',
    'With --echo it sends back what comes: over reliable connections pings in the protocol of rping (rping -c, rdmatool cm connect --ping) of up to 1 MiB, with --ps udp the datagrams of udaddy and of rdmatool cm connect --ps udp --ping. A peer that leaves a ping half done for --timeout (10 s unless given), that sends something else, or whose memory cannot be read or written is told goodbye, and the reason shown; the listener goes on. A datagram service ends when nothing came for --hold seconds, 5 unless given.',
    'RDMA reads are answered and made as the peer asks for, unless --responder-resources and --initiator-depth say otherwise.',
    ADDRESS_HELP,
  ],
  examples: [
    {
      command:
        "rdmatool lab run roce -- sh -c 'rdmatool cm listen 10.9.1.1 --count 1 --hold 0 & sleep 4; ucmatose -s 10.9.1.1 -b 10.9.0.1 -p 7174 -c 1 -C 0'",
      does: 'answer other programs in the lab',
    },
    {
      command:
        "rdmatool lab run roce -- sh -c 'rdmatool cm listen 10.9.1.1 --echo --count 1 & sleep 4; rping -c -a 10.9.1.1 -I 10.9.0.1 -C 3 -V'",
      does: 'serve a client of rping',
    },
    {
      command: 'rdmatool cm listen --reject --private-data busy --json',
      does: 'reject whoever asks, and tell it as JSON',
    },
  ],
  seeAlso: [
    'rdmatool-cm-connect(1)',
    'rping(1)',
    'udaddy(1)',
    'rdma_listen(3)',
    'rdma_accept(3)',
    'rdma_reject(3)',
  ],
  failed: emptyListenObject,
  streams: true,
  async run({ args, options, context }) {
    const settings = await settingsOf(options);
    const address = args[0] === undefined ? null : await endpointOf(args[0], options.port);
    const reason = options.reason ?? REASON_CONSUMER;
    if (!SENDABLE_REASONS.some((known) => known === reason)) {
      throw new UsageError(`--reason <N>: the library can send ${SENDABLE_REASONS.join(' and ')} only`);
    }
    if (options.reason !== null && !options.reject) throw new UsageError('--reason goes with --reject');
    if (options.echo && (options.reject || options.srq || options.qpNum !== null)) {
      throw new UsageError('--echo makes queue pairs of its own: not with --reject, --srq or --qp-num');
    }
    const { listen } = await import('../cm/listen.ts');
    const { thisEnvironment } = await import('../cm/session.ts');
    const { cmListenLine } = await import('../views/cm-listen.ts');
    const failure = await listen(
      {
        address,
        backlog: options.backlog ?? 128,
        count: options.count,
        privateData: options.privateData ?? new Uint8Array(),
        rejectReason: options.reject ? reason : null,
        responderResources: options.responderResources,
        initiatorDepth: options.initiatorDepth,
        rnrRetryCount: options.rnrRetryCount ?? 7,
        flowControl: options.flowControl,
        srq: options.srq,
        qpNum: options.qpNum,
        holdMs: options.hold === null ? null : options.hold * 1000,
        echo: options.echo,
      },
      settings,
      thisEnvironment(context.interruption(), backendOf(options)),
      async (object) => {
        const line = cmListenLine(object);
        if (context.json || line !== null) await context.emit(object, line ?? '');
      },
    );
    return context.fail(failure);
  },
});
