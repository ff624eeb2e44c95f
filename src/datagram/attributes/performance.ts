/** Attributes of performance management, and those that every general class has. IBTA volume 1, 13.4.8 and 16.1. */
import { bitRecord } from '../../layout/bits.ts';
import { bytes, gid, hex, number, wideNumber } from '../field.ts';

const DATA = 192;

/** ClassPortInfo: 72 bytes in every class but subnet management. */
export const classPortInfo = bitRecord('ClassPortInfo', 72, {
  base_version: number(0, 8, 'version of the datagram format'),
  class_version: number(8, 8, 'version of the class'),
  capability_mask: hex(16, 16, 'what the class can do there; its meaning depends on the class'),
  capability_mask2: hex(32, 27, 'what the class can do there, continued'),
  resp_time_value: number(59, 5, 'time to answer, 4.096 us x 2^n'),
  redirect_gid: gid(64, 'where to send instead'),
  redirect_tc: hex(192, 8, 'traffic class to there'),
  redirect_sl: number(200, 4, 'service level to there'),
  redirect_fl: hex(204, 20, 'flow label to there'),
  redirect_lid: number(224, 16, 'LID of there; 0: by the GID'),
  redirect_p_key: hex(240, 16, 'P_Key to there'),
  redirect_qp: hex(264, 24, 'queue pair there'),
  redirect_q_key: hex(288, 32, 'Q_Key there'),
  trap_gid: gid(320, 'where traps of the class go'),
  trap_tc: hex(448, 8, 'traffic class to there'),
  trap_sl: number(456, 4, 'service level to there'),
  trap_fl: hex(460, 20, 'flow label to there'),
  trap_lid: number(480, 16, 'LID of there'),
  trap_p_key: hex(496, 16, 'P_Key to there'),
  trap_hop_limit: number(512, 8, 'hop limit to there'),
  trap_qp: hex(520, 24, 'queue pair there'),
  trap_q_key: hex(544, 32, 'Q_Key there'),
});

const select = {
  port_select: number(8, 8, 'port; 255: all'),
  counter_select: hex(16, 16, 'counters that a Set writes, a bit each'),
} as const;

export const portCounters = bitRecord('PortCounters', DATA, {
  ...select,
  symbol_error_counter: number(32, 16, 'minor link errors'),
  link_error_recovery_counter: number(48, 8, 'times that the link recovered by itself'),
  link_downed_counter: number(56, 8, 'times that it did not'),
  port_rcv_errors: number(64, 16, 'packets that arrived with an error'),
  port_rcv_remote_physical_errors: number(80, 16, 'packets that arrived marked bad'),
  port_rcv_switch_relay_errors: number(96, 16, 'packets that a switch could not forward'),
  port_xmit_discards: number(112, 16, 'packets that could not be sent'),
  port_xmit_constraint_errors: number(128, 8, 'packets not sent because of partitions or raw filters'),
  port_rcv_constraint_errors: number(136, 8, 'packets refused because of partitions or raw filters'),
  counter_select2: hex(144, 8, 'counters that a Set writes, continued'),
  local_link_integrity_errors: number(152, 4, 'times that local physical errors passed their threshold'),
  excessive_buffer_overrun_errors: number(156, 4, 'times that buffer overruns passed their threshold'),
  qp1_dropped: number(160, 16, 'packets to QP1 dropped for want of room'),
  vl15_dropped: number(176, 16, 'packets of VL15 dropped for want of room'),
  port_xmit_data: number(192, 32, 'data sent, units of 4 bytes'),
  port_rcv_data: number(224, 32, 'data received, units of 4 bytes'),
  port_xmit_pkts: number(256, 32, 'packets sent'),
  port_rcv_pkts: number(288, 32, 'packets received'),
  port_xmit_wait: number(320, 32, 'ticks with data to send and no credit'),
});

export const portCountersExtended = bitRecord('PortCountersExtended', DATA, {
  ...select,
  counter_select2: hex(32, 32, 'counters that a Set writes, continued'),
  port_xmit_data: wideNumber(64, 64, 'data sent, units of 4 bytes'),
  port_rcv_data: wideNumber(128, 64, 'data received, units of 4 bytes'),
  port_xmit_pkts: wideNumber(192, 64, 'packets sent'),
  port_rcv_pkts: wideNumber(256, 64, 'packets received'),
  port_unicast_xmit_pkts: wideNumber(320, 64, 'unicast packets sent'),
  port_unicast_rcv_pkts: wideNumber(384, 64, 'unicast packets received'),
  port_multicast_xmit_pkts: wideNumber(448, 64, 'multicast packets sent'),
  port_multicast_rcv_pkts: wideNumber(512, 64, 'multicast packets received'),
  symbol_error_counter: wideNumber(576, 64, 'minor link errors'),
  link_error_recovery_counter: wideNumber(640, 64, 'times that the link recovered by itself'),
  link_downed_counter: wideNumber(704, 64, 'times that it did not'),
  port_rcv_errors: wideNumber(768, 64, 'packets that arrived with an error'),
  port_rcv_remote_physical_errors: wideNumber(832, 64, 'packets that arrived marked bad'),
  port_rcv_switch_relay_errors: wideNumber(896, 64, 'packets that a switch could not forward'),
  port_xmit_discards: wideNumber(960, 64, 'packets that could not be sent'),
  port_xmit_constraint_errors: wideNumber(1024, 64, 'packets not sent because of partitions or raw filters'),
  port_rcv_constraint_errors: wideNumber(1088, 64, 'packets refused because of partitions or raw filters'),
  local_link_integrity_errors: wideNumber(
    1152,
    64,
    'times that local physical errors passed their threshold',
  ),
  excessive_buffer_overrun_errors: wideNumber(1216, 64, 'times that buffer overruns passed their threshold'),
  vl15_dropped: wideNumber(1280, 64, 'packets of VL15 dropped for want of room'),
  port_xmit_wait: wideNumber(1344, 64, 'ticks with data to send and no credit'),
  qp1_dropped: wideNumber(1408, 64, 'packets to QP1 dropped for want of room'),
});

export const portRcvErrorDetails = bitRecord('PortRcvErrorDetails', DATA, {
  ...select,
  port_local_physical_errors: number(32, 16, 'packets with a physical error of this link'),
  port_malformed_packet_errors: number(48, 16, 'packets with a wrong header or length'),
  port_buffer_overrun_errors: number(64, 16, 'packets that found no room'),
  port_dlid_mapping_errors: number(80, 16, 'packets whose LID has no port'),
  port_vl_mapping_errors: number(96, 16, 'packets whose service level has no lane'),
  port_looping_errors: number(112, 16, 'packets that would leave by the port that they came in by'),
});

export const portXmitDiscardDetails = bitRecord('PortXmitDiscardDetails', DATA, {
  ...select,
  port_inactive_discards: number(32, 16, 'packets dropped because the port was not active'),
  port_neighbor_mtu_discards: number(48, 16, "packets longer than the neighbor's MTU"),
  port_sw_lifetime_limit_discards: number(64, 16, 'packets that stayed too long in the switch'),
  port_sw_hoq_lifetime_limit_discards: number(80, 16, 'packets that headed a queue too long'),
});

/** Classes 0x09 to 0x4f have vendors' attributes: bytes. */
export const vendorData = (length: number) =>
  bitRecord('vendor data', length, { data: bytes(0, length, "the vendor's") });
