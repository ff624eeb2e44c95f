/** Why the kernel does not take a datagram: EINVAL and EIO have many reasons, which the message tells apart. */
import { constants } from 'node:os';
import { gidText } from '../abi/ib-types.ts';
import { dataPlace, hasRmpp, MAD_SIZE } from '../datagram/headers.ts';
import { errnoText, errnoValue } from '../explain/errno.ts';
import { Failure } from '../explain/failure.ts';
import { LayoutError } from '../layout/error.ts';
import { NativeCallError } from '../native/errors.ts';
import type { Address } from './engine.ts';
import { requestFailed, usageFailure } from './failures.ts';
import { gidKind } from './gid-kind.ts';
import type { MadSession } from './session.ts';
import type { Target } from './target.ts';

/** What was handed to the kernel. */
export interface Sent {
  readonly address: Address;
  readonly mad: Uint8Array;
  readonly length: number | undefined;
}

const { EINVAL, EIO, ENODATA, ENOENT } = constants.errno;
/** ENODATA and ENOENT: a place in the GID table that is empty, or that there is not. */
const EXPLAINED: ReadonlySet<number> = new Set([EINVAL, EIO, ENODATA, ENOENT]);
const MOST_AGENTS = 32;
/** The least that the kernel takes: the common header and that of RMPP. */
const LEAST_MAD = 36;
const MGMT_CLASS = 1;
const RMPP_FLAGS = 26;
const ACTIVE = 1;

/** As requestFailed, with the reason in the address or the datagram. Throws what is no failure of sending. */
export async function sendingFailed(
  session: MadSession,
  what: string,
  target: Target | null,
  sent: Sent,
  error: unknown,
): Promise<Failure> {
  // A value that the header has no place for.
  if (error instanceof LayoutError) return usageFailure(error);
  const isExplained = error instanceof NativeCallError && EXPLAINED.has(error.errno);
  const reason = isExplained ? await reasonOf(session, sent, error.errno) : null;
  if (!isExplained || reason === null) return requestFailed(session.title, what, target, error);
  return new Failure(
    'SEND_FAILED',
    `${session.title}: ${what} cannot be sent: ${reason[0]} (${errnoText(error.errno)})`,
    reason[1],
    { errno: errnoValue(error.errno), cause: error },
  );
}

async function reasonOf(
  session: MadSession,
  { address, mad, length = mad.length }: Sent,
  errno: number,
): Promise<readonly [reason: string, hint: string] | null> {
  const { set = {} } = address;
  const ownId = 'the id of an agent comes from its registration: leave out id';
  if (errno === EIO) return set.id === undefined ? null : [`there is no agent ${set.id}`, ownId];
  if ((set.id ?? 0) >= MOST_AGENTS)
    return [`agents have ids up to ${MOST_AGENTS - 1}, and not ${set.id}`, ownId];
  const mgmtClass = mad[MGMT_CLASS] ?? 0;
  const least = Math.max(LEAST_MAD, hasRmpp(mgmtClass) ? dataPlace(mgmtClass).offset : 0);
  if (length < least) {
    return [
      `${length} bytes are too few`,
      `a datagram of this class has at least ${least}; the kernel fills it up to 256`,
    ];
  }
  if (length > MAD_SIZE && (!hasRmpp(mgmtClass) || ((mad[RMPP_FLAGS] ?? 0) & ACTIVE) === 0)) {
    return [
      `${length} bytes are more than a datagram has`,
      '--rmpp sends several, in the classes that have RMPP',
    ];
  }
  return routeReason(session, address);
}

async function routeReason(
  session: MadSession,
  { grh, set = {} }: Address,
): Promise<readonly [reason: string, hint: string] | null> {
  const present = set.grh_present ?? (grh === null ? 0 : 1);
  if (present === 0) {
    return (await session.isEthernet())
      ? [
          'without a global route header',
          'over Ethernet (RoCE) it is the only address: leave out grh_present',
        ]
      : null;
  }
  const gid = set.gid ?? grh?.gid ?? new Uint8Array(16);
  const index = set.gid_index ?? grh?.gidIndex ?? 0;
  const gids = await session.gids();
  const own = gids.find((each) => each.index === index);
  const table = `the table of ${session.title} has: ${gids.map((each) => `${each.index} ${gidText(each.gid)}`).join(', ')}`;
  if (!own) return [`the port has no GID of index ${index}`, table];
  if (gidKind(own.gid) !== gidKind(gid)) {
    return [
      `GID index ${index} (${gidText(own.gid)}, ${gidKind(own.gid)}) is of another kind than ${gidText(gid)} (${gidKind(gid)})`,
      table,
    ];
  }
  return [`nothing leads to ${gidText(gid)}`, `is it a GID of the network? ${table}`];
}
