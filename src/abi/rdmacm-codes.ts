/** Enumerations of <rdma/rdma_cma.h> and of the connection manager's messages. */
import { type EnumJson, enumeration } from '../layout/enumeration.ts';
import { flagSet } from '../layout/flags.ts';

/** enum rdma_cm_event_type; 16 to 19 since rdma-core 60. */
export const CmEventType = enumeration('rdma_cm_event_type', 'RDMA_CM_EVENT_', {
  ADDR_RESOLVED: 0,
  ADDR_ERROR: 1,
  ROUTE_RESOLVED: 2,
  ROUTE_ERROR: 3,
  CONNECT_REQUEST: 4,
  CONNECT_RESPONSE: 5,
  CONNECT_ERROR: 6,
  UNREACHABLE: 7,
  REJECTED: 8,
  ESTABLISHED: 9,
  DISCONNECTED: 10,
  DEVICE_REMOVAL: 11,
  MULTICAST_JOIN: 12,
  MULTICAST_ERROR: 13,
  ADDR_CHANGE: 14,
  TIMEWAIT_EXIT: 15,
  ADDRINFO_RESOLVED: 16,
  ADDRINFO_ERROR: 17,
  USER: 18,
  INTERNAL: 19,
});

export type CmEventName = NonNullable<ReturnType<typeof CmEventType.nameOf>>;

/** An event with its whole C name, as documents have it; name is null for a number that is not known. */
export function cmEventJson(value: number): EnumJson {
  const name = CmEventType.nameOf(value);
  return { value, name: name === null ? null : CmEventType.prefix + name };
}

export const PortSpace = enumeration('rdma_port_space', 'RDMA_PS_', {
  IPOIB: 0x0002,
  TCP: 0x0106,
  UDP: 0x0111,
  IB: 0x013f,
});

export type PortSpaceName = NonNullable<ReturnType<typeof PortSpace.nameOf>>;

/** What membership of a multicast group is asked for. */
export const JoinMulticastFlag = enumeration('rdma_cm_mc_join_flags', 'RDMA_MC_JOIN_FLAG_', {
  FULLMEMBER: 0,
  SENDONLY_FULLMEMBER: 1,
  RESERVED: 2,
});

/** Which members of a rdma_cm_join_mc_attr_ex hold. */
export const JoinMulticastAttr = flagSet('rdma_cm_join_mc_attr_mask', 'RDMA_CM_JOIN_MC_ATTR_', {
  ADDRESS: 0,
  JOIN_FLAGS: 1,
  RESERVED: 2,
});

/** What a path in ibv_path_data is for; the kernel's header has the same numbers. */
export const PathFlag = flagSet('ibv_path_data.flags', 'IBV_PATH_FLAG_', {
  GMP: 0,
  PRIMARY: 1,
  ALTERNATE: 2,
  OUTBOUND: 3,
  INBOUND: 4,
  INBOUND_REVERSE: 5,
});

/** Levels and names of rdma_set_option(3). */
export const CmOption = {
  ID_TOS: { level: 0, name: 0 },
  ID_REUSEADDR: { level: 0, name: 1 },
  ID_AFONLY: { level: 0, name: 2 },
  ID_ACK_TIMEOUT: { level: 0, name: 3 },
  IB_PATH: { level: 1, name: 1 },
} as const;

/** Flags of rdma_getaddrinfo(3). */
export const RaiFlag = { PASSIVE: 1, NUMERICHOST: 2, NOROUTE: 4, FAMILY: 8 } as const;

/** The Q_Key of port space udp. */
export const UDP_QKEY = 0x01234567;

/** responder_resources and initiator_depth: the most that the device can. */
export const CM_MAXIMUM = 0xff;
