import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { withDeviceProgress } from './device-progress.ts';
import { defineCommand } from './spec.ts';

export const listCommand = defineCommand({
  summary: 'List RDMA devices, one line each',
  arguments: [{ usage: '[device...]', description: 'devices by name; without one, all of them' }],
  options: {},
  details: [
    'Name, kernel driver, node GUID, ports with their state, link layer and rate, network devices, and the name under /dev/infiniband. What a device that cannot be opened does not say is taken from sysfs.',
    'Ends with 69 where there is no device.',
  ],
  examples: [
    { command: 'rdmatool list', does: 'every device' },
    { command: "rdmatool list --json | jq -r '.devices[].name'", does: 'their names' },
  ],
  seeAlso: ['ibv_devices(1)', 'rdma-link(8)', 'ibstat(8)'],
  failed: (error) => ({ schema: SCHEMA_IDS.list, error, devices: [] }),
  async run({ args, context }) {
    const { listDevices } = await import('../devices/list-devices.ts');
    const result = await withDeviceProgress(context.streams, (onProgress) =>
      listDevices({ names: args, onProgress }),
    );
    return context.conclude(result, async () => {
      const { listView } = await import('../views/list.ts');
      return listView(result);
    });
  },
});
