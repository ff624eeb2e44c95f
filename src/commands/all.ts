import { labDownCommand } from './lab-down.ts';
import { labRunCommand } from './lab-run.ts';
import { labUpCommand } from './lab-up.ts';
import { listCommand } from './list.ts';
import { madDecodeCommand } from './mad-decode.ts';
import { madGetCommand } from './mad-get.ts';
import { madPingCommand } from './mad-ping.ts';
import { madResetCountersCommand } from './mad-reset-counters.ts';
import { madSendCommand } from './mad-send.ts';
import { madTableCommand } from './mad-table.ts';
import { queryDeviceCommand } from './query-device.ts';
import { schemaCommand } from './schema.ts';
import type { CommandSpec } from './spec.ts';

/** Every command, in the order of the overview. */
export const COMMANDS: readonly CommandSpec[] = [
  queryDeviceCommand,
  listCommand,
  madGetCommand,
  madTableCommand,
  madPingCommand,
  madResetCountersCommand,
  madSendCommand,
  madDecodeCommand,
  labRunCommand,
  labUpCommand,
  labDownCommand,
  schemaCommand,
];

/** What stands above a group of commands, by its word. */
export const GROUPS: Readonly<Record<string, string>> = {
  mad: 'Ask an InfiniBand fabric with management datagrams',
  lab: 'Run RDMA programs on a machine that has no RDMA hardware',
};
