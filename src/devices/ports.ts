import { linkRateGbps, unknownRate } from '../abi/link-rate.ts';
import { ibvPortAttr } from '../abi/verbs.ts';
import { LinkSpeed } from '../abi/verbs-codes.ts';
import type { FailureJson } from '../explain/failure.ts';
import type { Decoded } from '../layout/codec.ts';
import type { Gid, Pkey, Port } from '../model/query-device.ts';
import { MissingSymbolError } from '../native/errors.ts';
import type { VerbsContext } from '../native/libibverbs.ts';
import { CALL_DEADLINE_MS } from '../waiting/deadline.ts';
import type { Patience } from '../waiting/patience.ts';
import { reasonOf } from './failures.ts';
import type { GidSource } from './gids.ts';
import { isAtLeast, needsRelease, SINCE } from './release.ts';

/** A port's attributes as the driver gave them. */
export interface PortAnswer {
  readonly port: number;
  readonly attr: Decoded<typeof ibvPortAttr>;
  /** Whether the tail beyond `flags` was filled. */
  readonly complete: boolean;
}

/** The valid GIDs of a port and what told them, or why there is no telling. */
export type PortGids =
  | { readonly from: GidSource; readonly entries: readonly Gid[] }
  | { readonly from: null; readonly reason: string };

/** ibv_query_port(3). Throws NativeCallError, DeadlineError. */
export async function askPort(context: VerbsContext, patience: Patience, port: number): Promise<PortAnswer> {
  const answer = await patience.call(CALL_DEADLINE_MS, `port ${port}: ibv_query_port`, () =>
    context.queryPort(port),
  );
  return { port, ...answer };
}

/**
 * A port as the result shows it: attributes, rate, P_Keys, and the GIDs that are given.
 * @param version release of the libibverbs that answers
 */
export async function describePort(
  context: Pick<VerbsContext, 'queryPortSpeed' | 'queryPkey'>,
  patience: Patience,
  answer: PortAnswer,
  gids: PortGids,
  version: string | null,
): Promise<Port> {
  const { attr, complete, port } = answer;
  const shown = ibvPortAttr.toJson(attr);
  const unavailable: Record<string, string> =
    gids.from === null ? { gids: gids.reason, gids_from: gids.reason } : {};
  const knowsWideSpeed = attr.active_speed_ex !== 0 || isAtLeast(version, SINCE.active_speed_ex) === true;
  if (!knowsWideSpeed) {
    unavailable['active_speed_ex'] = needsRelease(
      'active_speed_ex',
      SINCE.active_speed_ex,
      'libibverbs',
      version,
    );
  }
  if (!complete) unavailable['port_cap_flags2'] = 'this libibverbs offers only the older ibv_query_port';
  const speed = attr.active_speed_ex === 0 ? attr.active_speed : attr.active_speed_ex;
  const rate = linkRateGbps(attr.active_width, speed);
  if (rate === null) unavailable['rate_gbps'] = unknownRate(attr.active_width, speed);
  return {
    ...shown,
    port_cap_flags2: complete ? shown.port_cap_flags2 : null,
    active_speed_ex: knowsWideSpeed ? shown.active_speed_ex : null,
    port,
    error: null,
    speed: LinkSpeed.show(speed),
    rate_gbps: rate,
    effective_speed_gbps: await effectiveSpeed(context, patience, port, version, unavailable),
    gids: gids.from === null ? null : [...gids.entries],
    gids_from: gids.from,
    pkeys: readPkeys(context, patience, port, attr.pkey_tbl_len, unavailable),
    unavailable,
  };
}

async function effectiveSpeed(
  context: Pick<VerbsContext, 'queryPortSpeed'>,
  patience: Patience,
  port: number,
  version: string | null,
  unavailable: Record<string, string>,
): Promise<number | null> {
  try {
    const tenths = await patience.call(CALL_DEADLINE_MS, `port ${port}: ibv_query_port_speed`, () =>
      context.queryPortSpeed(port),
    );
    return Number(tenths) / 10;
  } catch (error) {
    unavailable['effective_speed_gbps'] =
      error instanceof MissingSymbolError
        ? needsRelease(error.symbol, SINCE.ibv_query_port_speed, 'libibverbs', version)
        : reasonOf(error);
    return null;
  }
}

const FULL_MEMBER = 0x8000;

/** A P_Key table without its empty entries (IBTA 10.9.2: an entry whose lower 15 bits are 0 is not valid). */
export const validPkeys = (table: readonly number[]): Pkey[] =>
  table
    .map((value, index) => ({ index, value }))
    .filter(({ value }) => (value & ~FULL_MEMBER) !== 0)
    .map(({ index, value }) => ({
      index,
      pkey: `0x${value.toString(16).padStart(4, '0')}`,
      membership: value & FULL_MEMBER ? 'full' : 'limited',
    }));

function readPkeys(
  context: Pick<VerbsContext, 'queryPkey'>,
  patience: Patience,
  port: number,
  length: number,
  unavailable: Record<string, string>,
): Pkey[] | null {
  try {
    // These calls run on this thread; the driver is known to answer.
    patience.check();
    return validPkeys(Array.from({ length }, (_, index) => context.queryPkey(port, index)));
  } catch (error) {
    unavailable['pkeys'] = reasonOf(error);
    return null;
  }
}

/** A port that could not be queried: every attribute is null. */
export function failedPort(port: number, error: FailureJson): Port {
  const none = Object.fromEntries(ibvPortAttr.members.map(({ name }) => [name, null])) as Record<
    keyof typeof ibvPortAttr.fields,
    null
  >;
  const derived = ['speed', 'rate_gbps', 'effective_speed_gbps', 'gids', 'gids_from', 'pkeys'];
  const unknown = [...Object.keys(none), ...derived];
  return {
    ...none,
    port,
    error,
    speed: null,
    rate_gbps: null,
    effective_speed_gbps: null,
    gids: null,
    gids_from: null,
    pkeys: null,
    unavailable: Object.fromEntries(unknown.map((key) => [key, error.message])),
  };
}
