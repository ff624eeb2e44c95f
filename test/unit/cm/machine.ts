/** A machine as sysfs and /dev would show it. */
import { constants } from 'node:os';
import type { Machine } from '../../../src/system/machine.ts';

export interface MachineFacts {
  /** Path below sysfs to text. */
  readonly files?: Readonly<Record<string, string>>;
  /** Path of a directory to its names. */
  readonly folders?: Readonly<Record<string, readonly string[]>>;
  /** Nodes that are there: 0, or the errno of opening them. */
  readonly nodes?: Readonly<Record<string, number>>;
  readonly lockedMemory?: number | null;
}

export const machineOf = ({
  files = {},
  folders = {},
  nodes = {},
  lockedMemory = null,
}: MachineFacts): Machine => ({
  sysfs: {
    root: '/sys',
    read: (path) => files[path] ?? null,
    readLater: async (path) => {
      const text = files[path];
      return text === undefined ? { errno: constants.errno.ENOENT } : { text };
    },
    // Every machine has sysfs.
    list: (path) => (folders[path] ? [...folders[path]] : path === 'class' ? [] : null),
    linkName: () => null,
  },
  nodes: {
    node: (name) => ({
      path: `/dev/infiniband/${name}`,
      mode: nodes[name] === undefined ? null : '0600',
      owner: 'root',
      group: 'root',
      accessErrno: nodes[name] ?? constants.errno.ENOENT,
    }),
    tryOpen: async (name) => nodes[name] ?? constants.errno.ENOENT,
  },
  osIds: () => ['debian'],
  lockedMemoryLimit: () => lockedMemory,
  files: { read: () => null, list: () => null },
  libraries: { load: () => ({ reason: 'not recorded' }) },
  network: { addresses: () => [], sourceOf: async () => ({ errno: 'ENETUNREACH' }) },
});
