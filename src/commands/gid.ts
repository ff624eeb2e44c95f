import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { withDeviceProgress } from './device-progress.ts';
import { defineCommand, flag, positiveInteger } from './spec.ts';

export const gidCommand = defineCommand({
  summary: 'Show GIDs, and which index RDMA programs want',
  arguments: [{ usage: '[device...]', description: 'devices by name; without one, all of them' }],
  options: {
    ibPort: positiveInteger('-i, --ib-port <N>', 'show only port N of each device', Number.MAX_SAFE_INTEGER),
    all: flag('--all', 'show empty entries of the tables too'),
    full: flag('--full', 'show all digits of each GID'),
  },
  details: [
    'Each entry of the GID tables with its type (IB, RoCE v1, RoCE v2), the IPv4 address inside it, the network device behind it and the state of that, and how far it goes: link-local or routable.',
    'An asterisk marks the index that programs want, and a line below says why: on Ethernet the first RoCE v2 entry with a routable address whose network device is up, IPv4 before IPv6, as NCCL, UCX and perftest choose it where nobody tells them. It is what NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX and -x of perftest take. Other entries that would serve, such as those of a VLAN, are named: they lead to other networks. On EFA and InfiniBand ports it is index 0. Where no entry serves, the line says what is missing.',
    'The tables come from libibverbs; what it cannot tell, as of a device that may not be opened, is read from sysfs, which has the same. --json says which of them answered, and has both forms of each GID.',
    'A port in a container shows no GIDs where its network device is in another network namespace.',
  ],
  examples: [
    { command: 'rdmatool gid', does: 'the GIDs of every device' },
    { command: 'rdmatool gid mlx5_0 --full', does: 'those of one device, with all digits' },
    {
      command: "rdmatool gid mlx5_0 -i 1 --json | jq '.devices[0].ports[0].choice.index'",
      does: 'the index for a script',
    },
    { command: 'rdmatool lab run roce -- rdmatool gid', does: 'the same on a machine without hardware' },
  ],
  seeAlso: ['rdmatool-query-device(1)', 'ibv_query_gid_table(3)', 'rdma-link(8)'],
  failed: (error) => ({ schema: SCHEMA_IDS.gid, error, devices: [] }),
  async run({ args, options, context }) {
    const { listGids } = await import('../devices/list-gids.ts');
    const result = await withDeviceProgress(context.streams, (onProgress) =>
      listGids({ names: args, port: options.ibPort, all: options.all, onProgress }),
    );
    return context.conclude(result, async () => {
      const { gidView } = await import('../views/gid.ts');
      return gidView(result, { full: options.full });
    });
  },
});
