import { labDownCommand } from './lab-down.ts';
import { labRunCommand } from './lab-run.ts';
import { labUpCommand } from './lab-up.ts';
import { listCommand } from './list.ts';
import { queryDeviceCommand } from './query-device.ts';
import { schemaCommand } from './schema.ts';
import type { CommandSpec } from './spec.ts';

/** Every command, in the order of the overview. */
export const COMMANDS: readonly CommandSpec[] = [
  queryDeviceCommand,
  listCommand,
  labRunCommand,
  labUpCommand,
  labDownCommand,
  schemaCommand,
];

/** What stands above a group of commands, by its word. */
export const GROUPS: Readonly<Record<string, string>> = {
  lab: 'Run RDMA programs on a machine that has no RDMA hardware',
};
