/** Numbers with names in management datagrams. IBTA volume 1, 13.4 to 16.3; names as rdma-core has them. */
import { enumeration } from '../layout/enumeration.ts';
import { flagSet } from '../layout/flags.ts';

export const RESPONSE_BIT = 0x80;

export const NodeType = enumeration('node type', '', { CA: 1, SWITCH: 2, ROUTER: 3 });

/** PortInfo:LinkDownDefaultState. */
export const DownState = enumeration('link down default state', '', { NO_CHANGE: 0, SLEEP: 1, POLLING: 2 });

/** PortInfo:LinkWidthEnabled and LinkWidthSupported. */
export const LinkWidths = flagSet('link widths', '', { '1X': 0, '4X': 1, '8X': 2, '12X': 3, '2X': 4 });

/** PortInfo:LinkSpeedEnabled and LinkSpeedSupported. */
export const LinkSpeeds = flagSet('link speeds', '', { SDR: 0, DDR: 1, QDR: 2 });
/** PortInfo:LinkSpeedActive. */
export const LinkSpeedActive = enumeration('link speed active', '', { SDR: 1, DDR: 2, QDR: 4 });

/** PortInfo:LinkSpeedExtEnabled and LinkSpeedExtSupported. */
export const LinkSpeedsExt = flagSet('extended link speeds', '', { FDR: 0, EDR: 1, HDR: 2, NDR: 3 });
/** PortInfo:LinkSpeedExtActive; 0 where LinkSpeedActive holds. */
export const LinkSpeedExtActive = enumeration('extended link speed active', '', {
  NONE: 0,
  FDR: 1,
  EDR: 2,
  HDR: 4,
  NDR: 8,
});

/** SMInfo:SMState. IBTA 14.4.1. */
export const SmState = enumeration('SM state', '', { NOT_ACTIVE: 0, DISCOVERING: 1, STANDBY: 2, MASTER: 3 });

/** Notice:Type. IBTA 13.4.8.2. */
export const NoticeType = enumeration('notice type', '', {
  FATAL: 0,
  URGENT: 1,
  SECURITY: 2,
  SUBNET_MANAGEMENT: 3,
  INFORMATIONAL: 4,
  EMPTY: 0x7f,
});

/** Notice of trap 144: what changed, where it is not the capabilities. IBTA 14.2.5.1. */
export const TrapChange = flagSet('changes of trap 144', '', {
  NODE_DESCRIPTION: 0,
  LINK_WIDTH_ENABLED: 1,
  LINK_SPEED_ENABLED: 2,
  SM_PRIORITY: 3,
  HIERARCHY_INFO: 4,
  CAPABILITY_MASK2: 5,
});

/** RMPPType. IBTA 13.6.2.1. */
export const RmppType = enumeration('RMPP type', '', { NONE: 0, DATA: 1, ACK: 2, STOP: 3, ABORT: 4 });
export const RmppFlags = flagSet('RMPP flags', '', { ACTIVE: 0, FIRST: 1, LAST: 2 });

/** Selectors of rate, MTU and lifetime in SA records. IBTA 15.2.5.16. */
export const Selector = enumeration('selector', '', { GREATER: 0, LESS: 1, EXACTLY: 2, LARGEST: 3 });

/** MCMemberRecord:JoinState. */
export const JoinState = flagSet('join state', '', {
  FULL_MEMBER: 0,
  NON_MEMBER: 1,
  SEND_ONLY_NON_MEMBER: 2,
  SEND_ONLY_FULL_MEMBER: 3,
});

/** CM: which message is rejected or acknowledged. IBTA 12.6.6 and 12.6.7. */
export const CmMessage = enumeration('CM message', '', { REQ: 0, REP: 1, OTHER: 2 });

/** CM: transport of a connection. IBTA 12.7.6. */
export const CmTransport = enumeration('CM transport', '', { RC: 0, UC: 1, RD: 2, EXTENDED: 3 });

/** CM: whether a failover address was taken. IBTA 12.7.11. */
export const CmFailover = enumeration('CM failover', '', { ACCEPTED: 0, NOT_SUPPORTED: 1, REJECTED: 2 });

/** CM: SIDR_REP:Status. IBTA 12.11.2; names as the kernel's enum ib_cm_sidr_status. */
export const SidrStatus = enumeration('SIDR status', '', {
  SUCCESS: 0,
  UNSUPPORTED: 1,
  REJECT: 2,
  NO_QP: 3,
  REDIRECT: 4,
  UNSUPPORTED_VERSION: 5,
});

/** CM: REJ:Reason. IBTA 12.6.7.2; names as the kernel's enum ib_cm_rej_reason. */
export const RejectReason = enumeration('CM reject reason', '', {
  NO_QP: 1,
  NO_EEC: 2,
  NO_RESOURCES: 3,
  TIMEOUT: 4,
  UNSUPPORTED: 5,
  INVALID_COMM_ID: 6,
  INVALID_COMM_INSTANCE: 7,
  INVALID_SERVICE_ID: 8,
  INVALID_TRANSPORT_TYPE: 9,
  STALE_CONN: 10,
  RDC_NOT_EXIST: 11,
  INVALID_GID: 12,
  INVALID_LID: 13,
  INVALID_SL: 14,
  INVALID_TRAFFIC_CLASS: 15,
  INVALID_HOP_LIMIT: 16,
  INVALID_PACKET_RATE: 17,
  INVALID_ALT_GID: 18,
  INVALID_ALT_LID: 19,
  INVALID_ALT_SL: 20,
  INVALID_ALT_TRAFFIC_CLASS: 21,
  INVALID_ALT_HOP_LIMIT: 22,
  INVALID_ALT_PACKET_RATE: 23,
  PORT_CM_REDIRECT: 24,
  PORT_REDIRECT: 25,
  INVALID_MTU: 26,
  INSUFFICIENT_RESP_RESOURCES: 27,
  CONSUMER_DEFINED: 28,
  INVALID_RNR_RETRY: 29,
  DUPLICATE_LOCAL_COMM_ID: 30,
  INVALID_CLASS_VERSION: 31,
  INVALID_FLOW_LABEL: 32,
  INVALID_ALT_FLOW_LABEL: 33,
  VENDOR_OPTION_NOT_SUPPORTED: 35,
});
