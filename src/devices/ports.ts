import { ibvPortAttr } from '../abi/verbs.ts';
import { LinkSpeed } from '../abi/verbs-codes.ts';
import type { FailureJson } from '../explain/failure.ts';
import type { Decoded } from '../layout/codec.ts';
import type { Gid, Pkey, Port } from '../model/query-device.ts';
import { MissingSymbolError } from '../native/errors.ts';
import type { VerbsContext } from '../native/libibverbs.ts';
import { CALL_DEADLINE_MS, within } from '../waiting/deadline.ts';
import { reasonOf } from './failures.ts';
import { linkRateGbps } from './link-rate.ts';
import { isAtLeast, needsRelease, SINCE } from './release.ts';

/** A port's attributes as the driver gave them. */
export interface PortAnswer {
  readonly port: number;
  readonly attr: Decoded<typeof ibvPortAttr>;
  /** Whether the tail beyond `flags` was filled. */
  readonly complete: boolean;
}

/** ibv_query_port(3). Throws NativeCallError, DeadlineError. */
export async function askPort(context: VerbsContext, port: number): Promise<PortAnswer> {
  const operation = `${context.deviceName}: ibv_query_port`;
  return { port, ...(await within(CALL_DEADLINE_MS, operation, context.queryPort(port))) };
}

/**
 * A port as the result shows it: attributes, rate, P_Keys, and the GIDs that are given.
 * @param version release of the libibverbs that answers
 */
export async function describePort(
  context: VerbsContext,
  answer: PortAnswer,
  gids: { readonly entries: readonly Gid[] | null; readonly reason: string | null },
  version: string | null,
): Promise<Port> {
  const { attr, complete, port } = answer;
  const shown = ibvPortAttr.toJson(attr);
  const unavailable: Record<string, string> = gids.reason === null ? {} : { gids: gids.reason };
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
  return {
    ...shown,
    port_cap_flags2: complete ? shown.port_cap_flags2 : null,
    active_speed_ex: knowsWideSpeed ? shown.active_speed_ex : null,
    port,
    error: null,
    speed: LinkSpeed.show(speed),
    rate_gbps: linkRateGbps(attr.active_width, speed),
    effective_speed_gbps: await effectiveSpeed(context, port, version, unavailable),
    gids: gids.entries === null ? null : [...gids.entries],
    pkeys: readPkeys(context, port, attr.pkey_tbl_len, unavailable),
    unavailable,
  };
}

async function effectiveSpeed(
  context: VerbsContext,
  port: number,
  version: string | null,
  unavailable: Record<string, string>,
): Promise<number | null> {
  try {
    const operation = `${context.deviceName}: ibv_query_port_speed`;
    return Number(await within(CALL_DEADLINE_MS, operation, context.queryPortSpeed(port))) / 10;
  } catch (error) {
    unavailable['effective_speed_gbps'] =
      error instanceof MissingSymbolError
        ? needsRelease(error.symbol, SINCE.ibv_query_port_speed, 'libibverbs', version)
        : reasonOf(error);
    return null;
  }
}

const FULL_MEMBER = 0x8000;

/** The P_Key table without its empty entries (IBTA 10.9.2: an entry whose lower 15 bits are 0 is not valid). */
function readPkeys(
  context: VerbsContext,
  port: number,
  length: number,
  unavailable: Record<string, string>,
): Pkey[] | null {
  try {
    return Array.from({ length }, (_, index) => ({ index, value: context.queryPkey(port, index) }))
      .filter(({ value }) => (value & ~FULL_MEMBER) !== 0)
      .map(({ index, value }) => ({
        index,
        pkey: `0x${value.toString(16).padStart(4, '0')}`,
        membership: value & FULL_MEMBER ? 'full' : 'limited',
      }));
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
  return {
    ...none,
    port,
    error,
    speed: null,
    rate_gbps: null,
    effective_speed_gbps: null,
    gids: null,
    pkeys: null,
    unavailable: {},
  };
}
