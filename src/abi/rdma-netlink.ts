/** Messages of the RDMA netlink family: <rdma/rdma_netlink.h>. */

/** Client of the family that tells of devices. */
const RDMA_NL_NLDEV = 5;

export const NldevCommand = { GET: 1, PORT_GET: 5, SYS_GET: 6, GET_CHARDEV: 15 } as const;

/** nlmsg_type of a command. */
export const nldevType = (command: number): number => (RDMA_NL_NLDEV << 10) | command;

/** RDMA_NLDEV_ATTR_*, as far as the commands above have them. */
export const NldevAttr = {
  DEV_INDEX: 1,
  DEV_NAME: 2,
  /** The number of ports, in answers to GET. */
  PORT_INDEX: 3,
  CAP_FLAGS: 4,
  FW_VERSION: 5,
  NODE_GUID: 6,
  SYS_IMAGE_GUID: 7,
  PORT_STATE: 12,
  PORT_PHYS_STATE: 13,
  DEV_NODE_TYPE: 14,
  NDEV_INDEX: 50,
  NDEV_NAME: 51,
  SYS_NETNS_MODE: 66,
  DEV_PROTOCOL: 67,
  CHARDEV_TYPE: 69,
  CHARDEV_NAME: 70,
  CHARDEV_ABI: 71,
  CHARDEV: 72,
  UVERBS_DRIVER_ID: 73,
  SYS_COPY_ON_FORK: 93,
} as const;

/** enum rdma_driver_id, in <rdma/ib_user_ioctl_verbs.h>. */
export const RdmaDriverId = { RXE: 14, EFA: 17 } as const;
