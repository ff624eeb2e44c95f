import { fullGidText, ipv4OfGid } from '../abi/ib-types.ts';

/** GIDs of one kind reach each other. */
export type GidKind = 'link-local' | 'IPv4' | 'global';

export function gidKind(gid: Uint8Array): GidKind {
  if (fullGidText(gid).startsWith('fe80:0000:0000:0000:')) return 'link-local';
  return ipv4OfGid(gid) === null ? 'global' : 'IPv4';
}
