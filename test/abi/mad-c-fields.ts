/**
 * What independent C code reads from the bytes `b` of each attribute: libibmad's field functions (L: up to 32
 * bits, W: 64, A: a run of bytes) and the structures of opensm's ib_types.h (S: big-endian members of 16, 32, 64 bits).
 * H is a run of bytes. Fields in the order of our tables; what a table has besides is listed in ONLY_OURS.
 */
type Expressions = Readonly<Record<string, string>>;

const fieldsOf = (prefix: string, names: Expressions): Expressions =>
  Object.fromEntries(Object.entries(names).map(([ours, theirs]) => [ours, theirs.replace('@', prefix)]));

const L = (name: string): string => `mad_get_field(b, @, IB_${name}_F)`;
const W = (name: string): string => `mad_get_field64(b, @, IB_${name}_F)`;

const at = (base: number, expressions: Expressions): Expressions => fieldsOf(String(base), expressions);

const nodeInfo: Expressions = {
  base_version: L('NODE_BASE_VERS'),
  class_version: L('NODE_CLASS_VERS'),
  node_type: L('NODE_TYPE'),
  num_ports: L('NODE_NPORTS'),
  system_image_guid: W('NODE_SYSTEM_GUID'),
  node_guid: W('NODE_GUID'),
  port_guid: W('NODE_PORT_GUID'),
  partition_cap: L('NODE_PARTITION_CAP'),
  device_id: L('NODE_DEVID'),
  revision: L('NODE_REVISION'),
  local_port_num: L('NODE_LOCAL_PORT'),
  vendor_id: L('NODE_VENDORID'),
};

const switchInfo: Expressions = {
  linear_fdb_cap: L('SW_LINEAR_FDB_CAP'),
  random_fdb_cap: L('SW_RANDOM_FDB_CAP'),
  multicast_fdb_cap: L('SW_MCAST_FDB_CAP'),
  linear_fdb_top: L('SW_LINEAR_FDB_TOP'),
  default_port: L('SW_DEF_PORT'),
  default_multicast_primary_port: L('SW_DEF_MCAST_PRIM'),
  default_multicast_not_primary_port: L('SW_DEF_MCAST_NOT_PRIM'),
  lifetime_value: L('SW_LIFE_TIME'),
  port_state_change: L('SW_STATE_CHANGE'),
  optimized_sl_to_vl_mapping_programming: L('SW_OPT_SLTOVL_MAPPING'),
  lids_per_port: L('SW_LIDS_PER_PORT'),
  partition_enforcement_cap: L('SW_PARTITION_ENFORCE_CAP'),
  inbound_enforcement_cap: L('SW_PARTITION_ENF_INB'),
  outbound_enforcement_cap: L('SW_PARTITION_ENF_OUTB'),
  filter_raw_inbound_cap: L('SW_FILTER_RAW_INB'),
  filter_raw_outbound_cap: L('SW_FILTER_RAW_OUTB'),
  enhanced_port0: L('SW_ENHANCED_PORT0'),
  multicast_fdb_top: L('SW_MCAST_FDB_TOP'),
};

const portInfo: Expressions = {
  m_key: W('PORT_MKEY'),
  gid_prefix: W('PORT_GID_PREFIX'),
  lid: L('PORT_LID'),
  master_sm_lid: L('PORT_SMLID'),
  capability_mask: L('PORT_CAPMASK'),
  diag_code: L('PORT_DIAG'),
  m_key_lease_period: L('PORT_MKEY_LEASE'),
  local_port_num: L('PORT_LOCAL_PORT'),
  link_width_enabled: L('PORT_LINK_WIDTH_ENABLED'),
  link_width_supported: L('PORT_LINK_WIDTH_SUPPORTED'),
  link_width_active: L('PORT_LINK_WIDTH_ACTIVE'),
  link_speed_supported: L('PORT_LINK_SPEED_SUPPORTED'),
  port_state: L('PORT_STATE'),
  port_physical_state: L('PORT_PHYS_STATE'),
  link_down_default_state: L('PORT_LINK_DOWN_DEF'),
  m_key_protect_bits: L('PORT_MKEY_PROT_BITS'),
  lmc: L('PORT_LMC'),
  link_speed_active: L('PORT_LINK_SPEED_ACTIVE'),
  link_speed_enabled: L('PORT_LINK_SPEED_ENABLED'),
  neighbor_mtu: L('PORT_NEIGHBOR_MTU'),
  master_sm_sl: L('PORT_SMSL'),
  vl_cap: L('PORT_VL_CAP'),
  init_type: L('PORT_INIT_TYPE'),
  vl_high_limit: L('PORT_VL_HIGH_LIMIT'),
  vl_arbitration_high_cap: L('PORT_VL_ARBITRATION_HIGH_CAP'),
  vl_arbitration_low_cap: L('PORT_VL_ARBITRATION_LOW_CAP'),
  init_type_reply: L('PORT_INIT_TYPE_REPLY'),
  mtu_cap: L('PORT_MTU_CAP'),
  vl_stall_count: L('PORT_VL_STALL_COUNT'),
  hoq_life: L('PORT_HOQ_LIFE'),
  operational_vls: L('PORT_OPER_VLS'),
  partition_enforcement_inbound: L('PORT_PART_EN_INB'),
  partition_enforcement_outbound: L('PORT_PART_EN_OUTB'),
  filter_raw_inbound: L('PORT_FILTER_RAW_INB'),
  filter_raw_outbound: L('PORT_FILTER_RAW_OUTB'),
  m_key_violations: L('PORT_MKEY_VIOL'),
  p_key_violations: L('PORT_PKEY_VIOL'),
  q_key_violations: L('PORT_QKEY_VIOL'),
  guid_cap: L('PORT_GUID_CAP'),
  client_reregister: L('PORT_CLIENT_REREG'),
  multicast_pkey_trap_suppression: L('PORT_MCAST_PKEY_SUPR_ENAB'),
  subnet_timeout: L('PORT_SUBN_TIMEOUT'),
  resp_time_value: L('PORT_RESP_TIME_VAL'),
  local_phy_errors: L('PORT_LOCAL_PHYS_ERR'),
  overrun_errors: L('PORT_OVERRUN_ERR'),
  max_credit_hint: L('PORT_MAX_CREDIT_HINT'),
  link_round_trip_latency: L('PORT_LINK_ROUND_TRIP'),
  capability_mask2: L('PORT_CAPMASK2'),
  link_speed_ext_active: L('PORT_LINK_SPEED_EXT_ACTIVE'),
  link_speed_ext_supported: L('PORT_LINK_SPEED_EXT_SUPPORTED'),
  link_speed_ext_enabled: L('PORT_LINK_SPEED_EXT_ENABLED'),
};

const smInfo: Expressions = {
  guid: W('SMINFO_GUID'),
  sm_key: W('SMINFO_KEY'),
  act_count: L('SMINFO_ACT'),
  priority: L('SMINFO_PRIO'),
  sm_state: L('SMINFO_STATE'),
};

const notice: Expressions = {
  is_generic: L('NOTICE_IS_GENERIC'),
  type: L('NOTICE_TYPE'),
  producer_type: L('NOTICE_PRODUCER'),
  trap_number: L('NOTICE_TRAP_NUMBER'),
  issuer_lid: L('NOTICE_ISSUER_LID'),
  notice_toggle: L('NOTICE_TOGGLE'),
  notice_count: L('NOTICE_COUNT'),
  data_details: 'H(((ib_mad_notice_attr_t *)b)->data_details.raw_data.details, 54)',
};

const details = (which: string, member: string, bits = 16): string => {
  const value = `((ib_mad_notice_attr_t *)b)->data_details.${which}.${member}`;
  return bits === 8 ? value : `cl_ntoh${bits}(${value})`;
};
const rawDetails = (which: string, member: string, length = 16): string =>
  `H(((ib_mad_notice_attr_t *)b)->data_details.${which}.${member}, ${length})`;

const bothEnds = (which: string): Expressions => ({
  lid1: details(which, 'lid1'),
  lid2: details(which, 'lid2'),
  qp2: `${details(which, 'qp2', 32)} & 0xffffff`,
  gid1: rawDetails(which, 'gid1.raw'),
  gid2: rawDetails(which, 'gid2.raw'),
});

/** The details of subnet management's traps, by their numbers. */
const TRAPS: Readonly<Record<string, Expressions>> = {
  '64,65': { gid: rawDetails('ntc_64_67', 'gid.raw') },
  '66,67': { mgid: rawDetails('ntc_64_67', 'gid.raw') },
  '128': { lid: details('ntc_128', 'sw_lid') },
  '129,130,131': { lid: details('ntc_129_131', 'lid'), port_num: details('ntc_129_131', 'port_num', 8) },
  '144': {
    lid: details('ntc_144', 'lid'),
    other_local_changes: `${details('ntc_144', 'local_changes', 8)} & TRAP_144_MASK_OTHER_LOCAL_CHANGES`,
    capability_mask: details('ntc_144', 'new_cap_mask', 32),
    change_flags: details('ntc_144', 'change_flgs'),
    capability_mask2: details('ntc_144', 'cap_mask2'),
  },
  '145': { lid: details('ntc_145', 'lid'), system_image_guid: details('ntc_145', 'new_sys_guid', 64) },
  '256': {
    lid: details('ntc_256', 'lid'),
    dr_slid: details('ntc_256', 'dr_slid'),
    method: details('ntc_256', 'method', 8),
    attribute_id: details('ntc_256', 'attr_id'),
    attribute_modifier: details('ntc_256', 'attr_mod', 32),
    m_key: details('ntc_256', 'mkey', 64),
    // libibmad has names for the three parts of that byte.
    dr_notice: `${details('ntc_256', 'dr_trunc_hop', 8)} >> 7`,
    dr_path_truncated: `(${details('ntc_256', 'dr_trunc_hop', 8)} >> 6) & 1`,
    dr_hop_count: `${details('ntc_256', 'dr_trunc_hop', 8)} & 0x3f`,
    dr_notice_return_path: rawDetails('ntc_256', 'dr_rtn_path', 30),
  },
  '257,258': {
    ...bothEnds('ntc_257_258'),
    key: details('ntc_257_258', 'key', 32),
    sl: `${details('ntc_257_258', 'qp1', 32)} >> 28`,
    qp1: `${details('ntc_257_258', 'qp1', 32)} & 0xffffff`,
  },
  '259': {
    ...bothEnds('ntc_259'),
    data_valid: details('ntc_259', 'data_valid'),
    p_key: details('ntc_259', 'pkey'),
    sl: `${details('ntc_259', 'sl_qp1', 32)} >> 28`,
    qp1: `${details('ntc_259', 'sl_qp1', 32)} & 0xffffff`,
    switch_lid: details('ntc_259', 'sw_lid'),
    port_num: details('ntc_259', 'port_no', 8),
  },
};

/** The details of general classes' traps. */
const GENERAL_TRAPS: Readonly<Record<string, Expressions>> = {
  '259': {
    lid: details('ntc_bkey_259', 'lidaddr'),
    method: details('ntc_bkey_259', 'method', 8),
    attribute_id: details('ntc_bkey_259', 'attribute_id'),
    attribute_modifier: details('ntc_bkey_259', 'attribute_modifier', 32),
    qp: `${details('ntc_bkey_259', 'qp', 32)} & 0xffffff`,
    b_key: details('ntc_bkey_259', 'bkey', 64),
    gid: rawDetails('ntc_bkey_259', 'gid.raw'),
  },
  '0': {
    slid: details('ntc_cckey_0', 'slid'),
    method: details('ntc_cckey_0', 'method', 8),
    attribute_id: details('ntc_cckey_0', 'attribute_id'),
    attribute_modifier: details('ntc_cckey_0', 'attribute_modifier', 32),
    qp: `${details('ntc_cckey_0', 'qp', 32)} & 0xffffff`,
    cc_key: details('ntc_cckey_0', 'cc_key', 64),
    gid: rawDetails('ntc_cckey_0', 'source_gid.raw'),
  },
};

const { data_details: _, ...noticeHead } = notice;
const ISSUER: Expressions = { issuer_gid: 'H(((ib_mad_notice_attr_t *)b)->issuer_gid.raw, 16)' };

/** Notices whose details are known: by family, name and trap numbers. */
const noticeForms = (
  family: string,
  traps: Readonly<Record<string, Expressions>>,
  behind: Expressions,
): Record<string, Expressions> =>
  Object.fromEntries(
    Object.entries(traps).map(([numbers, fields]) => [
      `${family}/Notice of trap ${numbers}`,
      { ...at(0, noticeHead), ...fields, ...behind },
    ]),
  );

const select = (prefix: string): Expressions => ({
  port_select: L(`${prefix}_PORT_SELECT`),
  counter_select: L(`${prefix}_COUNTER_SELECT`),
});

const EXTENDED = [
  ...['XMT_BYTES', 'RCV_BYTES', 'XMT_PKTS', 'RCV_PKTS', 'XMT_UPKTS', 'RCV_UPKTS', 'XMT_MPKTS', 'RCV_MPKTS'],
  ...['ERR_SYM', 'LINK_RECOVERS', 'LINK_DOWNED', 'ERR_RCV', 'ERR_PHYSRCV', 'ERR_SWITCH_REL', 'XMT_DISCARDS'],
  ...['ERR_XMTCONSTR', 'ERR_RCVCONSTR', 'ERR_LOCALINTEG', 'ERR_EXCESS_OVR', 'VL15_DROPPED', 'XMT_WAIT'],
  'QP1_DROP',
];
const EXTENDED_OURS = [
  ...['port_xmit_data', 'port_rcv_data', 'port_xmit_pkts', 'port_rcv_pkts', 'port_unicast_xmit_pkts'],
  ...['port_unicast_rcv_pkts', 'port_multicast_xmit_pkts', 'port_multicast_rcv_pkts', 'symbol_error_counter'],
  ...[
    'link_error_recovery_counter',
    'link_downed_counter',
    'port_rcv_errors',
    'port_rcv_remote_physical_errors',
  ],
  ...['port_rcv_switch_relay_errors', 'port_xmit_discards', 'port_xmit_constraint_errors'],
  ...['port_rcv_constraint_errors', 'local_link_integrity_errors', 'excessive_buffer_overrun_errors'],
  ...['vl15_dropped', 'port_xmit_wait', 'qp1_dropped'],
];

const path = '((ib_path_rec_t *)b)';
const member = '((ib_member_rec_t *)b)';
const service = '((ib_service_record_t *)b)';
const inform = '((ib_inform_info_t *)b)';
const classInfo = '((ib_class_port_info_t *)b)';
const counters = '((ib_port_counters_t *)b)';
const pkeys = '((ib_pkey_table_record_t *)b)';
const list = (length: number, element: (index: number) => string): string =>
  Array.from({ length }, (_, index) => element(index)).join(' ; ');

/** By `family/name`. Several expressions with `;` between them are the elements of a list. */
export const C_FIELDS: Readonly<Record<string, Expressions>> = {
  'subnet/Notice': at(0, notice),
  'administration/Notice': { ...at(0, notice), ...ISSUER },
  'general/Notice': { ...at(0, notice), ...ISSUER },
  ...noticeForms('subnet', TRAPS, {}),
  ...noticeForms('administration', TRAPS, ISSUER),
  ...noticeForms('general', GENERAL_TRAPS, ISSUER),
  'subnet/NodeInfo': at(0, nodeInfo),
  'subnet/SwitchInfo': at(0, switchInfo),
  'subnet/PortInfo': at(0, portInfo),
  'subnet/SMInfo': at(0, smInfo),
  'subnet/GUIDInfo': { guids: list(8, (i) => `mad_get_field64(b, 0, IB_GI_GUID${i}_F)`) },
  'subnet/P_KeyTable': {
    p_keys: list(32, (i) => `cl_ntoh16(((ib_pkey_table_t *)b)->pkey_entry[${i}])`),
  },
  'subnet/SLtoVLMappingTable': {
    vls: list(16, (i) => `ib_slvl_table_get((ib_slvl_table_t *)b, ${i})`),
  },
  'subnet/VLArbitrationTable': {
    elements: list(
      64,
      (i) => `((ib_vl_arb_table_t *)b)->vl_entry[${i >> 1}].${i % 2 === 0 ? 'vl & 0xf' : 'weight'}`,
    ),
  },
  'subnet/LinearForwardingTable': { ports: list(64, (i) => `b[${i}]`) },
  'subnet/MulticastForwardingTable': { port_masks: list(32, (i) => `cl_ntoh16(((ib_net16_t *)b)[${i}])`) },
  'general/ClassPortInfo': {
    ...at(0, {
      base_version: L('CPI_BASEVER'),
      class_version: L('CPI_CLASSVER'),
      capability_mask: L('CPI_CAPMASK'),
      capability_mask2: L('CPI_CAPMASK2'),
      resp_time_value: L('CPI_RESP_TIME_VALUE'),
      redirect_tc: L('CPI_REDIRECT_TC'),
      redirect_sl: L('CPI_REDIRECT_SL'),
      redirect_fl: L('CPI_REDIRECT_FL'),
      redirect_lid: L('CPI_REDIRECT_LID'),
      redirect_p_key: L('CPI_REDIRECT_PKEY'),
      redirect_qp: L('CPI_REDIRECT_QP'),
      redirect_q_key: L('CPI_REDIRECT_QKEY'),
      trap_tc: L('CPI_TRAP_TC'),
      trap_sl: L('CPI_TRAP_SL'),
      trap_fl: L('CPI_TRAP_FL'),
      trap_lid: L('CPI_TRAP_LID'),
      trap_p_key: L('CPI_TRAP_PKEY'),
      trap_hop_limit: L('CPI_TRAP_HL'),
      trap_qp: L('CPI_TRAP_QP'),
      trap_q_key: L('CPI_TRAP_QKEY'),
    }),
    redirect_gid: `H(${classInfo}->redir_gid.raw, 16)`,
    trap_gid: `H(${classInfo}->trap_gid.raw, 16)`,
  },
  'performance/PortCounters': {
    ...at(0, {
      ...select('PC'),
      symbol_error_counter: L('PC_ERR_SYM'),
      link_error_recovery_counter: L('PC_LINK_RECOVERS'),
      link_downed_counter: L('PC_LINK_DOWNED'),
      port_rcv_errors: L('PC_ERR_RCV'),
      port_rcv_remote_physical_errors: L('PC_ERR_PHYSRCV'),
      port_rcv_switch_relay_errors: L('PC_ERR_SWITCH_REL'),
      port_xmit_discards: L('PC_XMT_DISCARDS'),
      port_xmit_constraint_errors: L('PC_ERR_XMTCONSTR'),
      port_rcv_constraint_errors: L('PC_ERR_RCVCONSTR'),
      counter_select2: L('PC_COUNTER_SELECT2'),
      local_link_integrity_errors: L('PC_ERR_LOCALINTEG'),
      excessive_buffer_overrun_errors: L('PC_ERR_EXCESS_OVR'),
      vl15_dropped: L('PC_VL15_DROPPED'),
      port_xmit_data: L('PC_XMT_BYTES'),
      port_rcv_data: L('PC_RCV_BYTES'),
      port_xmit_pkts: L('PC_XMT_PKTS'),
      port_rcv_pkts: L('PC_RCV_PKTS'),
      port_xmit_wait: L('PC_XMT_WAIT'),
    }),
    // libibmad reads VL15Dropped in its place.
    qp1_dropped: `cl_ntoh16(${counters}->qp1_dropped)`,
  },
  'performance/PortCountersExtended': {
    ...at(0, { ...select('PC_EXT'), counter_select2: L('PC_EXT_COUNTER_SELECT2') }),
    ...at(0, Object.fromEntries(EXTENDED_OURS.map((ours, index) => [ours, W(`PC_EXT_${EXTENDED[index]}`)]))),
  },
  'performance/PortRcvErrorDetails': at(0, {
    ...select('PC'),
    port_local_physical_errors: L('PC_RCV_LOCAL_PHY_ERR'),
    port_malformed_packet_errors: L('PC_RCV_MALFORMED_PKT_ERR'),
    port_buffer_overrun_errors: L('PC_RCV_BUF_OVR_ERR'),
    port_dlid_mapping_errors: L('PC_RCV_DLID_MAP_ERR'),
    port_vl_mapping_errors: L('PC_RCV_VL_MAP_ERR'),
    port_looping_errors: L('PC_RCV_LOOPING_ERR'),
  }),
  'performance/PortXmitDiscardDetails': at(0, {
    ...select('PC'),
    port_inactive_discards: L('PC_XMT_INACT_DISC'),
    port_neighbor_mtu_discards: L('PC_XMT_NEIGH_MTU_DISC'),
    port_sw_lifetime_limit_discards: L('PC_XMT_SW_LIFE_DISC'),
    port_sw_hoq_lifetime_limit_discards: L('PC_XMT_SW_HOL_DISC'),
  }),
  'administration/NodeRecord': { lid: 'cl_ntoh16(((ib_node_record_t *)b)->lid)', ...at(4, nodeInfo) },
  'administration/PortInfoRecord': {
    endport_lid: 'cl_ntoh16(((ib_portinfo_record_t *)b)->lid)',
    port_num: '((ib_portinfo_record_t *)b)->port_num',
    options: '((ib_portinfo_record_t *)b)->options',
    ...at(4, portInfo),
  },
  'administration/SwitchInfoRecord': {
    lid: 'cl_ntoh16(((ib_switch_info_record_t *)b)->lid)',
    ...at(4, switchInfo),
  },
  'administration/SMInfoRecord': { lid: 'cl_ntoh16(((ib_sminfo_record_t *)b)->lid)', ...at(4, smInfo) },
  'administration/LinkRecord': {
    from_lid: 'cl_ntoh16(((ib_link_record_t *)b)->from_lid)',
    from_port: '((ib_link_record_t *)b)->from_port_num',
    to_port: '((ib_link_record_t *)b)->to_port_num',
    to_lid: 'cl_ntoh16(((ib_link_record_t *)b)->to_lid)',
  },
  'administration/PathRecord': {
    service_id: `cl_ntoh64(${path}->service_id)`,
    dgid: `H(${path}->dgid.raw, 16)`,
    sgid: `H(${path}->sgid.raw, 16)`,
    dlid: `cl_ntoh16(${path}->dlid)`,
    slid: `cl_ntoh16(${path}->slid)`,
    raw_traffic: `cl_ntoh32(${path}->hop_flow_raw) >> 31`,
    flow_label: `ib_path_rec_flow_lbl(${path})`,
    hop_limit: `ib_path_rec_hop_limit(${path})`,
    traffic_class: `${path}->tclass`,
    reversible: `${path}->num_path >> 7`,
    num_path: `ib_path_rec_num_path(${path})`,
    p_key: `cl_ntoh16(${path}->pkey)`,
    qos_class: `ib_path_rec_qos_class(${path})`,
    sl: `ib_path_rec_sl(${path})`,
    mtu_selector: `ib_path_rec_mtu_sel(${path})`,
    mtu: `ib_path_rec_mtu(${path})`,
    rate_selector: `ib_path_rec_rate_sel(${path})`,
    rate: `ib_path_rec_rate(${path})`,
    packet_lifetime_selector: `ib_path_rec_pkt_life_sel(${path})`,
    packet_lifetime: `ib_path_rec_pkt_life(${path})`,
    preference: `${path}->preference`,
  },
  'administration/MCMemberRecord': {
    mgid: `H(${member}->mgid.raw, 16)`,
    port_gid: `H(${member}->port_gid.raw, 16)`,
    q_key: `cl_ntoh32(${member}->qkey)`,
    mlid: `cl_ntoh16(${member}->mlid)`,
    mtu_selector: `${member}->mtu >> 6`,
    mtu: `${member}->mtu & 0x3f`,
    traffic_class: `${member}->tclass`,
    p_key: `cl_ntoh16(${member}->pkey)`,
    rate_selector: `${member}->rate >> 6`,
    rate: `${member}->rate & 0x3f`,
    packet_lifetime_selector: `${member}->pkt_life >> 6`,
    packet_lifetime: `${member}->pkt_life & 0x3f`,
    sl: `({ uint8_t v; ib_member_get_sl_flow_hop(${member}->sl_flow_hop, &v, NULL, NULL); v; })`,
    flow_label: `({ uint32_t v; ib_member_get_sl_flow_hop(${member}->sl_flow_hop, NULL, &v, NULL); v; })`,
    hop_limit: `({ uint8_t v; ib_member_get_sl_flow_hop(${member}->sl_flow_hop, NULL, NULL, &v); v; })`,
    scope: `({ uint8_t v; ib_member_get_scope_state(${member}->scope_state, &v, NULL); v; })`,
    join_state: `({ uint8_t v; ib_member_get_scope_state(${member}->scope_state, NULL, &v); v; })`,
    proxy_join: 'mad_get_field(b, 0, IB_SA_MCM_PROXY_JOIN_F)',
  },
  'administration/ServiceRecord': {
    service_id: `cl_ntoh64(${service}->service_id)`,
    service_gid: `H(${service}->service_gid.raw, 16)`,
    service_p_key: `cl_ntoh16(${service}->service_pkey)`,
    service_lease: `cl_ntoh32(${service}->service_lease)`,
    service_key: `H(${service}->service_key, 16)`,
    service_data8: list(16, (i) => `${service}->service_data8[${i}]`),
    service_data16: list(8, (i) => `cl_ntoh16(${service}->service_data16[${i}])`),
    service_data32: list(4, (i) => `cl_ntoh32(${service}->service_data32[${i}])`),
    service_data64: list(2, (i) => `cl_ntoh64(${service}->service_data64[${i}])`),
  },
  'administration/InformInfo': {
    gid: `H(${inform}->gid.raw, 16)`,
    lid_range_begin: `cl_ntoh16(${inform}->lid_range_begin)`,
    lid_range_end: `cl_ntoh16(${inform}->lid_range_end)`,
    is_generic: `${inform}->is_generic`,
    subscribe: `${inform}->subscribe`,
    type: `cl_ntoh16(${inform}->trap_type)`,
    trap_number: `cl_ntoh16(${inform}->g_or_v.generic.trap_num)`,
    qpn: `({ ib_net32_t v; ib_inform_info_get_qpn_resp_time(${inform}->g_or_v.generic.qpn_resp_time_val, &v, NULL); cl_ntoh32(v); })`,
    resp_time_value: `({ uint8_t v; ib_inform_info_get_qpn_resp_time(${inform}->g_or_v.generic.qpn_resp_time_val, NULL, &v); v; })`,
    producer_type: `cl_ntoh32(ib_inform_info_get_prod_type(${inform}))`,
  },
  'administration/P_KeyTableRecord': {
    lid: `cl_ntoh16(${pkeys}->lid)`,
    block_num: `cl_ntoh16(${pkeys}->block_num)`,
    port_num: `${pkeys}->port_num`,
    p_keys: list(32, (i) => `cl_ntoh16(${pkeys}->pkey_tbl.pkey_entry[${i}])`),
  },
};

/** Component masks of ib_types.h, by record and our field. */
export const C_COMPONENTS: Readonly<Record<string, Expressions>> = {
  NodeRecord: {
    lid: 'NR_COMPMASK_LID',
    node_type: 'NR_COMPMASK_NODETYPE',
    num_ports: 'NR_COMPMASK_NUMPORTS',
    node_guid: 'NR_COMPMASK_NODEGUID',
    port_guid: 'NR_COMPMASK_PORTGUID',
    local_port_num: 'NR_COMPMASK_PORTNUM',
    vendor_id: 'NR_COMPMASK_VENDID',
    node_description: 'NR_COMPMASK_NODEDESC',
  },
  PortInfoRecord: {
    endport_lid: 'PIR_COMPMASK_LID',
    port_num: 'PIR_COMPMASK_PORTNUM',
    lid: 'PIR_COMPMASK_BASELID',
    m_key_protect_bits: 'PIR_COMPMASK_MKEYPROTBITS',
    lmc: 'PIR_COMPMASK_LMC',
    mtu_cap: 'PIR_COMPMASK_MTUCAP',
    guid_cap: 'PIR_COMPMASK_GUIDCAP',
    client_reregister: 'PIR_COMPMASK_CLIENTREREG',
    subnet_timeout: 'PIR_COMPMASK_SUBNTO',
    resp_time_value: 'PIR_COMPMASK_RESPTIME',
    overrun_errors: 'PIR_COMPMASK_OVERRUNERR',
    link_round_trip_latency: 'PIR_COMPMASK_LINKRTLAT',
    capability_mask2: 'PIR_COMPMASK_CAPMASK2',
    link_speed_ext_supported: 'PIR_COMPMASK_LINKSPDEXTSUPP',
    link_speed_ext_enabled: 'PIR_COMPMASK_LINKSPDEXTENAB',
  },
  SwitchInfoRecord: { lid: 'SWIR_COMPMASK_LID' },
  SMInfoRecord: { lid: 'SMIR_COMPMASK_LID', guid: 'SMIR_COMPMASK_GUID', sm_state: 'SMIR_COMPMASK_SMSTATE' },
  LinkRecord: {
    from_lid: 'LR_COMPMASK_FROM_LID',
    to_port: 'LR_COMPMASK_TO_PORT',
    to_lid: 'LR_COMPMASK_TO_LID',
  },
  PathRecord: {
    service_id: 'PR_COMPMASK_SERVICEID',
    dgid: 'PR_COMPMASK_DGID',
    slid: 'PR_COMPMASK_SLID',
    flow_label: 'PR_COMPMASK_FLOWLABEL',
    reversible: 'PR_COMPMASK_REVERSIBLE',
    num_path: 'PR_COMPMASK_NUMBPATH',
    p_key: 'PR_COMPMASK_PKEY',
    sl: 'PR_COMPMASK_SL',
    packet_lifetime: 'PR_COMPMASK_PKTLIFETIME',
  },
  MCMemberRecord: {
    mgid: 'MCR_COMPMASK_MGID',
    p_key: 'MCR_COMPMASK_PKEY',
    flow_label: 'MCR_COMPMASK_FLOW',
    join_state: 'MCR_COMPMASK_JOIN_STATE',
    proxy_join: 'MCR_COMPMASK_PROXY',
  },
  ServiceRecord: {
    service_id: 'SR_COMPMASK_SID',
    service_lease: 'SR_COMPMASK_SLEASE',
    service_name: 'SR_COMPMASK_SNAME',
  },
  P_KeyTableRecord: {
    lid: 'PKEY_COMPMASK_LID',
    block_num: 'PKEY_COMPMASK_BLOCK',
    port_num: 'PKEY_COMPMASK_PORT',
  },
};
