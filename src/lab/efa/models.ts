/**
 * The built-in devices, in the form of profile files. A value stands as `observed` only where users have published
 * it from such a card; no complete listing of an EFA card's limits is public, so that most of its figures are
 * `assumed`: plausible, and no more.
 */
import { EfaKernelCap, EfaUdataCommand } from '../../abi/efa-kernel.ts';
import { LinkLayer, LinkSpeed, LinkWidth, Mtu, PhysState, PortState, VlNum } from '../../abi/verbs-codes.ts';
import type { Profile } from './profile.ts';
import { EMPTY_PROFILE, readProfile } from './profile-json.ts';

type Value = number | string | null;
const observed = (value: Value) => ({ value, source: 'observed' as const });
const assumed = (value: Value) => ({ value, source: 'assumed' as const });

type Sourced = typeof observed | typeof assumed;

function all(source: Sourced, values: { readonly [name: string]: Value }) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, source(value)]));
}

/** The link as EFA's driver names a bandwidth, from what cards of each have shown. */
export function efaLink(gbps: 100 | 200 | 400) {
  const [width, speed] = {
    100: ['4X', 'EDR'] as const,
    200: ['4X', 'HDR'] as const,
    400: ['8X', 'HDR'] as const,
  }[gbps];
  const code = LinkSpeed.valueOf(speed);
  return {
    query_port: {
      active_width: observed(LinkWidth.valueOf(width)),
      active_speed: observed(code),
      active_speed_ex: observed(code),
    },
    speed: observed(gbps * 10),
  };
}

const EFA_PORT_COUNTERS = [
  'tx_bytes',
  'tx_pkts',
  'rx_bytes',
  'rx_pkts',
  'rx_drops',
  'send_bytes',
  'send_wrs',
  'recv_bytes',
  'recv_wrs',
  'rdma_read_wrs',
  'rdma_read_bytes',
  'rdma_read_wr_err',
  'rdma_read_resp_bytes',
  'rdma_write_wrs',
  'rdma_write_bytes',
  'rdma_write_wr_err',
  'rdma_write_recv_bytes',
  'retrans_bytes',
  'retrans_pkts',
  'retrans_timeout_events',
  'unresponsive_remote_events',
  'impaired_remote_conn_events',
];
const EFA_DEVICE_COUNTERS = [
  'submitted_cmds',
  'completed_cmds',
  'cmds_err',
  'no_completion_cmds',
  'keep_alive_rcvd',
  'alloc_pd_err',
  'create_qp_err',
  'create_cq_err',
  'reg_mr_err',
  'alloc_ucontext_err',
  'create_ah_err',
  'mmap_err',
];

const counters = (names: readonly string[]) => ({
  ...Object.fromEntries(names.map((name) => [name, assumed(0)])),
  // Milliseconds for which the kernel keeps the figures.
  lifespan: observed(12),
});

type KernelCap = Parameters<typeof EfaKernelCap.maskOf>[0];

interface EfaGeneration {
  readonly part: number;
  readonly gbps: 100 | 200 | 400;
  readonly caps: readonly KernelCap[];
  /** Whether the identifying numbers were read from such a card. */
  readonly seen: boolean;
  readonly device: { readonly max_mr_size: string; readonly max_mr: number; readonly max_sge_rd: number };
  readonly queues: { readonly max_sq_wr: number; readonly max_rq_wr: number; readonly max_rdma_size: number };
  /** 0: a kernel or card without larger inline buffers. */
  readonly inlineEx: number;
  readonly compCounters: boolean;
}

function efa({ part, gbps, caps, seen, device, queues, inlineEx, compCounters }: EfaGeneration) {
  const identity = seen ? observed : assumed;
  const capsMask = caps.reduce((mask, cap) => mask | EfaKernelCap.maskOf(cap), 0n);
  const commands = EfaUdataCommand.maskOf('QUERY_DEVICE') | EfaUdataCommand.maskOf('CREATE_AH');
  const maxSge = { send: 2, receive: 3 };
  return {
    title: observed(`EFA ${hex(part)}`),
    provider: observed('efa'),
    node_guid: assumed('auto'),
    sys_image_guid: observed(0),
    phys_port_cnt: observed(1),
    query_device: {
      ...all(observed, { fw_ver: 0, vendor_id: 0x1d0f, max_qp_rd_atom: 0, max_pkeys: 1 }),
      ...all(identity, { vendor_part_id: part, hw_ver: part }),
      ...all(assumed, {
        ...device,
        page_size_cap: '0xfffff000',
        max_qp: 256,
        max_qp_wr: Math.min(queues.max_sq_wr, queues.max_rq_wr),
        device_cap_flags: 0,
        max_sge: Math.min(maxSge.send, maxSge.receive),
        max_cq: 512,
        max_cqe: 65535,
        max_pd: 256,
        max_ee_rd_atom: 0,
        max_res_rd_atom: 0,
        max_qp_init_rd_atom: 0,
        max_ee_init_rd_atom: 0,
        atomic_cap: 0,
        max_ee: 0,
        max_rdd: 0,
        max_mw: 0,
        max_raw_ipv6_qp: 0,
        max_raw_ethy_qp: 0,
        max_mcast_grp: 0,
        max_mcast_qp_attach: 0,
        max_total_mcast_qp_attach: 0,
        max_ah: 4096,
        max_fmr: 0,
        max_map_per_fmr: 0,
        max_srq: 0,
        max_srq_wr: 0,
        max_srq_sge: 0,
        local_ca_ack_delay: 0,
      }),
    },
    query_device_ex: {
      comp_mask: assumed(0),
      odp_caps: {
        general_caps: assumed(0),
        per_transport_caps: all(assumed, { rc_odp_caps: 0, uc_odp_caps: 0, ud_odp_caps: 0 }),
      },
      ...all(assumed, {
        timestamp_mask: 0,
        hca_core_clock: 0,
        device_cap_flags_ex: 0,
        max_wq_type_rq: 0,
        raw_packet_caps: 0,
        max_dm_size: 0,
        xrc_odp_caps: 0,
      }),
      rss_caps: all(assumed, {
        supported_qpts: 0,
        max_rwq_indirection_tables: 0,
        max_rwq_indirection_table_size: 0,
      }),
      tm_caps: all(assumed, { max_rndv_hdr_size: 0, max_num_tags: 0, flags: 0, max_ops: 0, max_sge: 0 }),
      cq_moderation_caps: all(assumed, { max_cq_moderation_count: 0, max_cq_moderation_period: 0 }),
    },
    context: all(assumed, { num_comp_vectors: 1, core_support: 1 }),
    comp_cntr_caps: compCounters
      ? all(assumed, { max_counters: 512, max_value: '0xffffffffffffffff', supported_qp_attach_ops: 0x3f })
      : assumed(null),
    efa: {
      alloc_ucontext: all(assumed, {
        comp_mask: 0,
        cmds_supp_udata_mask: Number(commands),
        sub_cqs_per_cq: 1,
        inline_buf_size: 32,
        // A send queue of max_sq_wr descriptors of 64 bytes.
        max_llq_size: queues.max_sq_wr * 64,
        max_tx_batch: 16,
        min_sq_wr: 1,
        inline_buf_size_ex: inlineEx,
      }),
      query_device: all(assumed, {
        comp_mask: 0,
        ...queues,
        max_sq_sge: maxSge.send,
        max_rq_sge: maxSge.receive,
        device_caps: Number(capsMask),
      }),
    },
    ports: [
      {
        query_port: {
          ...all(observed, {
            gid_tbl_len: 1,
            pkey_tbl_len: 1,
            state: PortState.valueOf('ACTIVE'),
            max_mtu: Mtu.valueOf('4096'),
            active_mtu: Mtu.valueOf('4096'),
            lmc: 1,
            max_vl_num: VlNum.valueOf('1'),
            phys_state: PhysState.valueOf('LINK_UP'),
            link_layer: LinkLayer.valueOf('UNSPECIFIED'),
          }),
          ...all(assumed, {
            port_cap_flags: 0,
            max_msg_sz: 8928,
            bad_pkey_cntr: 0,
            qkey_viol_cntr: 0,
            lid: 0,
            sm_lid: 0,
            sm_sl: 0,
            subnet_timeout: 0,
            init_type_reply: 0,
            flags: 0,
            port_cap_flags2: 0,
          }),
          ...efaLink(gbps).query_port,
        },
        speed: efaLink(gbps).speed,
        gids: [
          {
            index: observed(0),
            gid: assumed('auto'),
            type: observed('IB'),
            netdev: observed(null),
            netdev_ifindex: observed(0),
          },
        ],
        pkeys: [assumed(0xffff)],
        hw_counters: counters(EFA_PORT_COUNTERS),
      },
    ],
    hw_counters: counters(EFA_DEVICE_COUNTERS),
    sysfs: {
      node_type: observed('7: unspecified'),
      ...all(assumed, { node_desc: '', fw_ver: '', hca_type: null, board_id: null, numa_node: 0 }),
      netdevs: [],
      driver: observed('efa'),
      abi_version: observed(1),
      pci: {
        address: assumed('auto'),
        vendor: observed(0x1d0f),
        device: identity(part),
        ...all(assumed, { subsystem_vendor: 0x1d0f, subsystem_device: part, class: 0x020000 }),
      },
    },
  };
}

const hex = (value: number): string => `0x${value.toString(16)}`;

/** A soft RDMA device as kernels since 2021 show it. */
function rxe() {
  return {
    title: observed('soft RoCE'),
    provider: observed('rxe'),
    node_guid: assumed('auto'),
    sys_image_guid: assumed('auto'),
    phys_port_cnt: observed(1),
    query_device: {
      ...all(observed, {
        fw_ver: 0,
        max_mr_size: '0xffffffffffffffff',
        page_size_cap: '0xfffff000',
        vendor_id: 0xffffff,
        vendor_part_id: 0,
        hw_ver: 0,
        max_qp: 1048560,
        max_qp_wr: 1048576,
        device_cap_flags: 0x01223c76,
        max_sge: 32,
        max_sge_rd: 32,
        max_cq: 1048576,
        max_cqe: 32767,
        max_mr: 524287,
        max_pd: 1048576,
        max_qp_rd_atom: 128,
        max_res_rd_atom: 258048,
        max_qp_init_rd_atom: 128,
        atomic_cap: 1,
        max_mw: 524287,
        max_mcast_grp: 8192,
        max_mcast_qp_attach: 56,
        max_total_mcast_qp_attach: 458752,
        max_ah: 32767,
        max_srq: 917503,
        max_srq_wr: 1048576,
        max_srq_sge: 27,
        max_pkeys: 64,
        local_ca_ack_delay: 15,
      }),
      ...all(assumed, {
        max_ee_rd_atom: 0,
        max_ee_init_rd_atom: 0,
        max_ee: 0,
        max_rdd: 0,
        max_raw_ipv6_qp: 0,
        max_raw_ethy_qp: 0,
        max_fmr: 0,
        max_map_per_fmr: 0,
      }),
    },
    query_device_ex: { device_cap_flags_ex: observed('0x1c001223c76') },
    context: { num_comp_vectors: observed(4), core_support: assumed(1) },
    ports: [
      {
        query_port: {
          ...all(observed, {
            port_cap_flags: 0x00010000,
            max_msg_sz: 0x80000000,
            gid_tbl_len: 1024,
            pkey_tbl_len: 1,
            state: PortState.valueOf('ACTIVE'),
            max_mtu: Mtu.valueOf('4096'),
            active_mtu: Mtu.valueOf('1024'),
            max_vl_num: VlNum.valueOf('1'),
            active_width: LinkWidth.valueOf('1X'),
            active_speed: LinkSpeed.valueOf('FDR10'),
            active_speed_ex: LinkSpeed.valueOf('FDR10'),
            phys_state: PhysState.valueOf('LINK_UP'),
            link_layer: LinkLayer.valueOf('ETHERNET'),
          }),
          ...all(assumed, {
            bad_pkey_cntr: 0,
            qkey_viol_cntr: 0,
            lid: 0,
            sm_lid: 0,
            lmc: 0,
            sm_sl: 0,
            subnet_timeout: 0,
            init_type_reply: 0,
            flags: 0,
            port_cap_flags2: 0,
          }),
        },
        speed: assumed(null),
        gids: [
          { gid: assumed('auto'), type: observed('RoCE v2'), netdev: assumed('eth0') },
          { gid: assumed('auto-ipv4'), type: observed('RoCE v2'), netdev: assumed('eth0') },
        ],
        pkeys: [assumed(0xffff)],
      },
    ],
    sysfs: {
      node_type: observed('1: CA'),
      ...all(assumed, { node_desc: '', fw_ver: '', hca_type: null, board_id: null, numa_node: -1 }),
      netdevs: [assumed('eth0')],
      driver: observed('rdma_rxe'),
      abi_version: assumed(2),
      pci: observed(null),
    },
  };
}

const EFA2_CAPS: readonly KernelCap[] = [
  'RDMA_READ',
  'RNR_RETRY',
  'CQ_NOTIFICATIONS',
  'CQ_WITH_SGID',
  'DATA_POLLING_128',
  'RDMA_WRITE',
  'UNSOLICITED_WRITE_RECV',
  'CQ_WITH_EXT_MEM',
];

const GIB = 2 ** 30;

const MODELS = {
  efa0: {
    description: 'EFA 0xefa0, as in c5n: no RDMA read or write, 100 Gb/s',
    json: () =>
      efa({
        part: 0xefa0,
        gbps: 100,
        caps: ['CQ_WITH_SGID'],
        seen: true,
        device: { max_mr_size: `${2n ** 36n}`, max_mr: 65536, max_sge_rd: 0 },
        queues: { max_sq_wr: 4096, max_rq_wr: 8192, max_rdma_size: 0 },
        inlineEx: 0,
        compCounters: false,
      }),
  },
  efa1: {
    description: 'EFA 0xefa1, as in p4d: RDMA read, 100 Gb/s',
    json: () =>
      efa({
        part: 0xefa1,
        gbps: 100,
        caps: ['RDMA_READ', 'RNR_RETRY', 'CQ_NOTIFICATIONS', 'CQ_WITH_SGID'],
        seen: false,
        device: { max_mr_size: `${2n ** 38n}`, max_mr: 262144, max_sge_rd: 1 },
        queues: { max_sq_wr: 4096, max_rq_wr: 32768, max_rdma_size: GIB },
        inlineEx: 0,
        compCounters: false,
      }),
  },
  efa2: {
    description: 'EFA 0xefa2, as in p5 and p5en: RDMA read and write, 100 Gb/s',
    json: () =>
      efa({
        part: 0xefa2,
        gbps: 100,
        caps: EFA2_CAPS,
        seen: true,
        device: { max_mr_size: `${2n ** 40n}`, max_mr: 262144, max_sge_rd: 1 },
        queues: { max_sq_wr: 4096, max_rq_wr: 32768, max_rdma_size: GIB },
        inlineEx: 0,
        compCounters: false,
      }),
  },
  efa3: {
    description: 'EFA 0xefa3: RDMA read and write, 400 Gb/s',
    json: () =>
      efa({
        part: 0xefa3,
        gbps: 400,
        caps: EFA2_CAPS,
        seen: false,
        device: { max_mr_size: `${2n ** 40n}`, max_mr: 262144, max_sge_rd: 1 },
        queues: { max_sq_wr: 4096, max_rq_wr: 32768, max_rdma_size: GIB },
        inlineEx: 48,
        compCounters: false,
      }),
  },
  efa4: {
    description: 'EFA 0xefa4: as efa3, with completion counters',
    json: () =>
      efa({
        part: 0xefa4,
        gbps: 400,
        caps: [...EFA2_CAPS, 'COMP_CNTR', 'SQ_64_BIT_REQ_ID'],
        seen: false,
        device: { max_mr_size: `${2n ** 40n}`, max_mr: 262144, max_sge_rd: 1 },
        queues: { max_sq_wr: 2048, max_rq_wr: 32768, max_rdma_size: GIB },
        inlineEx: 48,
        compCounters: true,
      }),
  },
  rxe: {
    description: 'soft RoCE (rdma_rxe), for a device that is not EFA; its name must begin with rxe',
    json: rxe,
  },
} as const;

export type ModelName = keyof typeof MODELS;

/** Names and one-line descriptions of the built-in models. */
export const EFA_MODELS: readonly { readonly name: ModelName; readonly description: string }[] = (
  Object.keys(MODELS) as ModelName[]
).map((name) => ({ name, description: MODELS[name].description }));

const built = new Map<ModelName, Profile>();

/** The model that a text names: `efa2`, or a part id in decimal or hexadecimal (`0xefa2`, `61346`); else null. */
export function findModel(text: string): ModelName | null {
  const name = /^(0x[0-9a-f]+|\d+)$/i.test(text) ? Number(text).toString(16) : text;
  return EFA_MODELS.find((model) => model.name === name)?.name ?? null;
}

/** The values of a model. */
export function modelProfile(name: ModelName): Profile {
  const known = built.get(name) ?? readProfile(MODELS[name].json(), EMPTY_PROFILE, `model ${name}`);
  built.set(name, known);
  return known;
}
