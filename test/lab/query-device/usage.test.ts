/** The command line: what is not understood, help, statuses, and where things are written. */
import { spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { QueryDeviceResult } from '../../../src/model/query-device.ts';
import { foreign, product } from '../support/json.ts';
import { lab, withFaults } from '../support/labs.ts';
import { queryDevice, RDMATOOL, rdmatool, rdmatoolJson, run } from '../support/rdmatool.ts';

describe.concurrent('what is not understood', () => {
  it.each([
    ['an unknown option', ['query-device', '--nope'], "unknown option '--nope'"],
    ['a mistyped one', ['query-device', '--verbos'], "unknown option '--verbos'"],
    ['port 0', ['query-device', '-i', '0'], "'0' is not a whole number above 0"],
    ['a negative port', ['query-device', '-i', '-1'], "'-1' is not a whole number above 0"],
    ['a port in words', ['query-device', '-i', 'one'], "'one' is not a whole number above 0"],
    ['a port with a fraction', ['query-device', '-i', '1.5'], "'1.5' is not a whole number above 0"],
    ['a port in hexadecimal', ['query-device', '-i', '0x1'], "'0x1' is not a whole number above 0"],
    ['a port beyond all numbers', ['query-device', '-i', '9'.repeat(30)], 'is not a whole number above 0'],
    ['an empty port', ['query-device', '-i', ''], "'' is not a whole number above 0"],
    ['no port', ['query-device', '-i'], 'argument missing'],
    ['a colour that is none', ['list', '--color', 'pink'], "'pink'"],
    ['an option of another command', ['list', '-v'], "unknown option '-v'"],
    ['an option before the command', ['--verbose', 'query-device'], "unknown option '--verbose'"],
    ['a schema that is none', ['schema', 'nope'], "'nope'"],
    ['a schema of that object', ['schema', 'toString'], "'toString'"],
    ['too many arguments', ['schema', 'list', 'list'], 'too many arguments'],
  ])('%s: the same words as text and as JSON', async (_what, args, says) => {
    const people = await rdmatool(args);
    expect(people).toMatchObject({ status: 2, stdout: '' });
    const [message = '', hint = '', ...rest] = people.stderr.trimEnd().split('\n');
    expect(message).toContain(says);
    expect(message).toMatch(/^rdmatool: /);
    expect(hint).toMatch(/^next: .*rdmatool (query-device|list|schema) --help/);
    expect(rest).toEqual([]);
    const json = await rdmatoolJson(args);
    // The last word may be an option's value that is missing.
    const error = json.document.error;
    expect(json.status).toBe(2);
    expect(error).toMatchObject({ code: 'USAGE', errno: null });
    expect(json.stderr).toBe(`rdmatool: ${error?.message}\nnext: ${error?.hint}\n`);
    if (args.at(-1) !== '-i') expect(error?.message).toBe(message.replace('rdmatool: ', ''));
  });

  it('an option before the command: where it belongs', async () => {
    const { stderr } = await rdmatool(['--json', 'query-device']);
    expect(stderr).toContain('options stand after the command');
  });

  it.each([
    [['quer-device'], 'query-device'],
    [['query-device', '--jsn'], '--json'],
    [['query-device', '--ib-prot', '1'], '--ib-port'],
  ])('%j: what may have been meant', async (args, meant) => {
    const { status, stdout, stderr } = await rdmatool(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^next: did you mean ${meant}\\?`, 'm'));
  });

  it('a port far beyond the last is no mistake of the command line', async () => {
    const { status, document } = await queryDevice(['-i', '99999999999'], { lab: await lab() });
    expect(status).toBe(1);
    expect(document.error).toMatchObject({ code: 'NO_SUCH_PORT' });
  });

  it('the last of two ports counts, a device named twice is shown once', async () => {
    const { status, document } = await queryDevice(['-i', '9', '-i', '1', 'rdmap0s6', 'rdmap0s6'], {
      lab: await lab(),
    });
    expect(status).toBe(0);
    expect(document.devices.map(({ name, ports }) => [name, ports.length])).toEqual([['rdmap0s6', 1]]);
  });

  it('after --, a word that begins with a dash is a device', async () => {
    const { status, stdout, stderr } = await rdmatool(['query-device', '--', '--json'], { lab: await lab() });
    expect(status).toBe(69);
    expect(stderr).toContain('--json: there is no RDMA device of that name');
    expect(() => foreign(stdout)).toThrow();
  });
});

describe.concurrent('device names that nobody should have', () => {
  it.each([
    ['nothing', '', '""'],
    ['a path', '../../../../etc', '"../../../../etc"'],
    ['dots', '..', '..'],
    ['spaces', 'a b', '"a b"'],
    ['an escape code', '\u001b[31mred\u001b[0m', '"\\u001b[31mred\\u001b[0m"'],
    ['a C1 control character', 'x\u009b31m', '"x\\x9b31m"'],
    ['a turned direction of writing', 'x\u202e', '"x\\u202e"'],
    ['a newline', 'a\nrdmatool: all is well', '"a\\nrdmatool: all is well"'],
    ['one of JavaScript', '__proto__', '__proto__'],
    ['a very long one', 'x'.repeat(5000), 'x'.repeat(5000)],
    ['an emoji', '🚀', '"🚀"'],
  ])('%s', async (_what, name, shown) => {
    const json = await queryDevice([name], { lab: await lab() });
    expect(json.status).toBe(69);
    expect(json.document.devices).toMatchObject([
      { name, error: { code: 'UNKNOWN_DEVICE' }, sysfs: { driver: null, ports: [] } },
    ]);
    const people = await rdmatool(['query-device', name], { lab: await lab() });
    for (const text of [people.stderr, json.stderr]) {
      expect(text).toContain(`${shown}: there is no RDMA device of that name`.slice(-200));
      expect(text.split('\n').length).toBe(3);
    }
    expect(people.stdout + people.stderr + json.stdout + json.stderr).not.toMatch(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/,
    );
  });
});

describe.concurrent('help', () => {
  it.each([['query-device'], ['list'], ['schema']])('of %s shows examples', async (command) => {
    const outcomes = await Promise.all([
      rdmatool([command, '--help']),
      rdmatool([command, '-h']),
      rdmatool(['help', command]),
    ]);
    for (const { status, stdout, stderr } of outcomes) {
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toContain(`Usage: rdmatool ${command}`);
      expect(stdout).toContain('Examples:');
      expect(stdout).toBe(outcomes[0]?.stdout);
    }
  });

  it('of the program names every command', async () => {
    const [help, version] = await Promise.all([rdmatool(['--help']), rdmatool(['--version'])]);
    for (const command of ['query-device', 'list', 'schema', 'lab']) expect(help.stdout).toContain(command);
    expect(version.stdout).toMatch(/^rdmatool \d+\.\d+\.\d+\n$/);
    expect([help.status, version.status]).toEqual([0, 0]);
  });
});

describe.concurrent('schema', () => {
  it('names the commands, as text and as a document', async () => {
    const { document } = await rdmatoolJson(['schema']);
    const { stdout } = await rdmatool(['schema']);
    if (!('commands' in document)) throw new Error(document.schema);
    expect(document.commands).toEqual(expect.arrayContaining(['query-device', 'list', 'schema']));
    expect(new Set(document.commands).size).toBe(document.commands.length);
    expect(stdout).toBe(`${document.commands.join('\n')}\n`);
  });
});

describe.concurrent('where things are written', () => {
  it('data on stdout, messages on stderr', async () => {
    const good = await rdmatool(['query-device'], { lab: await lab() });
    expect(good.stderr).toBe('');
    const bad = await rdmatool(['query-device'], { lab: await withFaults('no-device') });
    expect(bad.stdout).toBe('');
    expect(bad.stderr).toMatch(/^rdmatool: .*\nnext: .*\n$/);
  });

  it.each([
    ['head -1', ['query-device', '-v']],
    ['head -c 1', ['query-device', '--json']],
    ['true', ['query-device', '--json']],
    ['true', ['list']],
    ['true', ['query-device', '--help']],
    ['true', ['schema', 'query-device']],
  ])('a reader that goes away (| %s) is no failure: %j', async (reader, args) => {
    const place = await lab({ instance: 'p5.48xlarge' });
    const words = args.map((word) => `'${word}'`).join(' ');
    const { stdout, stderr } = await run(
      [
        'bash',
        '-c',
        `'${process.execPath}' '${RDMATOOL}' ${words} | ${reader} >/dev/null; echo \${PIPESTATUS[0]}`,
      ],
      { lab: place },
    );
    expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' });
  });

  it('a slow reader of a pipe gets all of it', async () => {
    const place = await lab({ instance: 'p5.48xlarge' });
    const { stdout } = await run(
      ['bash', '-c', `'${process.execPath}' '${RDMATOOL}' query-device --json | (sleep 1; cat)`],
      { lab: place },
    );
    expect(stdout.length).toBeGreaterThan(200_000);
    expect(product<QueryDeviceResult>(stdout).devices.length).toBe(32);
  });

  it.runIf(existsSync('/dev/full'))('a full disk is told, once, and without a trace', async () => {
    for (const args of [['query-device'], ['query-device', '--json'], ['list'], ['--help'], ['schema']]) {
      const outcome = await rdmatool(args, {
        lab: await lab(),
        stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      });
      expect(outcome).toMatchObject({
        status: 1,
        stderr:
          'rdmatool: stdout cannot be written: ENOSPC (28), no room: a table or a buffer is full\nnext: what was printed is not complete\n',
      });
    }
  });

  it.each([
    ['stdin', '<&-'],
    ['stdout', '>&-'],
    ['stderr', '2>&-'],
    ['all three', '<&- >&- 2>&-'],
  ])('%s is closed', async (_what, redirection) => {
    const command = `'${process.execPath}' '${RDMATOOL}' query-device ${redirection}; echo "[$?]"`;
    const { stdout, stderr } = await run(['sh', '-c', command], { lab: await lab() });
    expect(stdout).toMatch(/\[0\]\n$/);
    expect(stderr).toBe('');
    expect(stdout.includes('rdmap0s6')).toBe(!redirection.includes(' >&-') && redirection !== '>&-');
  });

  it('stderr cannot be written: the data is there', async () => {
    const place = await withFaults('rdmap0s6:no-node');
    const outcome = await rdmatool(['query-device', '--json'], {
      lab: place,
      stdio: ['ignore', 'pipe', openSync('/dev/full', 'w')],
    });
    expect(outcome.status).toBe(69);
    expect(product<QueryDeviceResult>(outcome.stdout).error?.code).toBe('NO_NODE');
  });

  it('a reader that pauses gets all of it', async () => {
    const place = await lab({ instance: 'p5.48xlarge' });
    const length = await new Promise<number>((resolve, reject) => {
      const child = spawn(process.execPath, [RDMATOOL, 'query-device', '--json'], {
        env: { ...process.env, ...place.env },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      let total = 0;
      child.stdout.on('data', (chunk: Buffer) => {
        total += chunk.length;
        child.stdout.pause();
        setTimeout(() => child.stdout.resume(), 20);
      });
      child.on('error', reject);
      child.stdout.on('end', () => resolve(total));
    });
    expect(length).toBeGreaterThan(200_000);
  });
});
