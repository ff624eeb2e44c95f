/** Where an id is, as QUERY_ROUTE tells: addresses, GIDs, paths and the device. */
import type { ibvSaPathRec } from '../../abi/rdmacm.ts';
import { decodeSocketAddress } from '../../abi/sockaddr.ts';
import { LINUX } from '../../abi/ucma/linux-commands.ts';
import type { ibUserPathRec } from '../../abi/ucma/shared.ts';
import type { Decoded } from '../../layout/codec.ts';
import type { RouteValues } from '../backend.ts';
import type { UserCm } from './exchange.ts';

export const NO_ROUTE: RouteValues = {
  local: null,
  peer: null,
  sgid: new Uint8Array(16),
  dgid: new Uint8Array(16),
  pkey: 0,
  port: 0,
  paths: [],
};

export interface KernelRoute {
  readonly route: RouteValues;
  /** The kernel's number and the GUID of the device. */
  readonly index: number;
  readonly guid: bigint;
}

/** Throws NativeCallError. */
export async function queryRoute(cm: UserCm, id: number): Promise<KernelRoute> {
  const answer = await cm.ask(LINUX.QUERY_ROUTE, { id });
  // Without a path the first has what is known of it: GIDs and P_Key.
  const [first] = answer.ib_route;
  const route: RouteValues = {
    local: decodeSocketAddress(answer.src_addr),
    peer: decodeSocketAddress(answer.dst_addr),
    sgid: first?.sgid ?? NO_ROUTE.sgid,
    dgid: first?.dgid ?? NO_ROUTE.dgid,
    pkey: first?.pkey ?? 0,
    port: answer.port_num,
    paths: answer.ib_route.slice(0, answer.num_paths).map(pathOf),
  };
  return { route, index: answer.ibdev_index, guid: answer.node_guid };
}

/** The same record in librdmacm's order of members. */
const pathOf = (path: Decoded<typeof ibUserPathRec>): Decoded<typeof ibvSaPathRec> => ({ ...path });
