/**
 * Every command by its words. The declaration of a command is loaded when it is named: loading all would cost every
 * start.
 */
import type { CommandDeclaration, CommandSpec } from './spec.ts';

/** In the order of the overview. */
const LOADERS: Readonly<Record<string, () => Promise<CommandDeclaration>>> = {
  'query-device': async () => (await import('./query-device.ts')).queryDeviceCommand,
  list: async () => (await import('./list.ts')).listCommand,
  gid: async () => (await import('./gid.ts')).gidCommand,
  port: async () => (await import('./port.ts')).portCommand,
  counters: async () => (await import('./counters.ts')).countersCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  'cm connect': async () => (await import('./cm-connect.ts')).cmConnectCommand,
  'cm listen': async () => (await import('./cm-listen.ts')).cmListenCommand,
  'cm join': async () => (await import('./cm-join.ts')).cmJoinCommand,
  'cm run': async () => (await import('./cm-run.ts')).cmRunCommand,
  'cm resolve': async () => (await import('./cm-resolve.ts')).cmResolveCommand,
  'cm bind': async () => (await import('./cm-bind.ts')).cmBindCommand,
  'cm create-id': async () => (await import('./cm-create-id.ts')).cmCreateIdCommand,
  'cm init-qp-attr': async () => (await import('./cm-init-qp-attr.ts')).cmInitQpAttrCommand,
  'cm getaddrinfo': async () => (await import('./cm-getaddrinfo.ts')).cmGetaddrinfoCommand,
  'mad get': async () => (await import('./mad-get.ts')).madGetCommand,
  'mad table': async () => (await import('./mad-table.ts')).madTableCommand,
  'mad ping': async () => (await import('./mad-ping.ts')).madPingCommand,
  'mad reset-counters': async () => (await import('./mad-reset-counters.ts')).madResetCountersCommand,
  'mad send': async () => (await import('./mad-send.ts')).madSendCommand,
  'mad recv': async () => (await import('./mad-recv.ts')).madRecvCommand,
  'mad serve': async () => (await import('./mad-serve.ts')).madServeCommand,
  'decode ucma': async () => (await import('./decode-ucma.ts')).decodeUcmaCommand,
  'decode umad': async () => (await import('./decode-umad.ts')).decodeUmadCommand,
  'decode mad': async () => (await import('./decode-mad.ts')).decodeMadCommand,
  trace: async () => (await import('./trace.ts')).traceCommand,
  'lab run': async () => (await import('./lab-run.ts')).labRunCommand,
  'lab up': async () => (await import('./lab-up.ts')).labUpCommand,
  'lab down': async () => (await import('./lab-down.ts')).labDownCommand,
  'lab status': async () => (await import('./lab-status.ts')).labStatusCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
  schema: async () => (await import('./schema.ts')).schemaCommand,
};

/** The words of every command, in the order of the overview. */
export const COMMAND_NAMES: readonly string[] = Object.keys(LOADERS);

/** The declaration of a command; null for words that name none. */
export async function loadCommand(name: string): Promise<CommandSpec | null> {
  const load = Object.hasOwn(LOADERS, name) ? LOADERS[name] : undefined;
  return load === undefined ? null : { path: name.split(' '), ...(await load()) };
}

/** The declarations of all commands, in the order of the overview. */
export async function loadCommands(): Promise<readonly CommandSpec[]> {
  const loaded = await Promise.all(COMMAND_NAMES.map(loadCommand));
  return loaded.filter((spec) => spec !== null);
}

/** The words of the command that the arguments name, whatever else is wrong with them. */
export function commandNamedBy(argv: readonly string[]): string | undefined {
  const words = argv.filter((word) => !word.startsWith('-'));
  return COMMAND_NAMES.find((name) => name.split(' ').every((word, index) => words[index] === word));
}

/** What stands above a group of commands, by its word. */
export const GROUPS: Readonly<Record<string, string>> = {
  cm: 'Make RDMA connections step by step, and say why one fails',
  mad: 'Ask, answer and receive with management datagrams',
  decode: 'Bytes of the interfaces to the kernel into fields, without any device',
  lab: 'Run RDMA programs on a machine that has no RDMA hardware',
};
