import { emptyOutcome } from '../model/cm-empty.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import {
  ADDRESS_HELP,
  backendOf,
  endpointOf,
  PEER_ARGUMENT,
  PEER_OPTIONS,
  settingsOf,
} from './cm-options.ts';
import { defineCommand } from './spec.ts';

export const cmResolveCommand = defineCommand({
  summary: 'Resolve an address and its route: device, GIDs, path',
  arguments: [PEER_ARGUMENT],
  options: PEER_OPTIONS,
  details: [
    'Creates an id, resolves the address (which finds the local device, port and source address, by the routes of the network), then the route (which gives the path record: SL, MTU, rate, hop limit, flow label, packet life time), and shows each step with its duration. No message goes to the peer except those of ARP or neighbour discovery, and on InfiniBand those to the subnet administrator.',
    ADDRESS_HELP,
  ],
  examples: [
    {
      command: 'rdmatool lab run roce -- rdmatool cm resolve 10.9.1.1 --bind 10.9.0.1',
      does: 'the route between the two devices of the lab',
    },
    {
      command: "rdmatool cm resolve 10.9.1.1 --json | jq '.steps[] | [.step, .duration_ms]'",
      does: 'how long each step took',
    },
  ],
  seeAlso: ['rdmatool-cm-connect(1)', 'rdma_resolve_addr(3)', 'rdma_resolve_route(3)'],
  failed: (error) => ({ schema: SCHEMA_IDS.cmResolve, ...emptyOutcome('tcp', error), route: null }),
  async run({ args, options, context }) {
    const settings = await settingsOf(options);
    const peer = await endpointOf(args[0] ?? '', options.port);
    const { resolve } = await import('../cm/resolve.ts');
    const { thisEnvironment } = await import('../cm/session.ts');
    const result = await resolve(peer, settings, thisEnvironment(context.interruption(), backendOf(options)));
    return context.conclude(result, async () => {
      const { cmResolveView } = await import('../views/cm.ts');
      return cmResolveView(result);
    });
  },
});
