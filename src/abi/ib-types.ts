import type { Codec } from '../layout/codec.ts';
import { be64, bytes } from '../layout/scalar.ts';

/** A GUID as sysfs prints it: four groups of four digits. */
export function guidText(guid: bigint): string {
  return (guid.toString(16).padStart(16, '0').match(/.{4}/g) ?? []).join(':');
}

/** An EUI-64 in network byte order, as libibverbs hands GUIDs out. */
export const guid: Codec<bigint, string> = {
  ...be64,
  toJson: guidText,
  schema: () => ({ type: 'string', pattern: '^([0-9a-f]{4}:){3}[0-9a-f]{4}$' }),
};

/** The eight 16-bit groups of a GID. */
function groupsOf(gid: Uint8Array): number[] {
  return Array.from({ length: 8 }, (_, i) => ((gid[2 * i] ?? 0) << 8) | (gid[2 * i + 1] ?? 0));
}

/** All eight groups with their zeros, as sysfs and ibv_devinfo print a GID. */
export function fullGidText(gid: Uint8Array): string {
  return groupsOf(gid)
    .map((group) => group.toString(16).padStart(4, '0'))
    .join(':');
}

/** The IPv4 address inside an IPv4-mapped GID (`::ffff:a.b.c.d`), else null. */
export function ipv4OfGid(gid: Uint8Array): string | null {
  const mapped = gid.subarray(0, 10).every((byte) => byte === 0) && gid[10] === 0xff && gid[11] === 0xff;
  return mapped ? gid.subarray(12, 16).join('.') : null;
}

/** The short form of a GID: an IPv6 text as RFC 5952 writes it, an IPv4-mapped one with the address in dots. */
export function gidText(gid: Uint8Array): string {
  const ipv4 = ipv4OfGid(gid);
  if (ipv4 !== null) return `::ffff:${ipv4}`;
  const groups = groupsOf(gid);
  let start = -1;
  let longest = 1;
  for (let from = 0; from < 8; from++) {
    let length = 0;
    while (from + length < 8 && groups[from + length] === 0) length++;
    if (length > longest) [start, longest] = [from, length];
  }
  const hexGroups = groups.map((group) => group.toString(16));
  if (start < 0) return hexGroups.join(':');
  return `${hexGroups.slice(0, start).join(':')}::${hexGroups.slice(start + longest).join(':')}`;
}

/** The 16 bytes of an IPv6 address; null if the text is none. */
export function parseGid(text: string): Uint8Array | null {
  const ipv4 = /^(.*:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  let groups = text;
  if (ipv4) {
    const [a = 0, b = 0, c = 0, d = 0] = ipv4.slice(2).map(Number);
    if (Math.max(a, b, c, d) > 255) return null;
    groups = `${ipv4[1]}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  }
  const halves = groups.split('::').map((half) => (half === '' ? [] : half.split(':')));
  if (halves.length > 2 || halves.flat().some((group) => !/^[0-9a-f]{1,4}$/i.test(group))) return null;
  const [head = [], tail = []] = halves;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  const words = [...head, ...Array.from({ length: missing }, () => '0'), ...tail];
  return Uint8Array.from(
    words.flatMap((word) => {
      const value = Number.parseInt(word, 16);
      return [value >> 8, value & 0xff];
    }),
  );
}

export const isZeroGid = (gid: Uint8Array): boolean => gid.every((byte) => byte === 0);

/** A 16-byte GID. */
export const gid: Codec<Uint8Array, string> = {
  ...bytes(16),
  type: 'union ibv_gid',
  // The C union holds two 64-bit words.
  align: 8,
  toJson: gidText,
  schema: () => ({ type: 'string' }),
};
