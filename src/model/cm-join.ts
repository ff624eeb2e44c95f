/** Result of `cm join`. */
import Type from 'typebox';
import { Mtu, Rate } from '../abi/verbs-codes.ts';
import { CM_COMMON, CmQueuePair } from './cm.ts';
import { exact, nullable, ofEnumeration } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

export const CmGroup = exact({
  gid: Type.String({ description: 'Multicast GID' }),
  lid: Type.Integer({ description: 'Multicast LID; without meaning on RoCE' }),
  qp_num: Type.Integer({ description: 'Queue pair number to send to' }),
  qkey: Type.String({ pattern: '^0x[0-9a-f]+$' }),
  sl: Type.Integer(),
  mtu: { ...ofEnumeration(Mtu), description: 'Active MTU of the port; an InfiniBand group may have less' },
  rate: ofEnumeration(Rate),
  hop_limit: Type.Integer(),
  traffic_class: Type.Integer(),
  flow_label: Type.Integer(),
  sgid_index: Type.Integer({ description: 'Index of the source GID in the table of the port' }),
});
export type CmGroup = Type.Static<typeof CmGroup>;

/** Who has sent to the group. */
export const CmSender = exact({
  gid: nullable(Type.String({ description: 'null: no global route came along' })),
  lid: Type.Integer(),
  qp_num: Type.Integer(),
  datagrams: Type.Integer(),
  bytes: Type.Integer(),
});
export type CmSender = Type.Static<typeof CmSender>;

export const CmJoinResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.cmJoin),
    ...CM_COMMON,
    send_only: Type.Boolean(),
    group: nullable(CmGroup),
    qp: nullable(CmQueuePair),
    sent: Type.Integer({ description: 'Datagrams' }),
    received: Type.Integer({ description: 'Datagrams of others' }),
    own: Type.Integer({ description: 'Datagrams of our own that came back' }),
    senders: Type.Array(CmSender),
  },
  { title: 'rdmatool cm join' },
);
export type CmJoinResult = Type.Static<typeof CmJoinResult>;
