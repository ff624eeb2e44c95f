/** Numbers of the commands on /dev/infiniband/rdma_cm, and what else <rdma/rdma_user_cm.h> counts. */
import { enumeration } from '../../layout/enumeration.ts';
import { flagSet } from '../../layout/flags.ts';

/** Linux's commands. 18 to 22 came with AF_IB (Linux 3.11; 18 before), the last two in 2025. */
export const UcmaCommandNumber = enumeration('rdma_ucm_cmd_hdr.cmd', 'RDMA_USER_CM_CMD_', {
  CREATE_ID: 0,
  DESTROY_ID: 1,
  BIND_IP: 2,
  RESOLVE_IP: 3,
  RESOLVE_ROUTE: 4,
  QUERY_ROUTE: 5,
  CONNECT: 6,
  LISTEN: 7,
  ACCEPT: 8,
  REJECT: 9,
  DISCONNECT: 10,
  INIT_QP_ATTR: 11,
  GET_EVENT: 12,
  GET_OPTION: 13,
  SET_OPTION: 14,
  NOTIFY: 15,
  JOIN_IP_MCAST: 16,
  LEAVE_MCAST: 17,
  MIGRATE_ID: 18,
  QUERY: 19,
  BIND: 20,
  RESOLVE_ADDR: 21,
  JOIN_MCAST: 22,
  RESOLVE_IB_SERVICE: 23,
  WRITE_CM_EVENT: 24,
});

/** What QUERY can ask. */
export const UcmaQueryOption = enumeration('rdma_ucm_query.option', 'RDMA_USER_CM_QUERY_', {
  ADDR: 0,
  PATH: 1,
  GID: 2,
  IB_SERVICE: 3,
});

/** What of an rdma_ucm_ib_service is asked for. */
export const UcmaIbServiceFlag = flagSet('rdma_ucm_ib_service.flags', 'RDMA_USER_CM_IB_SERVICE_FLAG_', {
  ID: 0,
  NAME: 1,
});
