/** Where a request goes: a LID, a directed path, a GUID or a GID. */
import { gidText, guidText } from '../abi/ib-types.ts';
import { FieldValueError, parseGid, parseGuid, parseInteger } from '../datagram/field.ts';

export type Target =
  | { readonly kind: 'lid'; readonly lid: number }
  /** Ports to leave by, hop by hop; the first is 0, the port of this host. */
  | { readonly kind: 'path'; readonly path: readonly number[] }
  | { readonly kind: 'guid'; readonly guid: bigint }
  | { readonly kind: 'gid'; readonly gid: Uint8Array };

export const LOCAL_PATH: Target = { kind: 'path', path: [0] };

const MOST_HOPS = 63;
/** Above are LIDs of multicast groups, and 0xffff. IBTA volume 1, 4.1.3. */
const LAST_UNICAST_LID = 0xbfff;

/**
 * Reads a target: `3` or `0x3` is a LID, `0,1,3` a path, `0x0002c90300001234` or `0002:c903:0000:1234` a GUID,
 * `fe80::2:c903:0:1234` a GID; `0` and `local` are the port of this host.
 * @throws FieldValueError
 */
export function parseTarget(text: string): Target {
  if (text === 'local' || /^\d+(,\d+)*$/.test(text)) {
    if (text === 'local' || text === '0' || text.includes(','))
      return { kind: 'path', path: parsePath(text) };
  }
  if (/^([0-9a-f]{1,4}:){3}[0-9a-f]{1,4}$/i.test(text)) return { kind: 'guid', guid: parseGuid(text) };
  if (text.includes(':')) return { kind: 'gid', gid: parseGid(text) };
  if (!/^(\d+|0x[0-9a-f]+)$/i.test(text)) {
    throw new FieldValueError(
      `'${text}' is no target: a LID (3), a directed path (0,1,3), a GUID (0x0002c90300001234) or a GID (fe80::1)`,
    );
  }
  const value = parseInteger(text, 64);
  // GUIDs are hexadecimal: so many decimal digits are a LID mistyped.
  if (value > 0xffffn && /^0x/i.test(text)) return { kind: 'guid', guid: value };
  if (value === 0n || value > BigInt(LAST_UNICAST_LID)) {
    throw new FieldValueError(
      `${text} is no LID of a port: they are 1 to 0xbfff (49151); a GUID is written with 0x`,
    );
  }
  return { kind: 'lid', lid: Number(value) };
}

function parsePath(text: string): number[] {
  const path = text === 'local' ? [0] : text.split(',').map(Number);
  if (path[0] !== 0)
    throw new FieldValueError(`a directed path begins with 0, the port of this host: '0,${text}'`);
  if (path.length - 1 > MOST_HOPS) throw new FieldValueError(`a directed path has at most ${MOST_HOPS} hops`);
  const wrong = path.slice(1).find((port) => port < 1 || port > 254);
  if (wrong !== undefined) throw new FieldValueError(`${wrong} is no port of a switch: they are 1 to 254`);
  return path;
}

/** The target as a person typed it, or would. */
export function targetText(target: Target): string {
  switch (target.kind) {
    case 'lid':
      return `LID ${target.lid}`;
    case 'path':
      return target.path.length === 1 ? 'the port of this host' : `path ${target.path.join(',')}`;
    case 'guid':
      return `GUID ${guidText(target.guid)}`;
    case 'gid':
      return `GID ${gidText(target.gid)}`;
  }
}
