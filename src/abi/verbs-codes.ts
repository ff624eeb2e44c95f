/** Enumerations and flags of <infiniband/verbs.h>. Values: rdma-core's header, up to release 65. */
import { enumeration } from '../layout/enumeration.ts';
import { flagSet } from '../layout/flags.ts';

export const NodeType = enumeration('ibv_node_type', 'IBV_NODE_', {
  UNKNOWN: -1,
  CA: 1,
  SWITCH: 2,
  ROUTER: 3,
  RNIC: 4,
  USNIC: 5,
  USNIC_UDP: 6,
  UNSPECIFIED: 7,
});

export const TransportType = enumeration('ibv_transport_type', 'IBV_TRANSPORT_', {
  UNKNOWN: -1,
  IB: 0,
  IWARP: 1,
  USNIC: 2,
  USNIC_UDP: 3,
  UNSPECIFIED: 4,
});

export const AtomicCap = enumeration('ibv_atomic_cap', 'IBV_ATOMIC_', { NONE: 0, HCA: 1, GLOB: 2 });

export const PortState = enumeration('ibv_port_state', 'IBV_PORT_', {
  NOP: 0,
  DOWN: 1,
  INIT: 2,
  ARMED: 3,
  ACTIVE: 4,
  ACTIVE_DEFER: 5,
});

/** Bytes, by code. */
export const Mtu = enumeration('ibv_mtu', 'IBV_MTU_', { 256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5 });

export const LinkLayer = enumeration('link layer', 'IBV_LINK_LAYER_', {
  UNSPECIFIED: 0,
  INFINIBAND: 1,
  ETHERNET: 2,
});

/** IBTA PortInfo:PortPhysicalState; names as the kernel's sysfs has them. */
export const PhysState = enumeration('port physical state', '', {
  SLEEP: 1,
  POLLING: 2,
  DISABLED: 3,
  PORT_CONFIGURATION_TRAINING: 4,
  LINK_UP: 5,
  LINK_ERROR_RECOVERY: 6,
  PHY_TEST: 7,
});

/** Lanes, by code: IBTA PortInfo:LinkWidthActive. */
export const LinkWidth = enumeration('link width', '', { '1X': 1, '4X': 2, '8X': 4, '12X': 8, '2X': 16 });

/** IBTA PortInfo:LinkSpeedActive and its extensions, as the kernel numbers them. */
export const LinkSpeed = enumeration('link speed', '', {
  SDR: 1,
  DDR: 2,
  QDR: 4,
  FDR10: 8,
  FDR: 16,
  EDR: 32,
  HDR: 64,
  NDR: 128,
  XDR: 256,
});

/** Number of virtual lanes, by code: IBTA PortInfo:VLCap. */
export const VlNum = enumeration('virtual lanes', '', { '1': 1, '2': 2, '4': 3, '8': 4, '15': 5 });

export const GidType = enumeration('ibv_gid_type', 'IBV_GID_TYPE_', { IB: 0, ROCE_V1: 1, ROCE_V2: 2 });

const DEVICE_CAP_BITS = {
  RESIZE_MAX_WR: 0,
  BAD_PKEY_CNTR: 1,
  BAD_QKEY_CNTR: 2,
  RAW_MULTI: 3,
  AUTO_PATH_MIG: 4,
  CHANGE_PHY_PORT: 5,
  UD_AV_PORT_ENFORCE: 6,
  CURR_QP_STATE_MOD: 7,
  SHUTDOWN_PORT: 8,
  INIT_TYPE: 9,
  PORT_ACTIVE_EVENT: 10,
  SYS_IMAGE_GUID: 11,
  RC_RNR_NAK_GEN: 12,
  SRQ_RESIZE: 13,
  N_NOTIFY_CQ: 14,
  MEM_WINDOW: 17,
  UD_IP_CSUM: 18,
  XRC: 20,
  MEM_MGT_EXTENSIONS: 21,
  MEM_WINDOW_TYPE_2A: 23,
  MEM_WINDOW_TYPE_2B: 24,
  RC_IP_CSUM: 25,
  RAW_IP_CSUM: 26,
  MANAGED_FLOW_STEERING: 29,
} as const;

export const DeviceCap = flagSet('ibv_device_cap_flags', 'IBV_DEVICE_', DEVICE_CAP_BITS);

/** Bits 38 to 40 have names in <rdma/ib_user_verbs.h> alone; libibverbs hands them through. */
export const DeviceCapEx = flagSet('ibv_device_cap_flags (64 bits)', 'IBV_DEVICE_', {
  ...DEVICE_CAP_BITS,
  RAW_SCATTER_FCS: 34,
  PCI_WRITE_END_PADDING: 36,
  FLUSH_GLOBAL: 38,
  FLUSH_PERSISTENT: 39,
  ATOMIC_WRITE: 40,
  CC_DMA_BOUNCE: 41,
});

export const OdpGeneralCap = flagSet('ibv_odp_general_caps', 'IBV_ODP_', {
  SUPPORT: 0,
  SUPPORT_IMPLICIT: 1,
});

export const OdpTransportCap = flagSet('ibv_odp_transport_cap_bits', 'IBV_ODP_SUPPORT_', {
  SEND: 0,
  RECV: 1,
  WRITE: 2,
  READ: 3,
  ATOMIC: 4,
  SRQ_RECV: 5,
  FLUSH: 6,
  ATOMIC_WRITE: 7,
});

/** Masks of queue pair types: bit number is enum ibv_qp_type. */
export const QpTypeMask = flagSet('1 << ibv_qp_type', 'IBV_QPT_', {
  RC: 2,
  UC: 3,
  UD: 4,
  RAW_PACKET: 8,
  XRC_SEND: 9,
  XRC_RECV: 10,
});

export const RxHashFunction = flagSet('ibv_rx_hash_function_flags', 'IBV_RX_HASH_FUNC_', { TOEPLITZ: 0 });

export const RxHashField = flagSet('ibv_rx_hash_fields', 'IBV_RX_HASH_', {
  SRC_IPV4: 0,
  DST_IPV4: 1,
  SRC_IPV6: 2,
  DST_IPV6: 3,
  SRC_PORT_TCP: 4,
  DST_PORT_TCP: 5,
  SRC_PORT_UDP: 6,
  DST_PORT_UDP: 7,
  IPSEC_SPI: 8,
  INNER: 31,
});

export const RawPacketCap = flagSet('ibv_raw_packet_caps', 'IBV_RAW_PACKET_CAP_', {
  CVLAN_STRIPPING: 0,
  SCATTER_FCS: 1,
  IP_CSUM: 2,
  DELAY_DROP: 3,
});

export const TmCap = flagSet('ibv_tm_cap_flags', 'IBV_TM_CAP_', { RC: 0 });

export const PciAtomicSize = flagSet('ibv_pci_atomic_op_size', 'IBV_PCI_ATOMIC_OPERATION_', {
  '4_BYTE_SIZE_SUP': 0,
  '8_BYTE_SIZE_SUP': 1,
  '16_BYTE_SIZE_SUP': 2,
});

/** Bits 10 and 27 to 31 have names in <rdma/ib_user_ioctl_verbs.h> alone. */
export const PortCap = flagSet('ibv_port_cap_flags', 'IBV_PORT_', {
  SM: 1,
  NOTICE_SUP: 2,
  TRAP_SUP: 3,
  OPT_IPD_SUP: 4,
  AUTO_MIGR_SUP: 5,
  SL_MAP_SUP: 6,
  MKEY_NVRAM: 7,
  PKEY_NVRAM: 8,
  LED_INFO_SUP: 9,
  SM_DISABLED: 10,
  SYS_IMAGE_GUID_SUP: 11,
  PKEY_SW_EXT_PORT_TRAP_SUP: 12,
  EXTENDED_SPEEDS_SUP: 14,
  CAP_MASK2_SUP: 15,
  CM_SUP: 16,
  SNMP_TUNNEL_SUP: 17,
  REINIT_SUP: 18,
  DEVICE_MGMT_SUP: 19,
  VENDOR_CLASS_SUP: 20,
  DR_NOTICE_SUP: 21,
  CAP_MASK_NOTICE_SUP: 22,
  BOOT_MGMT_SUP: 23,
  LINK_LATENCY_SUP: 24,
  CLIENT_REG_SUP: 25,
  IP_BASED_GIDS: 26,
  LINK_SPEED_WIDTH_TABLE_SUP: 27,
  VENDOR_SPECIFIC_MADS_TABLE_SUP: 28,
  MCAST_PKEY_TRAP_SUPPRESSION_SUP: 29,
  MCAST_FDB_TOP_SUP: 30,
  HIERARCHY_INFO_SUP: 31,
});

export const PortCap2 = flagSet('ibv_port_cap_flags2', 'IBV_PORT_', {
  SET_NODE_DESC_SUP: 0,
  INFO_EXT_SUP: 1,
  VIRT_SUP: 2,
  SWITCH_PORT_STATE_TABLE_SUP: 3,
  LINK_WIDTH_2X_SUP: 4,
  LINK_SPEED_HDR_SUP: 5,
  LINK_SPEED_NDR_SUP: 10,
  LINK_SPEED_XDR_SUP: 12,
});

export const PortFlag = flagSet('ibv_port_attr.flags', 'IBV_QPF_', { GRH_REQUIRED: 0 });

export const CompCntrOp = flagSet('ibv_qp_attach_comp_cntr_op', 'IBV_QP_ATTACH_COMP_CNTR_OP_', {
  SEND: 0,
  RECV: 1,
  RDMA_READ: 2,
  REMOTE_RDMA_READ: 3,
  RDMA_WRITE: 4,
  REMOTE_RDMA_WRITE: 5,
});

export const QpType = enumeration('ibv_qp_type', 'IBV_QPT_', {
  RC: 2,
  UC: 3,
  UD: 4,
  RAW_PACKET: 8,
  XRC_SEND: 9,
  XRC_RECV: 10,
  DRIVER: 255,
});

export const QpState = enumeration('ibv_qp_state', 'IBV_QPS_', {
  RESET: 0,
  INIT: 1,
  RTR: 2,
  RTS: 3,
  SQD: 4,
  SQE: 5,
  ERR: 6,
  UNKNOWN: 7,
});

export const MigrationState = enumeration('ibv_mig_state', 'IBV_MIG_', { MIGRATED: 0, REARM: 1, ARMED: 2 });

export const QpAttrMask = flagSet('ibv_qp_attr_mask', 'IBV_QP_', {
  STATE: 0,
  CUR_STATE: 1,
  EN_SQD_ASYNC_NOTIFY: 2,
  ACCESS_FLAGS: 3,
  PKEY_INDEX: 4,
  PORT: 5,
  QKEY: 6,
  AV: 7,
  PATH_MTU: 8,
  TIMEOUT: 9,
  RETRY_CNT: 10,
  RNR_RETRY: 11,
  RQ_PSN: 12,
  MAX_QP_RD_ATOMIC: 13,
  ALT_PATH: 14,
  MIN_RNR_TIMER: 15,
  SQ_PSN: 16,
  MAX_DEST_RD_ATOMIC: 17,
  PATH_MIG_STATE: 18,
  CAP: 19,
  DEST_QPN: 20,
  RATE_LIMIT: 25,
});

export const AccessFlag = flagSet('ibv_access_flags', 'IBV_ACCESS_', {
  LOCAL_WRITE: 0,
  REMOTE_WRITE: 1,
  REMOTE_READ: 2,
  REMOTE_ATOMIC: 3,
  MW_BIND: 4,
  ZERO_BASED: 5,
  ON_DEMAND: 6,
  HUGETLB: 7,
  FLUSH_GLOBAL: 8,
  FLUSH_PERSISTENT: 9,
  RELAXED_ORDERING: 20,
});

const RATES = {
  '2_5_GBPS': 2,
  '5_GBPS': 5,
  '10_GBPS': 3,
  '20_GBPS': 6,
  '30_GBPS': 4,
  '40_GBPS': 7,
  '60_GBPS': 8,
  '80_GBPS': 9,
  '120_GBPS': 10,
  '14_GBPS': 11,
  '56_GBPS': 12,
  '112_GBPS': 13,
  '168_GBPS': 14,
  '25_GBPS': 15,
  '100_GBPS': 16,
  '200_GBPS': 17,
  '300_GBPS': 18,
  '28_GBPS': 19,
  '50_GBPS': 20,
  '400_GBPS': 21,
  '600_GBPS': 22,
  '800_GBPS': 23,
  '1200_GBPS': 24,
} as const;

/** Static rates of verbs: those of IBTA records, and no limit. */
export const Rate = enumeration('ibv_rate', 'IBV_RATE_', { MAX: 0, ...RATES });

/** IBTA PathRecord:Rate, 15.2.5.16. */
export const PathRate = enumeration('path rate', 'IBV_RATE_', RATES);
