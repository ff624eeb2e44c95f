import { emptyOutcome } from '../model/cm-empty.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { ADDRESS_HELP, BIND_OPTIONS, backendOf, endpointOf, settingsOf } from './cm-options.ts';
import { defineCommand } from './spec.ts';

export const cmBindCommand = defineCommand({
  summary: 'Bind an id of the connection manager to an address',
  arguments: [{ usage: '<address>', description: 'a local address: ADDR, ADDR:PORT or [ADDR6]:PORT' }],
  options: BIND_OPTIONS,
  details: [
    'Shows which device and port serve a local address, and whether a service port is free in a port space. Nothing listens on it; the id is destroyed at once.',
    ADDRESS_HELP,
  ],
  examples: [
    {
      command: 'rdmatool lab run roce -- rdmatool cm bind 10.9.0.1',
      does: 'the device behind an address of the lab',
    },
    {
      command: 'rdmatool lab run roce -- rdmatool cm bind [fd09::1]:18515 --ps udp',
      does: 'whether a port for datagrams is free',
    },
  ],
  seeAlso: ['rdmatool-cm-resolve(1)', 'rdma_bind_addr(3)'],
  failed: (error) => ({ schema: SCHEMA_IDS.cmBind, ...emptyOutcome('tcp', error) }),
  async run({ args, options, context }) {
    const settings = await settingsOf(options);
    const local = await endpointOf(args[0] ?? '', options.port);
    const { bind } = await import('../cm/resolve.ts');
    const { thisEnvironment } = await import('../cm/session.ts');
    const result = await bind(local, settings, thisEnvironment(context.interruption(), backendOf(options)));
    return context.conclude(result, async () => {
      const { cmView } = await import('../views/cm.ts');
      return cmView(result);
    });
  },
});
