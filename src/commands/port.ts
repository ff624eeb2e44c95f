import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { withDeviceProgress } from './device-progress.ts';
import { PORT_ARGUMENT, portSelectors } from './port-argument.ts';
import { defineCommand, flag } from './spec.ts';

export const portCommand = defineCommand({
  summary: 'Show ports: state, rate, LIDs, GUIDs, network devices',
  arguments: [PORT_ARGUMENT],
  options: {
    verbose: flag('-v, --verbose', 'show every attribute, the GIDs and the P_Keys'),
  },
  details: [
    'One line a port: what ibstat and rdma link tell, in one. --json carries all that query-device knows of a port as well.',
    'What a device that cannot be opened does not say is taken from sysfs; its key source says which. LIDs are shown where a port has one. The MTU is the one in force, and the largest where that differs; the MTU of a network device is its own.',
    'Ends with 69 where there is no device, with 1 where it has no such port.',
  ],
  examples: [
    { command: 'rdmatool port', does: 'every port' },
    { command: 'rdmatool port -v mlx5_0/1', does: 'everything about one port' },
    {
      command: `rdmatool port --json | jq '.ports[] | select(.state.name != "ACTIVE") | {device, port}'`,
      does: 'ports that are not active',
    },
    { command: 'rdmatool lab run roce -- rdmatool port', does: 'two ports of soft-RoCE' },
  ],
  seeAlso: ['rdmatool-counters(1)', 'rdmatool-query-device(1)', 'ibstat(8)', 'ibstatus(8)', 'rdma-link(8)'],
  failed: (error) => ({ schema: SCHEMA_IDS.port, error, ports: [] }),
  async run({ args, options, context }) {
    const selectors = await portSelectors(args);
    const { listPorts } = await import('../devices/list-ports.ts');
    const result = await withDeviceProgress(context.streams, (onProgress) =>
      listPorts({ selectors, onProgress }),
    );
    return context.conclude(result, async () => {
      const { portView } = await import('../views/port.ts');
      return portView(result, { verbose: options.verbose });
    });
  },
});
