import { emptyOutcome } from '../model/cm-empty.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { backendOf, ID_OPTIONS, settingsOf } from './cm-options.ts';
import { defineCommand } from './spec.ts';

export const cmCreateIdCommand = defineCommand({
  summary: 'Create and destroy an id of the RDMA connection manager',
  arguments: [],
  options: ID_OPTIONS,
  details: [
    'The smallest thing that the connection manager does. Where it works, librdmacm, the module rdma_ucm and the node /dev/infiniband/rdma_cm are there and may be used; where it does not, the failure says which is missing.',
  ],
  examples: [
    { command: 'rdmatool cm create-id', does: 'whether there is a connection manager' },
    {
      command: 'rdmatool lab run roce -- rdmatool cm create-id --ps udp',
      does: 'the same in the lab, for datagrams',
    },
  ],
  seeAlso: ['rdmatool-cm-resolve(1)', 'rdma_create_id(3)', 'rdma_cm(7)'],
  failed: (error) => ({ schema: SCHEMA_IDS.cmCreateId, ...emptyOutcome('tcp', error) }),
  async run({ options, context }) {
    const settings = await settingsOf(options);
    const { createId } = await import('../cm/resolve.ts');
    const { thisEnvironment } = await import('../cm/session.ts');
    const result = await createId(settings, thisEnvironment(context.interruption(), backendOf(options)));
    return context.conclude(result, async () => {
      const { cmView } = await import('../views/cm.ts');
      return cmView(result);
    });
  },
});
