/** Operations on ids and channels themselves: making, binding, moving, asking, ending. */
import { setTimeout as sleep } from 'node:timers/promises';
import { gidText } from '../../abi/ib-types.ts';
import { ibvSaPathRec } from '../../abi/rdmacm.ts';
import { QpState } from '../../abi/verbs-codes.ts';
import { ibUverbsQpAttr } from '../../abi/verbs-qp.ts';
import type { CmId } from '../channel.ts';
import { addressJson } from '../session.ts';
import { operation } from './operation.ts';
import {
  ADDRESS,
  CHANNEL,
  choice,
  DURATION,
  enumerated,
  ID,
  LAST_OF_CHANNEL,
  LAST_OF_ID,
  NEW_CHANNEL,
  NEW_ID,
  one,
  optional,
  optionOr,
  toggle,
} from './parameters.ts';
import { DEFAULT_CHANNEL } from './stage.ts';

const PORT_SPACES = { tcp: 'TCP', udp: 'UDP', ib: 'IB', ipoib: 'IPOIB' } as const;

export const createEventChannel = operation({
  name: 'create-event-channel',
  does: 'open another channel for events (rdma_create_event_channel); ids that name none are on `default`',
  positional: { channel: one(NEW_CHANNEL) },
  options: {},
  async run({ channel }, stage) {
    await stage.channel(channel);
    return null;
  },
});

export const destroyEventChannel = operation({
  name: 'destroy-event-channel',
  does: 'close a channel that has no ids any more (rdma_destroy_event_channel)',
  positional: { channel: one(LAST_OF_CHANNEL) },
  options: {},
  async run({ channel }, stage) {
    await stage.closeChannel(channel);
    return null;
  },
});

export const createId = operation({
  name: 'create-id',
  does: 'make an id (rdma_create_id)',
  positional: { id: one(NEW_ID) },
  options: {
    ps: optionOr('--ps', choice(['tcp', 'udp', 'ib', 'ipoib'], 'SPACE'), 'tcp'),
    channel: optionOr('--channel', CHANNEL, DEFAULT_CHANNEL),
  },
  async run({ id, ps, channel }, stage) {
    const made = await (await stage.channel(channel)).createId(PORT_SPACES[ps]);
    await stage.add(id, made);
    return { port_space: ps, channel };
  },
});

export const destroyId = operation({
  name: 'destroy-id',
  does: 'end an id and what it has (rdma_destroy_id); what is left over is ended at the end of the script',
  positional: { id: one(LAST_OF_ID) },
  options: {},
  async run({ id }, stage) {
    await stage.destroy(id);
    return null;
  },
});

export const migrateId = operation({
  name: 'migrate-id',
  does: 'move an id to another channel (rdma_migrate_id); events that nobody took go along',
  positional: { id: one(ID), channel: one(CHANNEL) },
  options: {},
  async run({ id, channel }, stage) {
    await stage.id(id).migrate(await stage.channel(channel));
    return null;
  },
});

export const bind = operation({
  name: 'bind',
  does: 'bind an id to a local address (rdma_bind_addr); without a port the kernel chooses one',
  positional: { id: one(ID), address: one(ADDRESS) },
  options: {},
  async run({ id, address }, stage) {
    const found = stage.id(id);
    await found.bindAddr(await stage.address(address, 0));
    return addresses(found);
  },
});

function addresses(id: CmId) {
  const { local, peer, port } = id.route();
  return {
    local: local && addressJson(local),
    peer: peer && peer.port !== 0 ? addressJson(peer) : null,
    device: id.device()?.name ?? null,
    ib_port: port === 0 ? null : port,
  };
}

export const queryRoute = operation({
  name: 'query-route',
  does: 'what is known of the route: addresses and device (without a word), path records, or GIDs and P_Key',
  positional: { id: one(ID), what: optional(choice(['addr', 'path', 'gid'])) },
  options: {},
  async run({ id, what }, stage) {
    const found = stage.id(id);
    const { paths, sgid, dgid, pkey } = found.route();
    if (what === 'path') return { paths: paths.map((path) => ibvSaPathRec.toJson(path)) };
    if (what === 'gid') {
      const key = paths[0]?.pkey ?? pkey;
      return { sgid: gidText(sgid), dgid: gidText(dgid), pkey: `0x${key.toString(16).padStart(4, '0')}` };
    }
    return addresses(found);
  },
});

export const createQp = operation({
  name: 'create-qp',
  does: 'make a queue pair for an id, RC or UD (rdma_create_qp)',
  positional: { id: one(ID) },
  options: { srq: toggle('--srq') },
  async run({ id, srq }, stage) {
    const found = stage.id(id);
    const number = await found.createQp({ sharedReceiveQueue: srq });
    return { qp_num: number, type: found.isDatagram ? ('UD' as const) : ('RC' as const), srq };
  },
});

export const destroyQp = operation({
  name: 'destroy-qp',
  does: 'end the queue pair of an id (rdma_destroy_qp)',
  positional: { id: one(ID) },
  options: {},
  async run({ id }, stage) {
    await stage.id(id).destroyQp();
    return null;
  },
});

export const initQpAttr = operation({
  name: 'init-qp-attr',
  does: 'the attributes that move a queue pair into a state (rdma_init_qp_attr)',
  positional: { id: one(ID), state: one(enumerated(QpState, 'STATE')) },
  options: {},
  async run({ id, state }, stage) {
    return { qp_attr: ibUverbsQpAttr.toJson(await stage.id(id).initQpAttr(state)) };
  },
});

export const wait = operation({
  name: 'sleep',
  does: 'do nothing for a time',
  positional: { time: one(DURATION) },
  options: {},
  waits: true,
  async run({ time }, stage) {
    const { signal } = stage.environment;
    await sleep(time, undefined, signal === null ? {} : { signal });
    return null;
  },
});
