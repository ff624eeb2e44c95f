import { readFileSync } from 'node:fs';
import { NativeCallError } from '../native/errors.ts';
import { accessErrno, type FileStatus, fileStatus, openErrno, R_OK, W_OK } from '../native/libc.ts';

/** A device node under /dev/infiniband, as this process sees it. */
export interface DeviceNode {
  readonly path: string;
  /** Permission bits as four octal digits, or null where the node does not exist. */
  readonly mode: string | null;
  readonly owner: string | null;
  readonly group: string | null;
  /** 0 if this process may read and write the node, else the errno. */
  readonly accessErrno: number;
}

export interface DeviceNodes {
  /** @param name of the node, such as `uverbs0` */
  node(name: string): DeviceNode;
  /** Opens the node for reading and writing and closes it again: 0, or the errno. */
  tryOpen(name: string): Promise<number>;
}

const DIRECTORY = '/dev/infiniband';

/** Names by number from passwd(5) or group(5). */
function readNames(file: string): Map<number, string> {
  const names = new Map<number, string>();
  try {
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const [name, , id] = line.split(':');
      if (name && id && !names.has(Number(id))) names.set(Number(id), name);
    }
  } catch {
    // Without the file the number stands for the name.
  }
  return names;
}

/** The nodes of the running machine. */
export function openDeviceNodes(): DeviceNodes {
  let users: Map<number, string> | undefined;
  let groups: Map<number, string> | undefined;
  const status = (path: string): FileStatus | null => {
    try {
      return fileStatus(path);
    } catch (error) {
      if (error instanceof NativeCallError) return null;
      throw error;
    }
  };
  return {
    node(name) {
      const path = `${DIRECTORY}/${name}`;
      const found = status(path);
      users ??= readNames('/etc/passwd');
      groups ??= readNames('/etc/group');
      return {
        path,
        mode: found && (found.mode & 0o7777).toString(8).padStart(4, '0'),
        owner: found && (users.get(found.uid) ?? String(found.uid)),
        group: found && (groups.get(found.gid) ?? String(found.gid)),
        accessErrno: accessErrno(path, R_OK | W_OK),
      };
    },
    tryOpen: (name) => openErrno(`${DIRECTORY}/${name}`),
  };
}
