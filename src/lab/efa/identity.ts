/** GUIDs and addresses of simulated devices: the same for a device of the same name and place, no two alike. */
import { createHash } from 'node:crypto';

/** The numbers that tell one device from all others of a lab. */
export interface Identity {
  readonly nodeGuid: bigint;
  /** fe80::/64 with an EUI-64 from a made-up Ethernet address. */
  linkLocalGid(port: number): Uint8Array;
  /** An address of the network for benchmarks (198.18.0.0/15), as ::ffff:a.b.c.d. */
  ipv4Gid(port: number): Uint8Array;
}

/** @param index of the device in its lab, below 65536: it alone makes the numbers different */
export function identityOf(name: string, index: number): Identity {
  const [a = 0, b = 0] = createHash('sha256').update(name).digest();
  const place = [index >> 8, index & 0xff];
  // An EUI-64 begins with 02 where the address that it is made of is the manufacturer's.
  const guid = Uint8Array.from([0x02, a, b, 0x5e, 0x00, 0x00, ...place]);
  return {
    nodeGuid: new DataView(guid.buffer).getBigUint64(0),
    linkLocalGid: (port) =>
      Uint8Array.from([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x04, a, b, 0xff, 0xfe, port, ...place]),
    ipv4Gid: (port) =>
      Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 18 + ((port - 1) & 1), ...place]),
  };
}
