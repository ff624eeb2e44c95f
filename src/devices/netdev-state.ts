import type { Machine } from '../system/machine.ts';

const IFF_UP = 0x1;

/**
 * The state of a network device as its operstate in sysfs tells: `up`, `down`, `lowerlayerdown` … A driver that does
 * not tell (`unknown`: loopback, tunnels) is up where the device is and has a carrier. null where sysfs does not show
 * the device, as where it is in another network namespace.
 */
export function netdevState({ sysfs }: Machine, name: string): string | null {
  // What a name stands in a path for: the kernel's own names have none of these.
  if (name === '' || name.startsWith('.') || name.includes('/')) return null;
  const device = `class/net/${name}`;
  const state = sysfs.read(`${device}/operstate`)?.trim();
  if (state === undefined || state === '') return null;
  if (state !== 'unknown') return state;
  const flags = Number(sysfs.read(`${device}/flags`)?.trim());
  const isUp = (flags & IFF_UP) !== 0 && sysfs.read(`${device}/carrier`)?.trim() === '1';
  return isUp ? 'up' : state;
}
