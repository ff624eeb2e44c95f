import { readFileSync } from 'node:fs';
import { openDeviceNodes } from './device-nodes.ts';
import type { Machine } from './machine.ts';
import { openNetwork } from './network.ts';
import { openSharedLibraries } from './shared-libraries.ts';
import { openSysfs } from './sysfs.ts';
import { openTextFiles } from './text-files.ts';

/** ID and the words of ID_LIKE, from os-release(5). */
export function parseOsIds(osRelease: string): string[] {
  const value = (key: string): string =>
    new RegExp(`^${key}=["']?([^"'\\n]*)`, 'm').exec(osRelease)?.[1] ?? '';
  return `${value('ID')} ${value('ID_LIKE')}`.split(/\s+/).filter((word) => word !== '');
}

/** The soft limit of `Max locked memory` in a proc_pid_limits(5). */
export function parseLockedMemoryLimit(limits: string): number | null {
  const soft = /^Max locked memory\s+(\S+)/m.exec(limits)?.[1];
  if (soft === undefined) return null;
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

/** The machine that rdmatool runs on. */
export function thisMachine(): Machine {
  return {
    sysfs: openSysfs(),
    nodes: openDeviceNodes(),
    files: openTextFiles(),
    libraries: openSharedLibraries(),
    network: openNetwork(),
    lockedMemoryLimit() {
      try {
        return parseLockedMemoryLimit(readFileSync('/proc/self/limits', 'utf8'));
      } catch {
        // Without /proc nobody can tell.
        return null;
      }
    },
    osIds() {
      for (const file of ['/etc/os-release', '/usr/lib/os-release']) {
        try {
          return parseOsIds(readFileSync(file, 'utf8'));
        } catch {
          // The next place that os-release(5) names.
        }
      }
      return [];
    },
  };
}
