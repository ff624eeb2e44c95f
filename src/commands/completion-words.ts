/** Words that the machine knows, for a shell's completion. Nothing here loads a library or asks a driver. */
import { networkInterfaces } from 'node:os';
import { openSysfs, type Sysfs } from '../system/sysfs.ts';
import type { CompletionWord, WordKind } from './spec.ts';

const CLASS = 'class/infiniband';

const devices = (sysfs: Sysfs): string[] => sysfs.list(CLASS) ?? [];

const portNumbers = (sysfs: Sysfs, device: string): string[] =>
  (sysfs.list(`${CLASS}/${device}/ports`) ?? []).filter((name) => /^[0-9]+$/.test(name));

/** `mlx5_ib, 4: ACTIVE`, as sysfs words it. */
function portMeaning(sysfs: Sysfs, device: string, port: string): string {
  const place = `${CLASS}/${device}/ports/${port}`;
  return [sysfs.read(`${place}/state`), sysfs.read(`${place}/rate`)].filter(Boolean).join(', ');
}

/** Files and directories are the shell's own matter. */
export type OwnWordKind = Exclude<WordKind, 'file' | 'directory'>;

/**
 * The words of a kind.
 * @param device that the command line names already; null: none
 */
export function liveWords(
  kind: OwnWordKind,
  device: string | null,
  sysfs: Sysfs = openSysfs(),
): CompletionWord[] {
  switch (kind) {
    case 'device':
      return devices(sysfs).map((name) => [
        name,
        portMeaning(sysfs, name, portNumbers(sysfs, name)[0] ?? ''),
      ]);
    case 'port':
      return devices(sysfs).flatMap((name): CompletionWord[] => [
        [name, 'all ports'],
        ...portNumbers(sysfs, name).map(
          (port) => [`${name}/${port}`, portMeaning(sysfs, name, port)] as const,
        ),
      ]);
    case 'port-number': {
      const asked = device === null ? devices(sysfs) : [device];
      return [...new Set(asked.flatMap((name) => portNumbers(sysfs, name)))];
    }
    case 'address':
      return Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
        addresses
          .filter(({ internal }) => !internal)
          // A link-local address means something only with its interface.
          .map(({ address }) => [/^fe80:/i.test(address) ? `${address}%${name}` : address, name] as const),
      );
  }
}
