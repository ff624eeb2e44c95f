/** The help of every command at 80 columns, and its manual page under mandoc's lint. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadCommands } from '../../../src/commands/all.ts';
import { RDMATOOL, REPOSITORY, rdmatool, run } from '../support/rdmatool.ts';

const commands = await loadCommands();
const groups = [...new Set(commands.flatMap(({ path }) => (path.length > 1 ? [path.slice(0, 1)] : [])))];

describe.concurrent('help', () => {
  it.each(
    [[], ...groups, ...commands.map(({ path }) => path)].map((path) => [path.join(' '), path] as const),
  )("of '%s' fits 80 columns, in a pipe and on a terminal", async (_name, path) => {
    const words = path.map((word) => `'${word}'`).join(' ');
    const [piped, shown] = await Promise.all([
      rdmatool([...path, '--help'], { env: { COLUMNS: '80' } }),
      run(
        ['script', '-qec', `stty cols 80; '${process.execPath}' '${RDMATOOL}' ${words} --help`, '/dev/null'],
        {
          env: { COLUMNS: undefined },
        },
      ),
    ]);
    expect({ status: piped.status, stderr: piped.stderr }).toEqual({ status: 0, stderr: '' });
    expect(shown.stdout.replaceAll('\r\n', '\n')).toBe(piped.stdout);
    expect(piped.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('of a group that is named without a command says which there are', async () => {
    for (const [group = ''] of groups) {
      const { status, stdout, stderr } = await rdmatool([group]);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(
        new RegExp(`^rdmatool: ${group}: which command\\? There is .+\nnext: rdmatool ${group} --help\n$`),
      );
    }
  });
});

describe.concurrent('the manual pages', () => {
  const pages = readdirSync(join(REPOSITORY, 'man'));

  it('are clean under mandoc -T lint -W warning', async () => {
    const files = pages.map((page) => join(REPOSITORY, 'man', page));
    expect(await run(['mandoc', '-T', 'lint', '-W', 'warning', ...files])).toMatchObject({
      status: 0,
      stdout: '',
      stderr: '',
    });
  });

  // Section 7 is tables of bytes, whose rows are as wide as their columns.
  it.each(pages.filter((page) => page.endsWith('.1')))(
    '%s has no line of a page wider than 80 columns that could be folded',
    async (page) => {
      const { stdout } = await run([
        'mandoc',
        '-T',
        'ascii',
        '-O',
        'width=78',
        join(REPOSITORY, 'man', page),
      ]);
      const plain = stdout.replace(/.\u0008/g, '');
      const wide = plain.split('\n').filter((line) => line.length > 80 && line.trim().includes(' '));
      expect(wide).toEqual([]);
    },
  );
});
