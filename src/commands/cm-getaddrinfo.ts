import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { PORT_SPACE } from './cm-options.ts';
import { choice, defineCommand, flag, milliseconds, UsageError } from './spec.ts';

export const cmGetaddrinfoCommand = defineCommand({
  summary: 'Resolve a node and a service as RDMA programs do',
  arguments: [
    { usage: '<node>', description: 'a name or an address; - for none, with --passive' },
    { usage: '[service]', description: 'a service name or a port' },
  ],
  options: {
    ps: PORT_SPACE,
    family: choice('--family <family>', 'any, inet, inet6 or ib', ['any', 'inet', 'inet6', 'ib'], 'any'),
    passive: flag('--passive', 'for listening: RAI_PASSIVE'),
    numeric: flag('--numeric', 'look no name up: RAI_NUMERICHOST'),
    noRoute: flag('--no-route', 'ask for no routes: RAI_NOROUTE'),
    timeout: milliseconds('--timeout <ms>', 'time for the answer, 10000 unless given'),
  },
  details: [
    'What rdma_getaddrinfo(3) answers: source and destination addresses, port space, type of queue pair, and how many bytes of path records came along (where the service ibacm runs). The library wants a device to be there, and opens none; the node rdma_cm is not needed.',
  ],
  examples: [
    {
      command: 'rdmatool lab run roce -- rdmatool cm getaddrinfo 10.9.1.1 7174',
      does: 'an address and a port',
    },
    {
      command: 'rdmatool lab run roce -- rdmatool cm getaddrinfo localhost 7174 --family inet',
      does: 'a name, IPv4 only',
    },
  ],
  seeAlso: ['rdmatool-cm-resolve(1)', 'rdma_getaddrinfo(3)', 'ibacm(8)'],
  failed: (error) => ({
    schema: SCHEMA_IDS.cmGetaddrinfo,
    error,
    node: null,
    service: null,
    duration_ms: null,
    results: [],
  }),
  async run({ args, options, context }) {
    const PORT_SPACES = { tcp: 'TCP', udp: 'UDP', ib: 'IB', ipoib: 'IPOIB' } as const;
    const [node = '-', service = null] = args;
    if (node === '') throw new UsageError("'' is no node; - stands for none");
    // The library would take the port modulo 65536.
    if (service !== null && /^[0-9]+$/.test(service) && Number(service) > 65535) {
      throw new UsageError(`'${service}' is not a port: a whole number from 0 to 65535`);
    }
    const { getaddrinfo } = await import('../cm/getaddrinfo.ts');
    const { thisMachine } = await import('../system/this-machine.ts');
    const result = await getaddrinfo(
      {
        node: node === '-' ? null : node,
        service,
        portSpace: PORT_SPACES[options.ps],
        passive: options.passive,
        numeric: options.numeric,
        noRoute: options.noRoute,
        family: options.family,
        timeoutMs: options.timeout ?? 10_000,
      },
      thisMachine(),
      context.interruption(),
    );
    return context.conclude(result, async () => {
      const { cmGetaddrinfoView } = await import('../views/cm.ts');
      return cmGetaddrinfoView(result);
    });
  },
});
