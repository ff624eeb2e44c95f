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
import { defineCommand, integerBetween } from './spec.ts';

/** Any number does over InfiniBand and RoCE. */
const QP_NUM = 1;

export const cmInitQpAttrCommand = defineCommand({
  summary: 'Show what the connection manager gives a queue pair',
  arguments: [PEER_ARGUMENT],
  options: {
    ...PEER_OPTIONS,
    privateData: PRIVATE_DATA,
    qpNum: integerBetween('--qp-num <N>', 'the queue pair number to name, 1 unless given', 0, 0xffffff),
  },
  details: [
    'The attributes of rdma_init_qp_attr for the states INIT, RTR and RTS, as struct ib_uverbs_qp_attr lists them. Those for RTR and RTS are known only once the peer has accepted: the command connects without a queue pair of its own, asks, and disconnects. Only the attributes that the mask names hold; the others are not shown in the table, and are in the JSON as the kernel left them.',
    'For datagrams there is only INIT. It needs rdma-core 23 or newer.',
    ADDRESS_HELP,
  ],
  examples: [
    {
      command:
        "rdmatool lab run roce -- sh -c 'rdmatool cm listen 10.9.1.1 --count 1 >/dev/null & sleep 2; rdmatool cm init-qp-attr 10.9.1.1 --bind 10.9.0.1'",
      does: 'the attributes of a connection in the lab',
    },
  ],
  seeAlso: ['rdmatool-cm-connect(1)', 'rdma_init_qp_attr(3)', 'ibv_modify_qp(3)'],
  failed: (error) => ({ schema: SCHEMA_IDS.cmInitQpAttr, ...emptyOutcome('tcp', error), attributes: [] }),
  async run({ args, options, context }) {
    const settings = await settingsOf(options);
    const peer = await endpointOf(args[0] ?? '', options.port);
    const { initQpAttr, RPING_REQUEST } = await import('../cm/connect.ts');
    const { thisEnvironment } = await import('../cm/session.ts');
    const request = {
      ...RPING_REQUEST,
      privateData: options.privateData ?? RPING_REQUEST.privateData,
      qpNum: options.qpNum ?? QP_NUM,
    };
    const result = await initQpAttr(
      peer,
      request,
      settings,
      thisEnvironment(context.interruption(), backendOf(options)),
    );
    return context.conclude(result, async () => {
      const { cmInitQpAttrView } = await import('../views/cm.ts');
      return cmInitQpAttrView(result);
    });
  },
});
