/** Records of subnet administration. IBTA volume 1, 15.2.5. A record's place is one with its components' order. */
import { Mtu, PathRate } from '../../abi/verbs-codes.ts';
import { bitRecord } from '../../layout/bits.ts';
import { JoinState, Selector } from '../codes.ts';
import { bytes, flags, gid, hex, named, number, numbers, text, wideHex, wideHexes } from '../field.ts';
import { nodeInfoFields, pKeyTableFields, portInfoFields, smInfoFields, switchInfoFields } from './subnet.ts';

const lid = number(0, 16, 'LID of the port that the record is of');

export const nodeRecord = bitRecord('NodeRecord', 108, {
  lid,
  ...nodeInfoFields(32),
  node_description: text(352, 64, 'what the administrator calls the node'),
});

const { lid: baseLid, ...portInfoRest } = portInfoFields(32);
export const portInfoRecord = bitRecord('PortInfoRecord', 68, {
  endport_lid: number(0, 16, 'LID of the end port; for a switch that of its port 0'),
  port_num: number(16, 8, 'port of a switch'),
  options: hex(24, 8, 'what the query matches'),
  ...portInfoRest,
  lid: baseLid,
});

export const switchInfoRecord = bitRecord('SwitchInfoRecord', 24, { lid, ...switchInfoFields(32) });

export const smInfoRecord = bitRecord('SMInfoRecord', 25, { lid, ...smInfoFields(32) });

export const linkRecord = bitRecord('LinkRecord', 6, {
  from_lid: number(0, 16, 'LID of one end'),
  from_port: number(16, 8, 'port of one end'),
  to_port: number(24, 8, 'port of the other end'),
  to_lid: number(32, 16, 'LID of the other end'),
});

export const pathRecord = bitRecord('PathRecord', 64, {
  service_id: wideHex(0, 'service that the path is for'),
  dgid: gid(64, 'GID of the destination'),
  sgid: gid(192, 'GID of the source'),
  dlid: number(320, 16, 'LID of the destination'),
  slid: number(336, 16, 'LID of the source'),
  raw_traffic: number(352, 1, '1: a path of raw packets'),
  flow_label: hex(356, 20, 'flow label'),
  hop_limit: number(376, 8, 'hop limit'),
  traffic_class: hex(384, 8, 'traffic class'),
  reversible: number(392, 1, '1: packets may go back the same way'),
  num_path: number(393, 7, 'paths wanted'),
  p_key: hex(400, 16, 'P_Key of the path'),
  qos_class: number(416, 12, 'quality-of-service class'),
  sl: number(428, 4, 'service level'),
  mtu_selector: named(432, 2, Selector, 'how the MTU is meant'),
  mtu: named(434, 6, Mtu, 'largest payload of the path, bytes'),
  rate_selector: named(440, 2, Selector, 'how the rate is meant'),
  rate: named(442, 6, PathRate, 'rate of the path'),
  packet_lifetime_selector: named(448, 2, Selector, 'how the lifetime is meant'),
  packet_lifetime: number(450, 6, 'time through the path, 4.096 us x 2^n'),
  preference: number(456, 8, 'the lower the better'),
});

export const mcMemberRecord = bitRecord('MCMemberRecord', 52, {
  mgid: gid(0, 'GID of the multicast group'),
  port_gid: gid(128, 'GID of the member'),
  q_key: hex(256, 32, 'Q_Key of the group'),
  mlid: hex(288, 16, 'LID of the group'),
  mtu_selector: named(304, 2, Selector, 'how the MTU is meant'),
  mtu: named(306, 6, Mtu, 'largest payload of the group, bytes'),
  traffic_class: hex(312, 8, 'traffic class'),
  p_key: hex(320, 16, 'P_Key of the group'),
  rate_selector: named(336, 2, Selector, 'how the rate is meant'),
  rate: named(338, 6, PathRate, 'rate of the group'),
  packet_lifetime_selector: named(344, 2, Selector, 'how the lifetime is meant'),
  packet_lifetime: number(346, 6, 'time through the group, 4.096 us x 2^n'),
  sl: number(352, 4, 'service level'),
  flow_label: hex(356, 20, 'flow label'),
  hop_limit: number(376, 8, 'hop limit'),
  scope: number(384, 4, 'scope of the GID'),
  join_state: flags(388, 4, JoinState, 'how the port is a member'),
  proxy_join: number(392, 1, '1: joined by another'),
});

export const serviceRecord = bitRecord('ServiceRecord', 176, {
  service_id: wideHex(0, 'the service'),
  service_gid: gid(64, 'GID of the port that has it'),
  service_p_key: hex(192, 16, 'P_Key to reach it with'),
  service_lease: number(224, 32, 'seconds that the record holds; 4294967295: for ever'),
  service_key: bytes(256, 16, 'key of its owner'),
  service_name: text(384, 64, 'name of the service'),
  service_data8: numbers(896, 16, 8, "the service's own, bytes"),
  service_data16: numbers(1024, 8, 16, "the service's own, 16 bits each"),
  service_data32: numbers(1152, 4, 32, "the service's own, 32 bits each"),
  service_data64: wideHexes(1280, 2, "the service's own, 64 bits each"),
});

export const informInfo = bitRecord('InformInfo', 36, {
  gid: gid(0, 'GID whose notices are wanted; 0: by LID'),
  lid_range_begin: hex(128, 16, 'first LID whose notices are wanted; 0xffff: all'),
  lid_range_end: hex(144, 16, 'last LID'),
  is_generic: number(176, 8, "1: traps of the IBTA; 0: a vendor's"),
  subscribe: number(184, 8, '1: subscribe; 0: no longer'),
  type: hex(192, 16, 'kind of notice; 0xffff: all'),
  trap_number: hex(208, 16, 'trap of the IBTA, or the device id; 0xffff: all'),
  qpn: hex(224, 24, 'queue pair that reports go to'),
  resp_time_value: number(251, 5, 'time to answer a report, 4.096 us x 2^n'),
  producer_type: hex(264, 24, 'node type, or the vendor; 0xffffff: all'),
});

export const pKeyTableRecord = bitRecord('P_KeyTableRecord', 72, {
  lid,
  block_num: number(16, 16, 'block of 32 P_Keys'),
  port_num: number(32, 8, 'port of a switch'),
  ...pKeyTableFields(64),
});

/**
 * The order of a record's components in the component mask: the first is bit 0; null is a reserved one. IBTA 15.2.5.
 * A field that stands twice has two bits.
 */
export const COMPONENTS: Readonly<Record<string, readonly (string | null)[]>> = {
  NodeRecord: ['lid', null, ...Object.keys(nodeInfoFields(0)), 'node_description'],
  PortInfoRecord: ['endport_lid', 'port_num', 'options', ...portInfoComponents()],
  SwitchInfoRecord: ['lid', null, ...switchInfoComponents()],
  SMInfoRecord: ['lid', null, ...Object.keys(smInfoFields(0))],
  LinkRecord: ['from_lid', 'from_port', 'to_port', 'to_lid'],
  PathRecord: [
    'service_id',
    'service_id',
    'dgid',
    'sgid',
    'dlid',
    'slid',
    'raw_traffic',
    null,
    ...pathRest(),
  ],
  MCMemberRecord: Object.keys(mcMemberRecord.fields),
  ServiceRecord: ['service_id', 'service_gid', 'service_p_key', null, ...serviceComponents()],
  P_KeyTableRecord: ['lid', 'block_num', 'port_num', null, 'p_keys'],
};

function portInfoComponents(): (string | null)[] {
  // Reserved components stand between those that are named here and the next.
  const reservedAfter = new Set([
    'm_key_protect_bits',
    'client_reregister',
    'subnet_timeout',
    'max_credit_hint',
    'link_speed_ext_supported',
  ]);
  // Added to what was reserved: it has no component of its own.
  return Object.keys(portInfoFields(0))
    .filter((name) => name !== 'multicast_pkey_trap_suppression')
    .flatMap((name) => (reservedAfter.has(name) ? [name, null] : [name]));
}

function switchInfoComponents(): (string | null)[] {
  return Object.keys(switchInfoFields(0)).flatMap((name) =>
    name === 'enhanced_port0' ? [name, null] : [name],
  );
}

function pathRest(): string[] {
  const names = Object.keys(pathRecord.fields);
  return names.slice(names.indexOf('flow_label'), names.indexOf('preference'));
}

function serviceComponents(): string[] {
  const each = (name: string, count: number): string[] => Array.from({ length: count }, () => name);
  return [
    ...['service_lease', 'service_key', 'service_name'],
    ...each('service_data8', 16),
    ...each('service_data16', 8),
    ...each('service_data32', 4),
    ...each('service_data64', 2),
  ];
}
