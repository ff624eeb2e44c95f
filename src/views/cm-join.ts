/** Result of `cm join`, for people. */
import type { CmJoinResult } from '../model/cm-join.ts';
import type { Block } from '../output/blocks.ts';
import { outcomeBlocks } from './cm.ts';
import { kernelCommandBlocks } from './kernel-commands.ts';
import { enumText } from './values.ts';

export function cmJoinView(result: CmJoinResult): Block[] {
  const { group, qp, sent, received, own, senders, send_only } = result;
  return [
    ...outcomeBlocks(result),
    ...(group === null
      ? []
      : ([
          { type: 'gap' },
          { type: 'heading', text: `multicast group${send_only ? ', to send only' : ''}` },
          {
            type: 'pairs',
            indent: 2,
            rows: [
              ['GID', group.gid],
              ['LID', `0x${group.lid.toString(16)} (${group.lid})`],
              ['queue pair', String(group.qp_num)],
              ['Q_Key', group.qkey],
              ['SL', String(group.sl)],
              ['MTU', enumText(group.mtu)],
              ['rate', enumText(group.rate)],
              ['hop limit', String(group.hop_limit)],
              ['traffic class', String(group.traffic_class)],
              ['flow label', `0x${group.flow_label.toString(16)}`],
              ['source GID index', String(group.sgid_index)],
            ],
          },
        ] satisfies Block[])),
    ...(qp === null
      ? []
      : ([
          { type: 'gap' },
          {
            type: 'pairs',
            rows: [
              ['queue pair', `${qp.qp_num} ${qp.type}`],
              ['sent', String(sent)],
              ['received', `${received}${own === 0 ? '' : `, and ${own} of our own`}`],
            ],
          },
        ] satisfies Block[])),
    ...(senders.length === 0
      ? []
      : ([
          { type: 'gap' },
          {
            type: 'table',
            columns: ['FROM', 'LID', 'QUEUE PAIR', 'DATAGRAMS', 'BYTES'],
            rows: senders.map(({ gid, lid, qp_num, datagrams, bytes }) => [
              gid ?? '-',
              String(lid),
              String(qp_num),
              String(datagrams),
              String(bytes),
            ]),
          },
        ] satisfies Block[])),
    ...kernelCommandBlocks(result.kernel_commands),
  ];
}
