/** Where a datagram came from, by the 40 bytes before its data. */
import { gidText } from '../abi/ib-types.ts';
import { WcFlag } from '../abi/verbs-work.ts';
import type { WorkCompletion } from './data-path.ts';

const IPV6_SOURCE = 8;
/** RoCE v2 over IPv4: the IP header lies at the end of the room. */
const IPV4_SOURCE = 32;
const IPV4_MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** The GID of the sender, null where no global route came along. */
export function senderGid({ wc_flags }: WorkCompletion, header: Uint8Array): string | null {
  if (!WcFlag.has(wc_flags, 'GRH')) return null;
  const isIpv6 = (header[0] ?? 0) >> 4 === 6;
  return gidText(
    isIpv6
      ? header.slice(IPV6_SOURCE, IPV6_SOURCE + 16)
      : Uint8Array.from([...IPV4_MAPPED, ...header.slice(IPV4_SOURCE, IPV4_SOURCE + 4)]),
  );
}
