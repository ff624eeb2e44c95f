/** `rdmatool completion` in the shells themselves: what Tab makes of a line. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lab, testFolder } from '../support/labs.ts';
import { RDMATOOL, run } from '../support/rdmatool.ts';
import { InteractiveShell } from './terminal.ts';

/** What is typed, and what it becomes; a blank at the end where the word is whole. */
const LINES: ReadonlyArray<readonly [typed: string, completed: string]> = [
  ['rdmatool quer', 'rdmatool query-device '],
  ['rdmatool help mad p', 'rdmatool help mad ping '],
  ['rdmatool cm res', 'rdmatool cm resolve '],
  ['rdmatool query-device --verb', 'rdmatool query-device --verbose '],
  ['rdmatool query-device --color al', 'rdmatool query-device --color always '],
  ['rdmatool query-device --color=al', 'rdmatool query-device --color=always '],
  // The devices of the machine.
  ['rdmatool query-device rdma', 'rdmatool query-device rdmap0s6 '],
  ['rdmatool mad get NodeInfo -d rdma', 'rdmatool mad get NodeInfo -d rdmap0s6 '],
  ['rdmatool mad get NodeInfo --ib-dev=rdma', 'rdmatool mad get NodeInfo --ib-dev=rdmap0s6 '],
  ['rdmatool counters rdmap0s6/', 'rdmatool counters rdmap0s6/1 '],
  ['rdmatool query-device -i ', 'rdmatool query-device -i 1 '],
  ['rdmatool mad get SMI', 'rdmatool mad get SMInfo '],
  ['rdmatool lab run roc', 'rdmatool lab run roce '],
  ['rdmatool lab down r', 'rdmatool lab down roce '],
  ['rdmatool lab run efa --instance p4d', 'rdmatool lab run efa --instance p4d.24xlarge '],
  ['rdmatool lab run efa --fault hide-sym', 'rdmatool lab run efa --fault hide-symbol='],
  ['rdmatool lab run efa -- rdmatool lis', 'rdmatool lab run efa -- rdmatool list '],
  ['rdmatool lab run efa -- ibv_devin', 'rdmatool lab run efa -- ibv_devinfo '],
  ['rdmatool lab run efa -- cat some-fi', 'rdmatool lab run efa -- cat some-file '],
  ['rdmatool mad send --data-file some-fi', 'rdmatool mad send --data-file some-file '],
  ['rdmatool mad send --data-file=some-fi', 'rdmatool mad send --data-file=some-file '],
  ['rdmatool lab run roce --share som', 'rdmatool lab run roce --share some-folder/'],
  ['rdmatool completion z', 'rdmatool completion zsh '],
  // Nothing fits.
  ['rdmatool query-device --nope', 'rdmatool query-device --nope'],
  ['rdmatool nope x', 'rdmatool nope x'],
];

let env: NodeJS.ProcessEnv;
const work = (): string => join(testFolder(), 'work');

beforeAll(async () => {
  const place = await lab({ devices: ['rdmap0s6:efa2'] });
  const bin = join(testFolder(), 'bin');
  mkdirSync(bin);
  mkdirSync(work());
  symlinkSync(RDMATOOL, join(bin, 'rdmatool'));
  writeFileSync(join(work(), 'some-file'), '');
  mkdirSync(join(work(), 'some-folder'));
  env = { ...place.env, PATH: `${bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin` };
});

describe.each([
  ['bash', 'bash --norc --noprofile -i', 'eval "$(rdmatool completion bash)"'],
  [
    'zsh',
    'zsh -f -i',
    'bindkey -e; autoload -Uz compinit; compinit -u -D; eval "$(rdmatool completion zsh)"',
  ],
])('%s', (name, command, setup) => {
  let shell: InteractiveShell;
  beforeAll(async () => {
    shell = await InteractiveShell.start({ command, setup, env, cwd: work() });
  });
  afterAll(() => shell?.end());

  it.each(LINES)('%s', async (typed, completed) => {
    // zsh keeps the blank, or the slash of a folder, to itself until the next word.
    expect(await shell.complete(typed)).toBe(name === 'zsh' ? completed.replace(/[ /]$/, '') : completed);
  });
});

describe('fish', () => {
  it('completes the same lines', async () => {
    const script = LINES.map(([typed]) => `echo "== ${typed}"; complete -C '${typed}'`);
    const { stdout } = await run(
      ['fish', '--no-config', '-c', ['rdmatool completion fish | source', ...script].join('\n')],
      { env, cwd: work() },
    );
    const answers = new Map(
      stdout
        .split('== ')
        .slice(1)
        .map((block): [string, string[]] => {
          const [typed = '', ...lines] = block.split('\n');
          return [typed, lines.filter((line) => line !== '').map((line) => line.split('\t')[0] ?? '')];
        }),
    );
    for (const [typed, completed] of LINES) {
      const current = typed.split(' ').at(-1) ?? '';
      const expected = completed.trimEnd().split(' ').at(-1) ?? '';
      const none = expected === current && current !== '' ? [] : [expected];
      expect(answers.get(typed.trimEnd()) ?? answers.get(typed), typed).toEqual(none);
    }
  });

  it('shows what each word means', async () => {
    const { stdout } = await run(
      ['fish', '--no-config', '-c', "rdmatool completion fish | source; complete -C 'rdmatool port rdma'"],
      { env, cwd: work() },
    );
    expect(stdout).toBe('rdmap0s6\tall ports\nrdmap0s6/1\t4: ACTIVE, 100 Gb/sec (4X EDR)\n');
  });
});

describe('where the machine has no device', () => {
  it('nothing is offered and nothing is said', async () => {
    const none = await lab({ faults: ['no-driver'] });
    const { status, stdout, stderr } = await run(
      [process.execPath, RDMATOOL, '__complete', 'zsh', '--', 'query-device', ''],
      { lab: none },
    );
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: ':words\n', stderr: '' });
  });
});

describe('the scripts', () => {
  it.each(['bash', 'zsh', 'fish'])('%s reads its own without a complaint', async (shell) => {
    const { stdout } = await run([process.execPath, RDMATOOL, 'completion', shell]);
    const file = join(testFolder(), `script.${shell}`);
    writeFileSync(file, stdout);
    expect(await run([shell, '-n', file])).toMatchObject({ status: 0, stderr: '' });
  });

  it('a file in $fpath serves zsh too', async () => {
    const folder = join(testFolder(), 'fpath');
    mkdirSync(folder, { recursive: true });
    const { stdout } = await run([process.execPath, RDMATOOL, 'completion', 'zsh']);
    writeFileSync(join(folder, '_rdmatool'), stdout);
    const shell = await InteractiveShell.start({
      command: 'zsh -f -i',
      setup: `bindkey -e; fpath=(${folder} $fpath); autoload -Uz compinit; compinit -u -D`,
      env,
      cwd: work(),
    });
    try {
      expect(await shell.complete('rdmatool quer')).toBe('rdmatool query-device');
      expect(await shell.complete('rdmatool lab sta')).toBe('rdmatool lab status');
    } finally {
      shell.end();
    }
  });
});
