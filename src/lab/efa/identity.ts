/** GUIDs and addresses of simulated devices: the same for a device of the same name and place, no two alike. */
import { createHash } from 'node:crypto';

/** The numbers that tell one device from all others of a lab. */
export interface Identity {
  readonly nodeGuid: bigint;
  /** fe80::/64 with an EUI-64 from a made-up Ethernet address. */
  readonly linkLocalGid: Uint8Array;
  /** An address of the network for benchmarks (198.18.0.0/15), as ::ffff:a.b.c.d. */
  readonly ipv4Gid: Uint8Array;
}

/** @param index of the device in its lab, below 65536: it alone makes the numbers different */
export function identityOf(name: string, index: number): Identity {
  const hash = createHash('sha256').update(name).digest();
  const [a = 0, b = 0] = hash;
  // A locally administered unicast address.
  const mac = [0x06, a, b, 0x5e, index >> 8, index & 0xff];
  const eui64 = [(mac[0] ?? 0) ^ 0x02, a, b, 0xff, 0xfe, 0x5e, index >> 8, index & 0xff];
  const guid = [0x02, a, b, 0x5e, 0x00, 0x00, index >> 8, index & 0xff];
  return {
    nodeGuid: guid.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n),
    linkLocalGid: Uint8Array.from([0xfe, 0x80, 0, 0, 0, 0, 0, 0, ...eui64]),
    ipv4Gid: Uint8Array.from([...Array(10).fill(0), 0xff, 0xff, 198, 18, index >> 8, index & 0xff]),
  };
}
