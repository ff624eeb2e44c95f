import { describe, expect, it } from 'vitest';
import { commandNamedBy, loadCommands } from '../../../src/commands/all.ts';
import { buildProgram } from '../../../src/commands/program.ts';
import {
  type CommandSpec,
  type OptionSpecs,
  type OptionValues,
  UsageError,
} from '../../../src/commands/spec.ts';

interface Understood {
  readonly spec: CommandSpec;
  readonly args: readonly string[];
  readonly options: OptionValues<OptionSpecs>;
}

async function parse(...argv: string[]): Promise<Understood> {
  const found: Understood[] = [];
  const program = buildProgram(await loadCommands(), [], async (spec, args, options) => {
    found.push({ spec, args, options });
  });
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
  }
  await program.parseAsync(argv, { from: 'user' });
  const [first] = found;
  if (!first) throw new Error('no command was run');
  return first;
}

describe('the command line', () => {
  it('without options has their first values', async () => {
    const { args, options } = await parse('query-device');
    expect(args).toEqual([]);
    expect(options).toEqual({ verbose: false, ibPort: null, json: false, color: 'auto' });
  });

  it('an option that makes a command stream is one of its own', async () => {
    const streaming = (await loadCommands()).filter(({ streams }) => typeof streams === 'object');
    expect(streaming.map(({ path }) => path.join(' ')).sort()).toEqual(['counters', 'mad get']);
    for (const { streams, options } of streaming) {
      expect(Object.keys(options)).toContain(typeof streams === 'object' ? streams.with : '');
    }
  });

  it.each([
    [
      ['query-device', '-v', '-i', '2', 'mlx5_0', 'mlx5_1'],
      { verbose: true, ibPort: 2 },
      ['mlx5_0', 'mlx5_1'],
    ],
    [['query-device', 'mlx5_0', '--ib-port=7', '--verbose'], { verbose: true, ibPort: 7 }, ['mlx5_0']],
    [['query-device', '-vi3', 'mlx5_0', '--json'], { verbose: true, ibPort: 3, json: true }, ['mlx5_0']],
    [['list', '--color', 'never', '--', '-x'], { color: 'never' }, ['-x']],
  ])('%j', async (argv, options, args) => {
    const understood = await parse(...argv);
    expect(understood.options).toMatchObject(options);
    expect(understood.args).toEqual(args);
  });

  it.each(['0', '-1', '1.5', '0x1', '1e3', ' 1', '', 'one', '9'.repeat(20)])(
    'a port of %j is refused',
    async (port) => {
      await expect(parse('query-device', '--ib-port', port)).rejects.toThrow(UsageError);
    },
  );

  it('names the command, whatever else is wrong', () => {
    expect(commandNamedBy(['query-device', '--nope'])).toBe('query-device');
    expect(commandNamedBy(['--json', 'list'])).toBe('list');
    expect(commandNamedBy(['lab', 'run', 'efa', '--', 'rdmatool', 'list'])).toBe('lab run');
    expect(commandNamedBy(['toString'])).toBeUndefined();
    expect(commandNamedBy([])).toBeUndefined();
  });
});
