/** Who this process is, and what it may do beside: user, groups and capabilities, from proc(5). */
import type { Machine } from './machine.ts';

export interface Credentials {
  readonly uid: number;
  readonly groups: readonly number[];
  /** Effective capabilities, a bit each. */
  readonly capabilities: bigint;
}

/** Bits of capabilities(7). */
export const Capability = { NET_ADMIN: 12n, IPC_LOCK: 14n, SYS_ADMIN: 21n } as const;

/** The effective credentials; null without /proc. */
export function credentials({ files }: Machine): Credentials | null {
  const status = files.read('/proc/self/status');
  if (status === null) return null;
  const field = (name: string): string[] =>
    (new RegExp(`^${name}:(.*)$`, 'm').exec(status)?.[1] ?? '').trim().split(/\s+/);
  const uid = Number(field('Uid')[1] ?? Number.NaN);
  const [mask = '0'] = field('CapEff');
  const gid = field('Gid')[1] ?? '';
  return {
    uid,
    groups: [...new Set([gid, ...field('Groups')].filter((text) => text !== '').map(Number))],
    capabilities: /^[0-9a-f]+$/i.test(mask) ? BigInt(`0x${mask}`) : 0n,
  };
}

export const hasCapability = (who: Credentials | null, bit: bigint): boolean =>
  who !== null && ((who.capabilities >> bit) & 1n) === 1n;

/** Names of groups by number, from group(5). */
export function groupName({ files }: Machine, gid: number): string {
  const lines = (files.read('/etc/group') ?? '').split('\n');
  const line = lines.find((one) => one.split(':')[2] === String(gid));
  return line?.split(':')[0] || String(gid);
}
