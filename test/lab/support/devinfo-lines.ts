/** Every line of `ibv_devinfo -v`, and where rdmatool's document has the same. */
import type { DevinfoEntry } from './devinfo.ts';
import { RELEASE } from './generation.ts';
import { plain } from './leaves.ts';

/** A line: the path of the same value in a device or port of the document, and how ibv_devinfo writes it. */
export interface DevinfoLine {
  readonly path: string;
  /** The value, in the form of `plain`. */
  read(entry: DevinfoEntry): string;
  /** Bits that ibv_devinfo tells of; others it leaves out. */
  readonly mask?: bigint;
}

const line = (path: string, read: (entry: DevinfoEntry) => string = value): DevinfoLine => ({ path, read });

/** A number, a GUID or a text. */
function value({ text }: DevinfoEntry): string {
  return plain(/^0x[0-9a-f]+$/i.test(text) ? text.toLowerCase() : text);
}
/** `4096 (5)`, `PORT_ACTIVE (4)`. */
const inParentheses = ({ text }: DevinfoEntry): string => /\((-?\d+)\)$/.exec(text)?.[1] ?? text;
/** `320kHZ`, `418Bytes`, `411 us`, `0kbps`. */
const withUnit = ({ text }: DevinfoEntry): string => /^\d+/.exec(text)?.[0] ?? text;
const word =
  (words: Readonly<Record<string, number>>) =>
  ({ text }: DevinfoEntry): string =>
    String(words[text] ?? text);

/** Names of bits below one another, and `Unknown flags: 0x180`. */
const names =
  (bits: Readonly<Record<string, number>>) =>
  ({ list }: DevinfoEntry): string => {
    let mask = 0n;
    for (const name of list) {
      const unknown = /^Unknown flags: (0x[0-9A-F]+)$/.exec(name)?.[1];
      const bit = bits[name];
      if (unknown !== undefined) mask |= BigInt(unknown);
      else if (bit !== undefined) mask |= 1n << BigInt(bit);
      else if (name !== 'NO SUPPORT') return `a flag that is not known here: ${name}`;
    }
    return mask.toString();
  };
const odp = names({
  SUPPORT_SEND: 0,
  SUPPORT_RECV: 1,
  SUPPORT_WRITE: 2,
  SUPPORT_READ: 3,
  SUPPORT_ATOMIC: 4,
  SUPPORT_SRQ: 5,
  SUPPORT_FLUSH: 6,
  SUPPORT_ATOMIC_WRITE: 7,
});
const qpTypes = names({ SUPPORT_RC: 2, SUPPORT_UC: 3, SUPPORT_UD: 4, SUPPORT_RAW_PACKET: 8 });
const masked = (mask: bigint, one: DevinfoLine): DevinfoLine => ({ ...one, mask });

/** Members of ibv_device_attr that are plain numbers on both sides. */
const COUNTS = [
  ...['max_mr_size', 'page_size_cap', 'max_qp', 'max_qp_wr', 'max_sge', 'max_sge_rd', 'max_cq', 'max_cqe'],
  ...['max_mr', 'max_pd', 'max_qp_rd_atom', 'max_ee_rd_atom', 'max_res_rd_atom', 'max_qp_init_rd_atom'],
  ...['max_ee_init_rd_atom', 'max_ee', 'max_rdd', 'max_mw', 'max_raw_ipv6_qp', 'max_raw_ethy_qp'],
  ...['max_mcast_grp', 'max_mcast_qp_attach', 'max_total_mcast_qp_attach', 'max_ah', 'max_fmr'],
  ...['max_map_per_fmr', 'max_srq', 'max_srq_wr', 'max_srq_sge', 'max_pkeys', 'local_ca_ack_delay'],
  ...['phys_port_cnt', 'vendor_id', 'vendor_part_id', 'hw_ver', 'fw_ver', 'node_guid', 'sys_image_guid'],
  'device_cap_flags',
];

export const DEVICE_LINES: Readonly<Record<string, DevinfoLine>> = {
  transport: line('transport', inParentheses),
  ...Object.fromEntries(COUNTS.map((name) => [name, line(`attributes.${name}`)])),
  board_id: line('sysfs.board_id'),
  num_comp_vectors: line('num_comp_vectors'),
  atomic_cap: line('attributes.atomic_cap', inParentheses),
  general_odp_caps: line(
    'attributes_ex.odp_caps.general_caps',
    names({ ODP_SUPPORT: 0, ODP_SUPPORT_IMPLICIT: 1 }),
  ),
  rc_odp_caps: line('attributes_ex.odp_caps.per_transport_caps.rc_odp_caps', odp),
  uc_odp_caps: line('attributes_ex.odp_caps.per_transport_caps.uc_odp_caps', odp),
  ud_odp_caps: line('attributes_ex.odp_caps.per_transport_caps.ud_odp_caps', odp),
  xrc_odp_caps: line('attributes_ex.xrc_odp_caps', odp),
  'completion timestamp_mask': line('attributes_ex.completion_timestamp_mask'),
  'completion_timestamp_mask not supported': line('attributes_ex.completion_timestamp_mask'),
  hca_core_clock: line('attributes_ex.hca_core_clock', withUnit),
  'core clock not supported': line('attributes_ex.hca_core_clock'),
  'raw packet caps': masked(
    0xfn,
    line(
      'attributes_ex.raw_packet_caps',
      names({
        'C-VLAN stripping offload': 0,
        'Scatter FCS offload': 1,
        'IP csum offload': 2,
        'Delay drop': 3,
      }),
    ),
  ),
  device_cap_flags_ex: line('attributes_ex.device_cap_flags_ex'),
  'tso_caps.max_tso': line('attributes_ex.tso_caps.max_tso'),
  'tso_caps.supported_qp': line('attributes_ex.tso_caps.supported_qpts', qpTypes),
  'rss_caps.max_rwq_indirection_tables': line('attributes_ex.rss_caps.max_rwq_indirection_tables'),
  'rss_caps.max_rwq_indirection_table_size': line('attributes_ex.rss_caps.max_rwq_indirection_table_size'),
  'rss_caps.rx_hash_function': line('attributes_ex.rss_caps.rx_hash_function'),
  'rss_caps.rx_hash_fields_mask': line('attributes_ex.rss_caps.rx_hash_fields_mask'),
  'rss_caps.supported_qp': line('attributes_ex.rss_caps.supported_qpts', qpTypes),
  max_wq_type_rq: line('attributes_ex.max_wq_type_rq'),
  'packet_pacing_caps.qp_rate_limit_min': line(
    'attributes_ex.packet_pacing_caps.qp_rate_limit_min',
    withUnit,
  ),
  'packet_pacing_caps.qp_rate_limit_max': line(
    'attributes_ex.packet_pacing_caps.qp_rate_limit_max',
    withUnit,
  ),
  'packet_pacing_caps.supported_qp': line('attributes_ex.packet_pacing_caps.supported_qpts', qpTypes),
  max_rndv_hdr_size: line('attributes_ex.tm_caps.max_rndv_hdr_size'),
  max_num_tags: line('attributes_ex.tm_caps.max_num_tags'),
  'tag matching not supported': line('attributes_ex.tm_caps.max_num_tags'),
  max_ops: line('attributes_ex.tm_caps.max_ops'),
  'max_sge (2)': line('attributes_ex.tm_caps.max_sge'),
  flags: masked(1n, line('attributes_ex.tm_caps.flags', names({ IBV_TM_CAP_RC: 0 }))),
  'cq moderation caps.max_cq_count': line('attributes_ex.cq_mod_caps.max_cq_count'),
  'cq moderation caps.max_cq_period': line('attributes_ex.cq_mod_caps.max_cq_period', withUnit),
  // A number of 32 bits, printed as one with a sign.
  max_comp_cntr: line('comp_cntr_caps.max_counters', ({ text }) => String(Number(text) >>> 0)),
  comp_cntr_caps: masked(
    0x3fn,
    line(
      'comp_cntr_caps.supported_qp_attach_ops',
      names({
        QP_ATTACH_SEND: 0,
        QP_ATTACH_RECV: 1,
        QP_ATTACH_RDMA_READ: 2,
        QP_ATTACH_REMOTE_RDMA_READ: 3,
        QP_ATTACH_RDMA_WRITE: 4,
        QP_ATTACH_REMOTE_RDMA_WRITE: 5,
      }),
    ),
  ),
  'maximum available device memory': line('attributes_ex.max_dm_size', withUnit),
};

export const PORT_LINES: Readonly<Record<string, DevinfoLine>> = {
  state: line('state', inParentheses),
  max_mtu: line('max_mtu', inParentheses),
  active_mtu: line('active_mtu', inParentheses),
  sm_lid: line('sm_lid'),
  port_lid: line('lid'),
  port_lmc: line('lmc'),
  link_layer: line('link_layer', word({ Unspecified: 0, InfiniBand: 1, Ethernet: 2 })),
  max_msg_sz: line('max_msg_sz'),
  port_cap_flags: line('port_cap_flags'),
  port_cap_flags2: line('port_cap_flags2'),
  max_vl_num: line('max_vl_num', inParentheses),
  bad_pkey_cntr: line('bad_pkey_cntr'),
  qkey_viol_cntr: line('qkey_viol_cntr'),
  sm_sl: line('sm_sl'),
  pkey_tbl_len: line('pkey_tbl_len'),
  gid_tbl_len: line('gid_tbl_len'),
  subnet_timeout: line('subnet_timeout'),
  init_type_reply: line('init_type_reply'),
  active_width: line('active_width', inParentheses),
  // Newer ones show the wide code under the name of the narrow one.
  active_speed: line(RELEASE >= 49 ? 'active_speed_ex' : 'active_speed', inParentheses),
  effective_speed: line('effective_speed_gbps', ({ text }) => String(Number.parseFloat(text))),
  phys_state: line('phys_state', inParentheses),
};

/** Headings, which say nothing themselves. */
export const HEADINGS = ['tso_caps', 'rss_caps', 'packet_pacing_caps', 'cq moderation caps'];
