import { describe, expect, it } from 'vitest';
import { loadCommands } from '../../../src/commands/all.ts';
import { endpointOf, type PEER_OPTIONS, settingsOf } from '../../../src/commands/cm-options.ts';
import { buildProgram } from '../../../src/commands/program.ts';
import type { OptionValues } from '../../../src/commands/spec.ts';

type Options = OptionValues<typeof PEER_OPTIONS>;

/** The options that a command line gives. */
async function parsed(...words: readonly string[]): Promise<{ args: readonly string[]; options: Options }> {
  let found: { args: readonly string[]; options: Options } | null = null;
  const argv = ['cm', ...words];
  const program = buildProgram(await loadCommands(), [], async (_spec, args, options) => {
    // The command that was named has these options.
    found = { args, options: options as Options };
  });
  for (const command of [program, ...program.commands, ...program.commands.flatMap((sub) => sub.commands)]) {
    command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
  }
  await program.parseAsync(argv, { from: 'user' });
  if (found === null) throw new Error('no command was run');
  return found;
}

describe('the common options of the cm commands', () => {
  it('have defaults', async () => {
    const { args, options } = await parsed('resolve', '10.9.1.1');
    expect(args).toEqual(['10.9.1.1']);
    expect(await settingsOf(options)).toEqual({
      portSpace: 'TCP',
      bind: null,
      port: 7174,
      timeoutMs: null,
      tos: null,
      ackTimeout: null,
      reuseAddr: false,
      afOnly: false,
    });
  });

  it('are understood', async () => {
    const { options } = await parsed(
      ...['connect', '10.9.1.1', '--ps', 'udp', '-p', '0', '--bind', '[fd09::1]:5', '--timeout', '9'],
      ...['--tos', '255', '--ack-timeout', '31', '--reuse-addr', '--af-only'],
    );
    expect(await settingsOf(options)).toEqual({
      portSpace: 'UDP',
      bind: { host: 'fd09::1', port: 5, scope: null },
      port: 0,
      timeoutMs: 9,
      tos: 255,
      ackTimeout: 31,
      reuseAddr: true,
      afOnly: true,
    });
  });

  it.each([
    ['--port', '65536'],
    ['--port', '-1'],
    ['--port', '1.5'],
    ['--tos', '256'],
    ['--ack-timeout', '32'],
    ['--timeout', '0'],
    ['--ps', 'sctp'],
  ])('%s refuses %s', async (option, value) => {
    await expect(parsed('resolve', '10.9.1.1', option, value)).rejects.toThrow();
  });

  it('take no address that is none', async () => {
    await expect(endpointOf('10.9.1.1:port')).rejects.toMatchObject({ name: 'UsageError' });
  });
});
