/** Which kernel modules the guest loads, and in which order. */

export interface WantedModule {
  readonly name: string;
  readonly parameters?: string;
  /** Kernels without it do as well. */
  readonly optional?: boolean;
}

/** In this order, each after what it depends on. */
export const WANTED_MODULES: readonly WantedModule[] = [
  // The way to the host: its files and the agent's port.
  { name: 'virtio_pci' },
  { name: '9pnet_virtio' },
  { name: '9p' },
  { name: 'virtio_console' },
  // rdma_rxe asks the crypto layer for crc32 by name, which no list of dependencies tells.
  { name: 'crc32_generic', optional: true },
  { name: 'ib_uverbs' },
  { name: 'ib_umad' },
  { name: 'rdma_ucm' },
  { name: 'rdma_rxe' },
  { name: 'veth' },
  // Without devices of their own accord.
  { name: 'dummy', parameters: 'numdummies=0' },
  { name: 'bonding', parameters: 'max_bonds=0', optional: true },
  // tc can lose, delay and reorder packets.
  { name: 'sch_netem', optional: true },
];

/** A module as the kernel names it: in file names, `-` and `_` are the same. */
export const moduleName = (file: string): string =>
  file
    .replace(/^.*\//, '')
    .replace(/\.ko(\.\w+)?$/, '')
    .replaceAll('-', '_');

/** The names that a module depends on, from the `depends=` of its .modinfo section. */
export function dependenciesOf(module: Buffer): string[] {
  const key = Buffer.from('\0depends=');
  const at = module.indexOf(key);
  if (at < 0) return [];
  const start = at + key.length;
  const text = module.toString('latin1', start, module.indexOf(0, start));
  return text === '' ? [] : text.split(',').map(moduleName);
}

/** Where the modules of a kernel are, and what they depend on. */
export interface ModuleTree {
  /** Whether the kernel has the module built in. */
  isBuiltIn(name: string): boolean;
  /** What the module depends on, or null where there is no such module. */
  dependencies(name: string): Promise<readonly string[] | null>;
}

/** A module to load. */
export interface LoadedModule {
  readonly name: string;
  readonly parameters: string;
}

/**
 * The modules to load, each after those that it depends on.
 * @throws RangeError where a kernel lacks a module that is not optional
 */
export async function loadingOrder(
  wanted: readonly WantedModule[],
  tree: ModuleTree,
): Promise<LoadedModule[]> {
  const order = new Map<string, LoadedModule>();
  /** Returns the module that the kernel lacks, or null. */
  const add = async (name: string, parameters: string): Promise<string | null> => {
    if (order.has(name) || tree.isBuiltIn(name)) return null;
    const dependencies = await tree.dependencies(name);
    if (dependencies === null) return name;
    for (const dependency of dependencies) {
      const missing = await add(dependency, '');
      if (missing !== null) return missing;
    }
    order.set(name, { name, parameters });
    return null;
  };
  for (const { name, parameters = '', optional = false } of wanted) {
    const missing = await add(name, parameters);
    if (missing !== null && !optional) throw new RangeError(`the kernel has no module ${missing}`);
  }
  return [...order.values()];
}
