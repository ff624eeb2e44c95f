/** Messages of communication management: 232 bytes from byte 24. IBTA volume 1, 12.6 and 12.11. */
import { Mtu, PathRate } from '../../abi/verbs-codes.ts';
import { bitRecord } from '../../layout/bits.ts';
import { CmFailover, CmMessage, CmTransport, RejectReason, SidrStatus } from '../codes.ts';
import { bytes, gid, guid, hex, named, number, wideHex } from '../field.ts';

const DATA = 232;

const byte = (offset: number): number => offset * 8;
const localId = hex(0, 32, 'number that the sender has given the connection');
const remoteId = hex(32, 32, 'number that the receiver has given it');
const privateData = (offset: number) => ({
  private_data: bytes(byte(offset), DATA - offset, "the program's"),
});

const path = <P extends string>(prefix: P, what: string, offset: number) =>
  ({
    [`${prefix}_local_port_lid`]: number(byte(offset), 16, `LID of the sender, ${what} path`),
    [`${prefix}_remote_port_lid`]: number(byte(offset + 2), 16, `LID of the receiver, ${what} path`),
    [`${prefix}_local_port_gid`]: gid(byte(offset + 4), `GID of the sender, ${what} path`),
    [`${prefix}_remote_port_gid`]: gid(byte(offset + 20), `GID of the receiver, ${what} path`),
    [`${prefix}_flow_label`]: hex(byte(offset + 36), 20, `flow label, ${what} path`),
    [`${prefix}_packet_rate`]: named(byte(offset + 39) + 2, 6, PathRate, `rate, ${what} path`),
    [`${prefix}_traffic_class`]: hex(byte(offset + 40), 8, `traffic class, ${what} path`),
    [`${prefix}_hop_limit`]: number(byte(offset + 41), 8, `hop limit, ${what} path`),
    [`${prefix}_sl`]: number(byte(offset + 42), 4, `service level, ${what} path`),
    [`${prefix}_subnet_local`]: number(byte(offset + 42) + 4, 1, `1: ${what} path inside the subnet`),
    [`${prefix}_local_ack_timeout`]: number(
      byte(offset + 43),
      5,
      `time to acknowledge, ${what} path, 4.096 us x 2^n`,
    ),
  }) as const;

export const cmReq = bitRecord('REQ', DATA, {
  local_comm_id: localId,
  vendor_id: hex(byte(5), 24, 'vendor of the sender'),
  service_id: wideHex(byte(8), 'service asked for'),
  local_ca_guid: guid(byte(16), 'node GUID of the sender'),
  local_q_key: hex(byte(28), 32, 'Q_Key of the sender'),
  local_qpn: hex(byte(32), 24, 'queue pair of the sender'),
  responder_resources: number(byte(35), 8, 'RDMA reads that the sender takes at once'),
  local_eecn: hex(byte(36), 24, 'end-to-end context of the sender'),
  initiator_depth: number(byte(39), 8, 'RDMA reads that the sender starts at once'),
  remote_eecn: hex(byte(40), 24, 'end-to-end context of the receiver'),
  remote_cm_response_timeout: number(byte(43), 5, 'time to answer this, 4.096 us x 2^n'),
  transport_service_type: named(byte(43) + 5, 2, CmTransport, 'kind of connection'),
  end_to_end_flow_control: number(byte(43) + 7, 1, '1: the sender has flow control'),
  starting_psn: hex(byte(44), 24, 'first packet number of the sender'),
  local_cm_response_timeout: number(byte(47), 5, 'time that the sender takes to answer, 4.096 us x 2^n'),
  retry_count: number(byte(47) + 5, 3, 'times to send again; 7: no limit for RNR alone'),
  partition_key: hex(byte(48), 16, 'P_Key of the connection'),
  path_packet_payload_mtu: named(byte(50), 4, Mtu, 'largest payload, bytes'),
  rdc_exists: number(byte(50) + 4, 1, '1: an RD channel is there'),
  rnr_retry_count: number(
    byte(50) + 5,
    3,
    'times to send again to a receiver that is not ready; 7: for ever',
  ),
  max_cm_retries: number(byte(51), 4, 'times that messages are sent again'),
  srq: number(byte(51) + 4, 1, '1: the sender has a shared receive queue'),
  extended_transport_type: number(byte(51) + 5, 3, 'kind of connection where it is extended; 1: XRC'),
  ...path('primary', 'first', 52),
  ...path('alternate', 'other', 96),
  ...privateData(140),
});

export const cmMra = bitRecord('MRA', DATA, {
  local_comm_id: localId,
  remote_comm_id: remoteId,
  message_mraed: named(byte(8), 2, CmMessage, 'message that is acknowledged'),
  service_timeout: number(byte(9), 5, 'more time to answer, 4.096 us x 2^n'),
  ...privateData(10),
});

export const cmRej = bitRecord('REJ', DATA, {
  local_comm_id: localId,
  remote_comm_id: remoteId,
  message_rejected: named(byte(8), 2, CmMessage, 'message that is rejected'),
  reject_info_length: number(byte(9), 7, 'bytes of ari that count'),
  reason: named(byte(10), 16, RejectReason, 'why'),
  ari: bytes(byte(12), 72, 'additional reject information'),
  ...privateData(84),
});

export const cmRep = bitRecord('REP', DATA, {
  local_comm_id: localId,
  remote_comm_id: remoteId,
  local_q_key: hex(byte(8), 32, 'Q_Key of the sender'),
  local_qpn: hex(byte(12), 24, 'queue pair of the sender'),
  vendor_id_high: hex(byte(15), 8, 'vendor of the sender, first byte'),
  local_eecn: hex(byte(16), 24, 'end-to-end context of the sender'),
  vendor_id_middle: hex(byte(19), 8, 'vendor of the sender, second byte'),
  starting_psn: hex(byte(20), 24, 'first packet number of the sender'),
  vendor_id_low: hex(byte(23), 8, 'vendor of the sender, third byte'),
  responder_resources: number(byte(24), 8, 'RDMA reads that the sender takes at once'),
  initiator_depth: number(byte(25), 8, 'RDMA reads that the sender starts at once'),
  target_ack_delay: number(byte(26), 5, 'time to acknowledge, 4.096 us x 2^n'),
  failover_accepted: named(byte(26) + 5, 2, CmFailover, 'whether the other path was taken'),
  end_to_end_flow_control: number(byte(26) + 7, 1, '1: the sender has flow control'),
  rnr_retry_count: number(byte(27), 3, 'times to send again to a receiver that is not ready; 7: for ever'),
  srq: number(byte(27) + 3, 1, '1: the sender has a shared receive queue'),
  local_ca_guid: guid(byte(28), 'node GUID of the sender'),
  ...privateData(36),
});

const acknowledgement = { local_comm_id: localId, remote_comm_id: remoteId, ...privateData(8) } as const;

export const cmRtu = bitRecord('RTU', DATA, acknowledgement);

export const cmDreq = bitRecord('DREQ', DATA, {
  local_comm_id: localId,
  remote_comm_id: remoteId,
  remote_qpn_eecn: hex(byte(8), 24, 'queue pair of the receiver'),
  ...privateData(12),
});

export const cmDrep = bitRecord('DREP', DATA, acknowledgement);

const requestId = hex(0, 32, 'number of the request');

export const cmSidrReq = bitRecord('SIDR_REQ', DATA, {
  request_id: requestId,
  partition_key: hex(byte(4), 16, 'P_Key to answer with'),
  service_id: wideHex(byte(8), 'service asked for'),
  ...privateData(16),
});

export const cmSidrRep = bitRecord('SIDR_REP', DATA, {
  request_id: requestId,
  status: named(byte(4), 8, SidrStatus, 'whether the service is there'),
  additional_information_length: number(byte(5), 8, 'bytes of additional_information that count'),
  vendor_id_high: hex(byte(6), 16, 'vendor of the sender, first two bytes'),
  qpn: hex(byte(8), 24, 'queue pair of the service'),
  vendor_id_low: hex(byte(11), 8, 'vendor of the sender, third byte'),
  service_id: wideHex(byte(12), 'the service'),
  q_key: hex(byte(20), 32, 'Q_Key of the service'),
  additional_information: bytes(byte(24), 72, 'depends on the status'),
  ...privateData(96),
});
