/** Releases of rdma-core: which one answered, and which one would say more. */

/** The number before the first dot of `44.0` or `58.amzn0`; null where it is not known. */
export function majorRelease(version: string | null): number | null {
  const major = Number.parseInt(version ?? '', 10);
  return Number.isNaN(major) ? null : major;
}

/** Whether a release is known to be at least `needed`; null where the release is not known. */
export function isAtLeast(version: string | null, needed: number): boolean | null {
  const major = majorRelease(version);
  return major === null ? null : major >= needed;
}

/** `ibv_query_port_speed needs rdma-core 62; this libibverbs is 44.0`. */
export function needsRelease(what: string, needed: number, library: string, version: string | null): string {
  return `${what} needs rdma-core ${needed}; this ${library} is ${version ?? 'of unknown release'}`;
}

/** First releases of the calls and members that an older libibverbs lacks. */
export const SINCE = {
  ibv_query_gid_table: 32,
  active_speed_ex: 49,
  ibv_query_port_speed: 62,
  ibv_query_comp_cntr_caps: 65,
} as const;
