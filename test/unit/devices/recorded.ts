/** A machine made of what another one showed: sysfs as text, nodes as numbers. */
import { constants } from 'node:os';
import type { Machine } from '../../../src/system/machine.ts';
import { naturalOrder } from '../../../src/system/sysfs.ts';

export interface Recorded {
  /** Root of sysfs. */
  readonly root?: string;
  /** Path of each attribute, below the root, to its text; a symbolic link as `{ link: target }`. */
  readonly files?: { readonly [path: string]: string | { readonly link: string } };
  /** Directories that hold nothing. */
  readonly directories?: readonly string[];
  /** Nodes that exist; the errno of access(2) and of open(2) where it is not 0. */
  readonly nodes?: {
    readonly [name: string]: {
      readonly mode: string;
      readonly group?: string;
      readonly errno?: number;
      readonly openErrno?: number;
    };
  };
  readonly osIds?: readonly string[];
  /** procfs, /etc, /lib/modules: absolute path to text. */
  readonly texts?: { readonly [path: string]: string };
  /** What the dynamic linker does not load: file to reason. */
  readonly missingLibraries?: { readonly [soname: string]: string };
  readonly addresses?: ReturnType<Machine['network']['addresses']>;
  /** The source address of each destination that there is a route to. */
  readonly routes?: { readonly [destination: string]: string };
  readonly lockedMemory?: number | null;
}

export function recordedMachine({
  root = '/sys',
  files = {},
  directories = [],
  nodes = {},
  osIds = ['debian'],
  texts = {},
  missingLibraries = {},
  addresses = [],
  routes = {},
  lockedMemory = null,
}: Recorded): Machine {
  // A test may change the files.
  const paths = (): string[] => [...Object.keys(files), ...directories.map((path) => `${path}/`)];
  return {
    sysfs: {
      root,
      read(path) {
        const file = files[path];
        return typeof file === 'string' ? file : null;
      },
      async readLater(path) {
        const file = files[path];
        return typeof file === 'string' ? { text: file } : { errno: constants.errno.ENOENT };
      },
      list(path) {
        const inside = paths()
          .filter((one) => one.startsWith(`${path}/`))
          .map((one) => one.slice(path.length + 1));
        if (inside.length === 0) return null;
        const names = inside.map((one) => one.split('/')[0] ?? '').filter((name) => name !== '');
        return [...new Set(names)].sort(naturalOrder);
      },
      linkName(path) {
        const file = files[path];
        return typeof file === 'object' ? (file.link.split('/').at(-1) ?? null) : null;
      },
    },
    nodes: {
      node(name) {
        const node = nodes[name];
        return {
          path: `/dev/infiniband/${name}`,
          mode: node?.mode ?? null,
          owner: node ? 'root' : null,
          group: node ? (node.group ?? 'root') : null,
          accessErrno: node ? (node.errno ?? 0) : constants.errno.ENOENT,
        };
      },
      tryOpen: async (name) => (nodes[name] ? (nodes[name].openErrno ?? 0) : constants.errno.ENOENT),
    },
    osIds: () => osIds,
    lockedMemoryLimit: () => lockedMemory,
    files: {
      read: (path) => texts[path] ?? null,
      list(path) {
        const inside = Object.keys(texts).filter((one) => one.startsWith(`${path}/`));
        const names = inside.map((one) => one.slice(path.length + 1).split('/')[0] ?? '');
        return inside.length === 0 ? null : [...new Set(names)].sort();
      },
    },
    libraries: {
      load(soname) {
        const reason = missingLibraries[soname];
        return reason === undefined ? { path: `/usr/lib/${soname}`, version: '50.0' } : { reason };
      },
    },
    network: {
      addresses: () => addresses,
      async sourceOf(destination) {
        const address = routes[destination];
        return address === undefined ? { errno: 'ENETUNREACH' } : { address };
      },
    },
  };
}

/** An EFA card as the kernel shows it. */
export const EFA_FILES = {
  'class/infiniband/rdmap0s6/node_guid': '0242:acff:fe11:0002',
  'class/infiniband/rdmap0s6/node_desc': '',
  'class/infiniband/rdmap0s6/fw_ver': '0.0.0.0',
  'class/infiniband/rdmap0s6/device/uevent':
    'DRIVER=efa\nPCI_CLASS=20000\nPCI_ID=1D0F:EFA2\nPCI_SLOT_NAME=0000:00:06.0',
  'class/infiniband/rdmap0s6/device/numa_node': '0',
  'class/infiniband/rdmap0s6/device/vendor': '0x1d0f',
  'class/infiniband/rdmap0s6/device/device': '0xefa2',
  'class/infiniband/rdmap0s6/device/infiniband_verbs/uverbs0/ibdev': 'rdmap0s6',
  'class/infiniband/rdmap0s6/ports/1/state': '4: ACTIVE',
  'class/infiniband/rdmap0s6/ports/1/phys_state': '5: LinkUp',
  'class/infiniband/rdmap0s6/ports/1/link_layer': 'Unknown',
  'class/infiniband/rdmap0s6/ports/1/rate': '100 Gb/sec (4X EDR)',
  'class/infiniband_verbs/abi_version': '6',
  'class/infiniband_verbs/uverbs0/ibdev': 'rdmap0s6',
} as const;
