/** The IP network of this process's namespace. Nothing here sends a packet. */
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';

export interface InterfaceAddress {
  readonly netdev: string;
  readonly address: string;
  /** Of IPv6 link-local addresses: the index of the network device. */
  readonly scopeId: number | null;
}

export interface Network {
  addresses(): readonly InterfaceAddress[];
  /** The source address that the kernel's routes give for a destination, or the errno's name (`ENETUNREACH`). */
  sourceOf(destination: string): Promise<{ readonly address: string } | { readonly errno: string }>;
}

/** Any port: connecting a UDP socket sends nothing. */
const DISCARD = 9;

export function openNetwork(): Network {
  return {
    addresses: () =>
      Object.entries(networkInterfaces()).flatMap(([netdev, entries = []]) =>
        entries.map(({ address, family, ...more }) => ({
          netdev,
          address,
          scopeId: family === 'IPv6' && 'scopeid' in more ? (more.scopeid ?? null) : null,
        })),
      ),
    async sourceOf(destination) {
      // Only this needs it, and it would cost every start.
      const { createSocket } = await import('node:dgram');
      return new Promise((resolve) => {
        const socket = createSocket(isIPv4(destination) ? 'udp4' : 'udp6');
        const end = (answer: { readonly address: string } | { readonly errno: string }): void => {
          socket.close();
          resolve(answer);
        };
        const fail = (error: NodeJS.ErrnoException): void => end({ errno: error.code ?? error.message });
        socket.once('error', fail);
        socket.once('connect', () => end({ address: socket.address().address }));
        socket.connect(DISCARD, destination);
      });
    },
  };
}

/** An IPv4 neighbour as /proc/net/arp has it. */
export interface Neighbour {
  readonly address: string;
  readonly hardware: string;
  readonly isComplete: boolean;
  readonly netdev: string;
}

const ATF_COM = 0x2;

export function parseArp(table: string): Neighbour[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [address, , flags, hardware, , netdev] = line.trim().split(/\s+/);
      if (!address || !hardware || !netdev) return [];
      return [{ address, hardware, isComplete: (Number(flags) & ATF_COM) !== 0, netdev }];
    });
}

/**
 * The gateway of an IPv4 destination on a network device, from /proc/net/route; null where it is on the same link.
 * Routes of other tables than the main one are not in that file.
 */
export function gatewayOf(table: string, destination: string, netdev: string): string | null {
  const wanted = ipv4Number(destination);
  let best: { readonly bits: number; readonly gateway: number } | null = null;
  for (const line of table.split('\n').slice(1)) {
    const [device, target, gateway, , , , , mask] = line.trim().split(/\s+/);
    if (device !== netdev || !target || !gateway || !mask) continue;
    const [network, netmask] = [hostOrder(target), hostOrder(mask)];
    if ((wanted & netmask) >>> 0 !== network) continue;
    const bits = netmask.toString(2).replaceAll('0', '').length;
    if (best === null || bits > best.bits) best = { bits, gateway: hostOrder(gateway) };
  }
  return best === null || best.gateway === 0 ? null : ipv4Text(best.gateway);
}

const ipv4Number = (text: string): number =>
  text.split('.').reduce((value, part) => value * 256 + Number(part), 0) >>> 0;
const ipv4Text = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
/** The file has the bytes of the network as a number of this machine. */
const hostOrder = (hex: string): number =>
  (hex.match(/../g) ?? []).reverse().reduce((value, byte) => value * 256 + Number.parseInt(byte, 16), 0) >>>
  0;
