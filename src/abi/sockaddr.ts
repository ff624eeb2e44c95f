/** Socket addresses, from <netinet/in.h> and <infiniband/ib.h>: bytes <-> {family, address, port}. */
import type { Codec } from '../layout/codec.ts';
import { be16, be32, be64, bytes, u16, u32, u64 } from '../layout/scalar.ts';
import { struct } from '../layout/struct.ts';
import { gidText } from './ib-types.ts';

/** Address families; AF_IB is Linux's. */
export const AF = { INET: 2, INET6: 10, IB: 27 } as const;

export const sockaddrIn = struct('sockaddr_in', {
  sin_family: u16,
  sin_port: be16,
  // A struct in_addr: one 32-bit word.
  sin_addr: { ...bytes(4), align: 4 },
  sin_zero: bytes(8),
});

export const sockaddrIn6 = struct('sockaddr_in6', {
  sin6_family: u16,
  sin6_port: be16,
  sin6_flowinfo: be32,
  sin6_addr: bytes(16),
  sin6_scope_id: u32,
});

export const sockaddrIb = struct('sockaddr_ib', {
  sib_family: u16,
  sib_pkey: be16,
  sib_flowinfo: be32,
  sib_addr: bytes(16),
  sib_sid: be64,
  sib_sid_mask: be64,
  sib_scope_id: u64,
});

/** An address and a port. For AF_IB the address is a GID and the port the low 16 bits of the service ID. */
export interface SocketAddress {
  readonly family: 'ipv4' | 'ipv6' | 'ib';
  /** Numeric text, without a scope. */
  readonly address: string;
  readonly port: number;
  /** IPv6: the interface index of a link-local address; 0 is none. */
  readonly scopeId: number;
}

const familyOf = (raw: Uint8Array): number => (raw[0] ?? 0) | ((raw[1] ?? 0) << 8);

/** A sockaddr of any known family; null for the all-zero one and for families that are not known. */
export function decodeSocketAddress(raw: Uint8Array): SocketAddress | null {
  const family = familyOf(raw);
  if (family === AF.INET) {
    const { sin_addr, sin_port } = sockaddrIn.decode(raw);
    return { family: 'ipv4', address: sin_addr.join('.'), port: sin_port, scopeId: 0 };
  }
  if (family === AF.INET6) {
    const { sin6_addr, sin6_port, sin6_scope_id } = sockaddrIn6.decode(raw);
    return { family: 'ipv6', address: gidText(sin6_addr), port: sin6_port, scopeId: sin6_scope_id };
  }
  if (family === AF.IB) {
    const { sib_addr, sib_sid } = sockaddrIb.decode(raw);
    return { family: 'ib', address: gidText(sib_addr), port: Number(sib_sid & 0xffffn), scopeId: 0 };
  }
  return null;
}

/** `10.9.0.1:7174`, `[fd00::1]:7174`, `[fe80::1%2]:0`. */
export function socketAddressText({ family, address, port, scopeId }: SocketAddress): string {
  const scoped = scopeId === 0 ? address : `${address}%${scopeId}`;
  return family === 'ipv4' ? `${scoped}:${port}` : `[${scoped}]:${port}`;
}

/**
 * Room for a sockaddr in a structure, `type` by name. The value is the bytes; in JSON it is the address and the
 * port as a text, `none` where all bytes are zero, and the bytes where the family is not known.
 * @param inet6 the number of AF_INET6, where it is not Linux's
 */
export function sockaddrRoom(
  type: string,
  size: number,
  align: number,
  inet6: number = AF.INET6,
): Codec<Uint8Array, string> {
  return {
    ...bytes(size),
    type,
    align,
    toJson(raw) {
      if (raw.every((byte) => byte === 0)) return 'none';
      const family = familyOf(raw);
      // Room enough for every family that is decoded, whatever the declared size is.
      const room = new Uint8Array(Math.max(size, sockaddrIb.size));
      room.set(raw);
      // Only the one number stands for IPv6 here: Linux's may be another family there.
      if (inet6 !== AF.INET6)
        new DataView(room.buffer).setUint16(0, family === inet6 ? AF.INET6 : family, true);
      const isForeign = inet6 !== AF.INET6 && family !== inet6 && family !== AF.INET;
      const decoded = isForeign ? null : decodeSocketAddress(room);
      const tooBig = decoded?.family === 'ib' && size < sockaddrIb.size;
      if (decoded !== null && !tooBig) return socketAddressText(decoded);
      return `family ${family}: ${Array.from(raw.subarray(2), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
    },
    schema: () => ({ type: 'string' }),
  };
}

/** The sockaddr_in or sockaddr_in6 of an address. Throws TypeError for a text that is none, and for AF_IB. */
export function encodeSocketAddress({ family, address, port, scopeId }: SocketAddress): Uint8Array {
  if (family === 'ipv4') {
    return sockaddrIn.encode({ sin_family: AF.INET, sin_port: port, sin_addr: ipv4Bytes(address) });
  }
  if (family === 'ipv6') {
    return sockaddrIn6.encode({
      sin6_family: AF.INET6,
      sin6_port: port,
      sin6_addr: ipv6Bytes(address),
      sin6_scope_id: scopeId,
    });
  }
  throw new TypeError(`${address}: an AF_IB address cannot be encoded`);
}

/** The four bytes of a dotted IPv4 text. Throws TypeError. */
export function ipv4Bytes(text: string): Uint8Array {
  const parts = text.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255)) {
    throw new TypeError(`'${text}' is not an IPv4 address`);
  }
  return Uint8Array.from(parts);
}

/** The sixteen bytes of an IPv6 text, without a scope. Throws TypeError. */
export function ipv6Bytes(text: string): Uint8Array {
  const wrong = (): never => {
    throw new TypeError(`'${text}' is not an IPv6 address`);
  };
  const groupsOf = (part: string): number[] =>
    part === ''
      ? []
      : part.split(':').flatMap((group) => {
          if (group.includes('.')) {
            const [a = 0, b = 0, c = 0, d = 0] = ipv4Bytes(group);
            return [(a << 8) | b, (c << 8) | d];
          }
          return /^[0-9a-fA-F]{1,4}$/.test(group) ? [Number.parseInt(group, 16)] : wrong();
        });
  const halves = text.split('::');
  if (halves.length > 2) wrong();
  const head = groupsOf(halves[0] ?? '');
  const tail = groupsOf(halves[1] ?? '');
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) wrong();
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...tail];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}
