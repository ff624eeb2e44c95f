/** Which entry of a port's GID table RDMA programs want, and why: the answer to "which GID index?". */
import { ipv4OfGid, isZeroGid } from '../abi/ib-types.ts';
import type { GidChoice, GidEntry, GidScope } from '../model/gid.ts';

/** How far packets to a GID go: RFC 4291, and RFC 3927 for IPv4. */
export function gidScope(gid: Uint8Array): GidScope {
  const [a = 0, b = 0] = gid;
  const ipv4 = ipv4OfGid(gid)?.split('.').map(Number);
  if (ipv4 !== undefined) {
    const [first = 0, second = 0] = ipv4;
    if (first === 127) return 'loopback';
    if (first === 169 && second === 254) return 'link-local';
    return first >= 224 && first < 240 ? 'multicast' : 'routable';
  }
  if (isZeroGid(gid)) return 'empty';
  if (gid.subarray(0, 15).every((byte) => byte === 0) && gid[15] === 1) return 'loopback';
  if (a === 0xff) return 'multicast';
  return a === 0xfe && (b & 0xc0) === 0x80 ? 'link-local' : 'routable';
}

/** What the choice depends on beside the entries. */
export interface GidSurroundings {
  readonly isEfa: boolean;
  /** `INFINIBAND`, `ETHERNET`, `UNSPECIFIED`; null where it is not known. */
  readonly linkLayer: string | null;
  /** `IB`, `IWARP` …; null where it is not known. */
  readonly transport: string | null;
}

type Chosen = { readonly choice: GidChoice } | { readonly choice: null; readonly reason: string };

/**
 * Chooses among the valid entries of a port. On Ethernet: RoCE v2, routable, network device up; IPv4 before IPv6, as
 * NCCL, UCX and perftest do it where nobody tells them; then the lowest index.
 */
export function chooseGid(entries: readonly GidEntry[], around: GidSurroundings): Chosen {
  const [first] = entries;
  if (around.transport === 'IWARP') {
    return none('iWARP connects by IP address, through the RDMA connection manager: no index is to be given');
  }
  const isRoce =
    around.linkLayer === 'ETHERNET' || entries.some(({ type }) => type !== null && type.name !== 'IB');
  if (first === undefined) {
    return none(
      isRoce
        ? 'no GID: the network device is down, has no address, or is in another network namespace than this'
        : 'no GID: the port has no address yet',
    );
  }
  if (isRoce && !around.isEfa) return chooseRoce(entries);
  const index0 = entries.find(({ index }) => index === 0);
  if (index0 === undefined) return none('index 0, which programs take by themselves, is empty');
  const reason = around.isEfa
    ? 'EFA has one GID: programs need no other'
    : 'InfiniBand: the GID that the port always has, from its GUID; later ones are aliases';
  return { choice: { index: 0, reason, others: [] } };
}

const none = (reason: string): Chosen => ({ choice: null, reason });

function chooseRoce(entries: readonly GidEntry[]): Chosen {
  const v2 = entries.filter(({ type }) => type?.name === 'ROCE_V2');
  const routable = v2.filter(({ scope }) => scope === 'routable');
  const usable = routable.filter(({ netdev_state }) => netdev_state === null || netdev_state === 'up');
  const rank = (entry: GidEntry): number =>
    (entry.netdev_state === 'up' ? 0 : 2) + (entry.ipv4 === null ? 1 : 0);
  const [best, ...others] = [...usable].sort((a, b) => rank(a) - rank(b) || a.index - b.index);
  if (best !== undefined) {
    const address = best.ipv4 === null ? `IPv6 address ${best.gid}` : `IPv4 address ${best.ipv4}`;
    const state =
      best.netdev === null
        ? 'its network device is not known'
        : best.netdev_state === null
          ? `the state of ${best.netdev} cannot be seen from here`
          : `${best.netdev} is up`;
    return {
      choice: {
        index: best.index,
        reason: `RoCE v2, routable ${address}, ${state}`,
        others: others.map(({ index }) => index).sort((a, b) => a - b),
      },
    };
  }
  const [down] = routable;
  if (down !== undefined) {
    return none(`index ${down.index} is RoCE v2 and routable, but ${down.netdev} is ${down.netdev_state}`);
  }
  const [local] = v2.filter(({ scope }) => scope === 'link-local');
  if (local !== undefined) {
    return none(
      `the GIDs of RoCE v2 are link-local (index ${local.index}), which serve on one link only: give ${local.netdev ?? 'the network device'} an IP address`,
    );
  }
  const names = new Set(entries.map(({ type }) => type?.name ?? null));
  if (names.has(null))
    return none(
      'the kernel does not tell the types of the GIDs: see /sys/class/infiniband/*/ports/*/gid_attrs',
    );
  return none(
    names.has('ROCE_V1')
      ? 'the GIDs are of RoCE v1, which routers do not carry: the card or its driver offers no RoCE v2'
      : 'there is no RoCE v2 GID',
  );
}
