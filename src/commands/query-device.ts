import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { withDeviceProgress } from './device-progress.ts';
import { defineCommand, flag, positiveInteger } from './spec.ts';

export const queryDeviceCommand = defineCommand({
  summary: 'Show what RDMA devices can do: verbs, ports, GIDs, AWS EFA',
  arguments: [{ usage: '[device...]', description: 'devices by name; without one, all of them' }],
  options: {
    verbose: flag('-v, --verbose', 'show every attribute'),
    ibPort: positiveInteger('-i, --ib-port <N>', 'show only port N of each device', Number.MAX_SAFE_INTEGER),
  },
  details: [
    'Asks libibverbs, and for EFA devices libefa, and reads sysfs. Without -v it shows what a person wants first: what the card is, whether it can do RDMA read and write, and each port with its GIDs. With -v it shows every attribute under its name in <infiniband/verbs.h> and <infiniband/efadv.h>. --json always carries everything.',
    'A capability of an EFA card that the running libefa is too old to report is shown as unknown, with the release of rdma-core that can tell; it is never shown as absent.',
    'A device that cannot be opened does not hide the others: its entry says why, and what to do next. Devices that the kernel shows and libibverbs leaves out are listed with the reason.',
    'The root of sysfs is moved by SYSFS_PATH, as for libibverbs.',
  ],
  examples: [
    { command: 'rdmatool query-device', does: 'every device, the essentials' },
    { command: 'rdmatool query-device -v rdmap0s6', does: 'every attribute of one device' },
    {
      command: "rdmatool query-device --json | jq '.devices[].efa.caps'",
      does: 'EFA capabilities for a script',
    },
    {
      command: 'rdmatool lab run efa --instance p5.48xlarge -- rdmatool query-device',
      does: 'the same on a machine without hardware',
    },
  ],
  seeAlso: ['ibv_devinfo(1)', 'ibv_query_device_ex(3)', 'ibv_query_port(3)', 'efadv_query_device(3)'],
  failed(error) {
    const unknown = {
      path: null,
      version: null,
      unavailable: { path: error.message, version: error.message },
    };
    return {
      schema: SCHEMA_IDS.queryDevice,
      error,
      libraries: { libibverbs: unknown, libefa: unknown },
      devices: [],
    };
  },
  async run({ args, options, context }) {
    const { queryDevices } = await import('../devices/query-devices.ts');
    const result = await withDeviceProgress(context.streams, (onProgress) =>
      queryDevices({ names: args, port: options.ibPort, onProgress }),
    );
    return context.conclude(result, async () => {
      const { queryDeviceView } = await import('../views/query-device.ts');
      return queryDeviceView(result, { verbose: options.verbose });
    });
  },
});
