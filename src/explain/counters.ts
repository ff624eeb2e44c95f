/**
 * The counters that the kernel shows under ports/N/counters and hw_counters: unit, kind and meaning by name. Names and
 * units from the kernel's Documentation/ABI/stable/sysfs-class-infiniband and the drivers; widths from IBTA volume 1,
 * 16.1.3 (PortCounters).
 */

/**
 * What a counter tells of: `error`: something went wrong; `congestion`: someone had to wait, or was told to slow down;
 * `gauge`: how many there are at the moment, so that it also falls.
 */
export const COUNTER_KINDS = ['traffic', 'error', 'congestion', 'event', 'gauge', 'unknown'] as const;
export type CounterKind = (typeof COUNTER_KINDS)[number];

export const COUNTER_UNITS = [
  'bytes',
  'packets',
  'requests',
  'messages',
  'ticks',
  'events',
  'objects',
  'unknown',
] as const;
export type CounterUnit = (typeof COUNTER_UNITS)[number];

export interface CounterMeaning {
  readonly kind: CounterKind;
  readonly unit: CounterUnit;
  /** null: not known here. */
  readonly meaning: string | null;
  /** What the kernel counts in, where that is several bytes. */
  readonly bytesPerUnit?: 4;
  /**
   * Bits of the counter of the port, where it stops at the highest value in place of starting again. A port that has
   * more bits counts on.
   */
  readonly stopsAtBits?: 4 | 8 | 16 | 32;
}

/** Directories of counters. The kernel has those of the connection manager beside them. */
export const COUNTER_GROUPS = [
  'counters',
  'hw_counters',
  'cm_tx_msgs',
  'cm_tx_retries',
  'cm_rx_msgs',
  'cm_rx_duplicates',
] as const;
export type CounterGroup = (typeof COUNTER_GROUPS)[number];

const of =
  (kind: CounterKind, unit: CounterUnit) =>
  (meaning: string, more: Partial<CounterMeaning> = {}): CounterMeaning => ({ kind, unit, meaning, ...more });

const bytes = of('traffic', 'bytes');
const packets = of('traffic', 'packets');
const requests = of('traffic', 'requests');
const event = of('event', 'events');
const error = of('error', 'events');
const badPackets = of('error', 'packets');
const badRequests = of('error', 'requests');
const congestion = of('congestion', 'events');
const slowed = of('congestion', 'packets');
const gauge = of('gauge', 'objects');

const WORDS = { bytesPerUnit: 4 } as const;
const stops = (stopsAtBits: 4 | 8 | 16 | 32) => ({ stopsAtBits }) as const;

const KNOWN: Readonly<Record<string, CounterMeaning>> = {
  // IBTA PortCounters and PortCountersExtended, under the kernel's names
  symbol_error: error('minor link errors on a lane', stops(16)),
  link_error_recovery: error('times that the link recovered by itself', stops(8)),
  link_downed: error('times that the link went down', stops(8)),
  port_rcv_errors: badPackets('packets that arrived with an error', stops(16)),
  port_rcv_remote_physical_errors: badPackets('packets that arrived marked bad', stops(16)),
  port_rcv_switch_relay_errors: badPackets('packets that the switch could not forward', stops(16)),
  port_xmit_discards: badPackets('packets not sent: the port was down or congested', stops(16)),
  port_xmit_constraint_errors: badPackets('packets not sent: partition or raw filter', stops(8)),
  port_rcv_constraint_errors: badPackets('packets refused: partition or raw filter', stops(8)),
  local_link_integrity_errors: error('times that physical errors passed their threshold', stops(4)),
  excessive_buffer_overrun_errors: error('times that buffer overruns passed their threshold', stops(4)),
  VL15_dropped: badPackets('management packets dropped for want of room', stops(16)),
  port_xmit_data: bytes('data sent; the kernel counts words of 4 bytes', WORDS),
  port_rcv_data: bytes('data received; the kernel counts words of 4 bytes', WORDS),
  port_xmit_packets: packets('packets sent'),
  port_rcv_packets: packets('packets received'),
  unicast_xmit_packets: packets('unicast packets sent'),
  unicast_rcv_packets: packets('unicast packets received'),
  multicast_xmit_packets: packets('multicast packets sent'),
  multicast_rcv_packets: packets('multicast packets received'),
  port_xmit_wait: of('congestion', 'ticks')('ticks with data to send and no credit'),

  // AWS EFA
  tx_bytes: bytes('data sent'),
  rx_bytes: bytes('data received'),
  tx_pkts: packets('packets sent'),
  rx_pkts: packets('packets received'),
  rx_drops: badPackets('packets dropped on arrival'),
  send_bytes: bytes('data of send requests'),
  send_wrs: requests('send requests'),
  recv_bytes: bytes('data of receive requests'),
  recv_wrs: requests('receive requests that were filled'),
  rdma_read_wrs: requests('RDMA read requests'),
  rdma_read_bytes: bytes('data asked for by RDMA read'),
  rdma_read_wr_err: badRequests('RDMA read requests that failed'),
  rdma_read_resp_bytes: bytes('data sent in answer to RDMA read'),
  rdma_write_wrs: requests('RDMA write requests'),
  rdma_write_bytes: bytes('data of RDMA write requests'),
  rdma_write_wr_err: badRequests('RDMA write requests that failed'),
  rdma_write_recv_bytes: bytes('data that peers wrote here'),
  retrans_bytes: of('congestion', 'bytes')('data sent again (SRD)'),
  retrans_pkts: slowed('packets sent again (SRD)'),
  retrans_timeout_events: congestion('times that a packet was sent again for want of an answer'),
  unresponsive_remote_events: error('connections whose peer answered nothing'),
  impaired_remote_conn_events: error('connections whose peer answered badly'),
  submitted_cmds: of('event', 'requests')('commands given to the card'),
  completed_cmds: of('event', 'requests')('commands that the card has answered'),
  cmds_err: badRequests('commands that the card refused'),
  no_completion_cmds: badRequests('commands that the card never answered'),
  keep_alive_rcvd: of('event', 'messages')('signs of life of the card'),
  alloc_pd_err: badRequests('protection domains that could not be made'),
  create_qp_err: badRequests('queue pairs that could not be made'),
  create_cq_err: badRequests('completion queues that could not be made'),
  reg_mr_err: badRequests('memory regions that could not be registered'),
  alloc_ucontext_err: badRequests('contexts that could not be opened'),
  create_ah_err: badRequests('address handles that could not be made'),
  mmap_err: badRequests('mappings that could not be made'),

  // soft-RoCE (rxe)
  sent_pkts: packets('packets sent'),
  rcvd_pkts: packets('packets received'),
  duplicate_request: badPackets('requests that came twice: an answer of ours was lost or late'),
  out_of_seq_request: badPackets('requests out of sequence: a packet was lost'),
  rcvd_rnr_err: congestion('receiver-not-ready answers received: the peer had posted no receive'),
  send_rnr_err: congestion('receiver-not-ready answers sent: no receive was posted here'),
  rcvd_seq_err: error('sequence errors that the peer told of: a packet of ours was lost'),
  ack_deferred: event('answers put off to a task'),
  retry_exceeded_err: error('requests given up after all retries'),
  retry_rnr_exceeded_err: error('requests given up: the receiver was never ready'),
  completer_retry_err: error('requests begun again'),
  send_err: badPackets('packets that could not be sent'),
  rdma_sends: requests('messages sent'),
  rdma_recvs: requests('messages received'),

  // NVIDIA mlx5
  rx_write_requests: requests('RDMA write requests received'),
  rx_read_requests: requests('RDMA read requests received'),
  rx_atomic_requests: requests('atomic requests received'),
  rx_dct_connect: requests('connect requests to dynamically connected targets'),
  out_of_buffer: congestion('packets dropped: no receive was posted here'),
  out_of_sequence: badPackets('packets out of sequence: one was lost, or overtaken'),
  rnr_nak_retry_err: congestion('receiver-not-ready answers received'),
  packet_seq_err: error('sequence errors that the peer told of: a packet of ours was lost'),
  implied_nak_seq_err: error('answers that show that an earlier one was lost'),
  local_ack_timeout_err: error('times that no answer came in time'),
  resp_local_length_error: badRequests('requests longer than the receive that was posted'),
  resp_cqe_error: error('completions with an error, as responder'),
  req_cqe_error: error('completions with an error, as requester'),
  req_remote_invalid_request: badRequests('requests that the peer called invalid'),
  req_remote_access_errors: badRequests('requests that the peer refused access'),
  resp_remote_access_errors: badRequests('requests that were refused access here'),
  resp_cqe_flush_error: event('receives flushed as their queue pair ended'),
  req_cqe_flush_error: event('requests flushed as their queue pair ended'),
  req_transport_retries_exceeded: error('requests given up after all retries'),
  req_rnr_retries_exceeded: error('requests given up: the receiver was never ready'),
  roce_adp_retrans: congestion('packets sent again by adaptive retransmission'),
  roce_adp_retrans_to: congestion('timeouts of adaptive retransmission'),
  roce_slow_restart: congestion('times that slow restart began'),
  roce_slow_restart_cnps: congestion('congestion notifications sent for slow restart'),
  roce_slow_restart_trans: congestion('changes of state of slow restart'),
  rp_cnp_ignored: slowed('congestion notifications ignored'),
  rp_cnp_handled: slowed('congestion notifications obeyed: this port sent more slowly'),
  np_ecn_marked_roce_packets: slowed('packets that the network marked: congestion on the way here'),
  np_cnp_sent: slowed('congestion notifications sent to peers'),
  rx_icrc_encapsulated: badPackets('RoCE packets with a bad checksum'),
  cc_rx_ce_pkts: slowed('packets that the network marked'),
  cc_rx_cnp_pkts: slowed('congestion notifications received'),
  cc_tx_cnp_pkts: slowed('congestion notifications sent'),
  rdma_tx_packets: packets('RDMA packets sent'),
  rdma_tx_bytes: bytes('RDMA data sent'),
  rdma_rx_packets: packets('RDMA packets received'),
  rdma_rx_bytes: bytes('RDMA data received'),

  // Broadcom bnxt_re
  active_pds: gauge('protection domains there are'),
  active_ahs: gauge('address handles there are'),
  active_qps: gauge('queue pairs there are'),
  active_srqs: gauge('shared receive queues there are'),
  active_cqs: gauge('completion queues there are'),
  active_mrs: gauge('memory regions there are'),
  active_mws: gauge('memory windows there are'),
  recoverable_errors: error('errors that the card mended'),
  rx_roce_errors: badPackets('packets that arrived with an error'),
  rx_roce_discards: badPackets('packets discarded on arrival'),
  to_retransmits: congestion('packets sent again for want of an answer'),
  seq_err_naks_rcvd: error('sequence errors that the peer told of'),
  max_retry_exceeded: error('requests given up after all retries'),
  rnr_naks_rcvd: congestion('receiver-not-ready answers received'),
  missing_resp: error('answers that were missed'),
  dup_req: badPackets('requests that came twice'),
  oos_drop_count: badPackets('packets dropped: out of sequence'),
  rx_out_of_buffer: congestion('packets dropped: no receive was posted here'),
  rx_roce_good_pkts: packets('good packets received'),
  rx_roce_good_bytes: bytes('data of good packets received'),

  // Intel irdma and i40iw
  ip4InOctets: bytes('IPv4 data received'),
  ip4OutOctets: bytes('IPv4 data sent'),
  ip6InOctets: bytes('IPv6 data received'),
  ip6OutOctets: bytes('IPv6 data sent'),
  ip4InDiscards: badPackets('IPv4 packets discarded on arrival'),
  ip6InDiscards: badPackets('IPv6 packets discarded on arrival'),
  ip4OutNoRoutes: badPackets('IPv4 packets without a route'),
  ip6OutNoRoutes: badPackets('IPv6 packets without a route'),
  rxVlanErrors: badPackets('packets with a wrong VLAN'),
  tcpRetransSegs: slowed('TCP segments sent again'),
  cnpHandled: slowed('congestion notifications obeyed'),
  cnpIgnored: slowed('congestion notifications ignored'),
  cnpSent: slowed('congestion notifications sent'),
  RxECNMrkd: slowed('packets that the network marked'),
};

/** Connection management messages, by the kernel's names of them. IBTA volume 1, 12.6. */
const CM_MESSAGES: Readonly<Record<string, string>> = {
  req: 'connect requests (REQ)',
  mra: 'pleas for patience (MRA)',
  rej: 'rejections (REJ)',
  rep: 'connect replies (REP)',
  rtu: 'ready-to-use messages (RTU)',
  dreq: 'disconnect requests (DREQ)',
  drep: 'disconnect replies (DREP)',
  sidr_req: 'datagram service requests (SIDR_REQ)',
  sidr_rep: 'datagram service replies (SIDR_REP)',
  lap: 'requests to load another path (LAP)',
  apr: 'answers to them (APR)',
};

const CM_GROUPS: Readonly<Record<string, { readonly kind: CounterKind; readonly did: string }>> = {
  cm_tx_msgs: { kind: 'traffic', did: 'sent' },
  cm_tx_retries: { kind: 'congestion', did: 'sent again: no answer came in time' },
  cm_rx_msgs: { kind: 'traffic', did: 'received' },
  cm_rx_duplicates: { kind: 'congestion', did: 'that came twice' },
};

/** What a counter counts. One that is not known here is told by how its name ends, and has no meaning. */
export function explainCounter(group: CounterGroup, name: string): CounterMeaning {
  const cm = CM_GROUPS[group];
  if (cm !== undefined) {
    const message = Object.hasOwn(CM_MESSAGES, name) ? CM_MESSAGES[name] : undefined;
    return {
      kind: cm.kind,
      unit: 'messages',
      meaning: message === undefined ? null : `${message} ${cm.did}`,
    };
  }
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  if (known !== undefined) {
    const { stopsAtBits: _, ...counted } = known;
    // A driver's own counters of these names do not stop.
    return group === 'counters' ? known : counted;
  }
  // mlx5 has them for a virtual port too.
  if (name.startsWith('vport_')) return explainCounter(group, name.slice('vport_'.length));
  return { kind: kindByName(name), unit: unitByName(name), meaning: null };
}

function unitByName(name: string): CounterUnit {
  if (/bytes|octets/i.test(name)) return 'bytes';
  if (/packets|pkts/i.test(name)) return 'packets';
  return 'unknown';
}

function kindByName(name: string): CounterKind {
  if (/^active_/.test(name)) return 'gauge';
  if (/cnp|ecn|cong|retrans|rnr|pause/i.test(name)) return 'congestion';
  if (
    /err|fail|drop|discard|exceed|timeout|invalid|bad_|trunc|oflow|overrun|mismatch|no_perm|^res_/i.test(name)
  ) {
    return 'error';
  }
  if (/bytes|octets|packets|pkts/i.test(name)) return 'traffic';
  return 'unknown';
}
