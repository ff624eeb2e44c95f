import { cmBindCommand } from './cm-bind.ts';
import { cmConnectCommand } from './cm-connect.ts';
import { cmCreateIdCommand } from './cm-create-id.ts';
import { cmGetaddrinfoCommand } from './cm-getaddrinfo.ts';
import { cmInitQpAttrCommand } from './cm-init-qp-attr.ts';
import { cmListenCommand } from './cm-listen.ts';
import { cmResolveCommand } from './cm-resolve.ts';
import { labDownCommand } from './lab-down.ts';
import { labRunCommand } from './lab-run.ts';
import { labStatusCommand } from './lab-status.ts';
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
  cmConnectCommand,
  cmListenCommand,
  cmResolveCommand,
  cmBindCommand,
  cmCreateIdCommand,
  cmInitQpAttrCommand,
  cmGetaddrinfoCommand,
  madGetCommand,
  madTableCommand,
  madPingCommand,
  madResetCountersCommand,
  madSendCommand,
  madDecodeCommand,
  labRunCommand,
  labUpCommand,
  labDownCommand,
  labStatusCommand,
  schemaCommand,
];

/** What stands above a group of commands, by its word. */
export const GROUPS: Readonly<Record<string, string>> = {
  cm: 'Make RDMA connections step by step, and say why one fails',
  mad: 'Ask an InfiniBand fabric with management datagrams',
  lab: 'Run RDMA programs on a machine that has no RDMA hardware',
};
