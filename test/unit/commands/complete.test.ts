import { describe, expect, it } from 'vitest';
import { loadCommands } from '../../../src/commands/all.ts';
import { complete } from '../../../src/commands/complete.ts';
import { completionAnswer, splitLine } from '../../../src/commands/completion-protocol.ts';
import { liveWords } from '../../../src/commands/completion-words.ts';
import { allOptionsOf } from '../../../src/commands/program.ts';
import { recordedMachine } from '../devices/recorded.ts';

const commands = await loadCommands();

async function words(...typed: string[]): Promise<string[]> {
  const found = await complete(typed.slice(0, -1), typed.at(-1) ?? '');
  if (found.kind !== 'words') throw new Error(found.kind);
  return found.words.map(({ word }) => word);
}

describe('every command', () => {
  it.each(commands.map((spec) => [spec.path.join(' '), spec] as const))(
    '%s is completed, with all its options',
    async (_name, spec) => {
      const last = spec.path.at(-1) ?? '';
      expect(await words(...spec.path.slice(0, -1), last)).toContain(last);
      const offered = await words(...spec.path, '-');
      for (const { flags, choices } of Object.values(allOptionsOf(spec))) {
        const long = /--[\w-]+/.exec(flags)?.[0] ?? '';
        expect(offered).toContain(long);
        if (choices) expect(await words(...spec.path, long, '')).toEqual(choices);
      }
    },
  );

  it.each(
    commands.flatMap((spec) =>
      spec.reference ? [[spec.path.join(' '), spec, spec.reference] as const] : [],
    ),
  )("%s: each table of words is some value's", async (_name, spec, reference) => {
    const usages = [
      ...Object.values(allOptionsOf(spec)).map(({ flags }) => flags),
      ...spec.arguments.map(({ usage }) => usage),
    ];
    const names = usages.map((usage) => /[<[]([^>\].]+)/.exec(usage)?.[1]);
    for (const { title, completes, rows } of await reference()) {
      if (completes !== undefined) expect(names, title).toContain(completes);
      if (completes !== undefined) for (const [word] of rows) expect(word).toMatch(/^\S+$/);
    }
  });

  it.each([
    [
      ['mad', 'send', '--method', 'GetTab'],
      ['GetTable', 'GetTableResp'],
    ],
    [['mad', 'send', 'PortInfo', '1', '--class', 'PE'], ['PERF']],
    [['lab', 'up', 'ib', '--fabric', 'p'], ['pair']],
    [['lab', 'run', 'ib', '--fabric', 'f'], ['fat-tree:']],
    [['mad', 'table', 'Nod'], ['NodeRecord']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['schema', 'lab'], ['lab-status']],
  ])('%j has its words', async (typed, expected) => {
    expect(await words(...typed)).toEqual(expected);
  });
});

describe('what is offered', () => {
  it('is not what is there already, unless it may be repeated', async () => {
    expect(await words('query-device', '-v', '--ver')).toEqual([]);
    expect(await words('lab', 'run', 'efa', '--fault', 'no-device', '--fau')).toEqual(['--fault']);
  });

  it('knows the value of an option from an argument', async () => {
    expect(await words('mad', 'get', '--timeout', '5', 'SMI')).toEqual(['SMInfo']);
    expect(await words('mad', 'get', '--timeout=5', 'SMI')).toEqual(['SMInfo']);
    expect(await words('mad', 'get', '-i2', 'SMI')).toEqual(['SMInfo']);
    expect(await words('mad', 'get', '--json', 'SMI')).toEqual(['SMInfo']);
    expect(await words('mad', 'get', 'NodeInfo', 'SMI')).toEqual([]);
  });

  it('ends with --', async () => {
    expect(await words('list', '--', '--js')).toEqual([]);
  });

  it.each([
    [['mad', 'send', '--data-file', ''], { kind: 'files' }],
    [['lab', 'run', 'efa', '--', ''], { kind: 'command', from: 5 }],
    [['lab', 'run', 'efa', '--', 'rping', '-'], { kind: 'command', from: 5 }],
    [['lab', 'run', 'efa', '--', '/usr/bin/rdmatool', 'lab', 'run', 'ib', '--', ''], { kind: 'command' }],
  ])('%j is left to the shell', async (typed, expected) => {
    expect(await complete(typed.slice(0, -1), typed.at(-1) ?? '')).toMatchObject(expected);
  });

  it.each([['__proto__'], ['constructor', ''], ['lab', 'constructor', ''], ['\u0000', ''], ['']])(
    '%j does no harm',
    async (...typed) => {
      await expect(words(...typed)).resolves.toBeDefined();
    },
  );
});

describe("bash's line", () => {
  it.each([
    ['rdmatool li', ['rdmatool'], 'li', 0],
    ['rdmatool  list ', ['rdmatool', 'list'], '', 0],
    ['A=1 sudo rdmatool cm co', ['rdmatool', 'cm'], 'co', 0],
    ['echo x | /opt/bin/rdmatool mad d', ['/opt/bin/rdmatool', 'mad'], 'd', 0],
    ['x=$(rdmatool li', ['rdmatool'], 'li', 0],
    ['rdmatool a --color=al', ['rdmatool', 'a'], '--color=al', 8],
    ['rdmatool a 10.9.1.1:71', ['rdmatool', 'a'], '10.9.1.1:71', 9],
    [`rdmatool 'a b' "c\\"d" e\\ f g`, ['rdmatool', 'a b', 'c"d', 'e f'], 'g', 0],
    ["rdmatool 'a b", ['rdmatool'], 'a b', 0],
    ['', [], '', 0],
  ])('%s', (text, split, current, cut) => {
    expect(splitLine(text)).toEqual({ words: split, current, cut });
  });

  it('is read up to the cursor', async () => {
    expect(await completionAnswer(['bash', 'rdmatool lisXX', '12'])).toBe(':words\nlist\n');
    expect(await completionAnswer(['bash', 'rdmatool lis', 'x'])).toBe(':words\nlist\n');
    expect(await completionAnswer(['bash'])).toMatch(/^:words\n/);
    expect(await completionAnswer([])).toMatch(/^:words\n/);
  });
});

describe('words of the machine', () => {
  const { sysfs } = recordedMachine({
    files: {
      'class/infiniband/mlx5_0/ports/1/state': '4: ACTIVE',
      'class/infiniband/mlx5_0/ports/2/state': '1: DOWN',
      'class/infiniband/mlx5_1/ports/1/state': '4: ACTIVE',
    },
  });

  it('are devices, ports, and the ports of the device that is named', () => {
    const only = (kind: Parameters<typeof liveWords>[0], device: string | null = null) =>
      liveWords(kind, device, sysfs).map((word) => (typeof word === 'string' ? word : word[0]));
    expect(only('device')).toEqual(['mlx5_0', 'mlx5_1']);
    expect(only('port')).toEqual(['mlx5_0', 'mlx5_0/1', 'mlx5_0/2', 'mlx5_1', 'mlx5_1/1']);
    expect(only('port-number')).toEqual(['1', '2']);
    expect(only('port-number', 'mlx5_1')).toEqual(['1']);
    expect(only('port-number', 'nope')).toEqual([]);
  });
});
