import type { DeviceNodes } from './device-nodes.ts';
import type { Network } from './network.ts';
import type { SharedLibraries } from './shared-libraries.ts';
import type { Sysfs } from './sysfs.ts';
import type { TextFiles } from './text-files.ts';

/** One view of the machine, for the core and for tests on recorded systems. */
export interface Machine {
  readonly sysfs: Sysfs;
  readonly nodes: DeviceNodes;
  /** procfs, /etc, /lib/modules. */
  readonly files: TextFiles;
  readonly libraries: SharedLibraries;
  readonly network: Network;
  /** ID and ID_LIKE of os-release(5), most specific first. */
  osIds(): readonly string[];
  /** Bytes that this process may lock in memory (ulimit -l); Infinity without a limit, null where unknown. */
  lockedMemoryLimit(): number | null;
}
