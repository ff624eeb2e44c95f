import type { DeviceNodes } from './device-nodes.ts';
import type { Sysfs } from './sysfs.ts';

/** One view of the machine, for the core and for tests on recorded systems. */
export interface Machine {
  readonly sysfs: Sysfs;
  readonly nodes: DeviceNodes;
  /** ID and ID_LIKE of os-release(5), most specific first. */
  osIds(): readonly string[];
  /** Bytes that this process may lock in memory (ulimit -l); Infinity without a limit, null where unknown. */
  lockedMemoryLimit(): number | null;
}
