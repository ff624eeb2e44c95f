/** What `npm pack` makes, installed in a place of its own as a user would, and run from there. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ListResult } from '../../../src/model/list.ts';
import { packageVersion } from '../../../src/package-root.ts';
import { foreign, product } from '../support/json.ts';
import { testFolder } from '../support/labs.ts';
import { type Outcome, REPOSITORY, run } from '../support/rdmatool.ts';
import { demand, pack } from './packed.ts';

const prefix = (): string => join(testFolder(), 'prefix');
const installed = (): string => join(prefix(), 'lib/node_modules/rdmatool');
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The installed program, with nothing of this repository in its environment. */
const installedRdmatool = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> =>
  run([process.execPath, join(prefix(), 'bin/rdmatool'), ...args], {
    cwd: testFolder(),
    env: {
      PATH: `${join(prefix(), 'bin')}:${SYSTEM_PATH}`,
      XDG_CACHE_HOME: join(testFolder(), 'cache'),
      ...env,
    },
  });

beforeAll(async () => {
  mkdirSync(prefix());
  const file = await pack(testFolder());
  await demand(
    ['npm', 'install', '--global', '--prefix', prefix(), '--ignore-scripts', '--prefer-offline', file],
    testFolder(),
  );
});

describe('the package', () => {
  it('runs without a compiler and without the repository', async () => {
    const bare = join(testFolder(), 'bare');
    mkdirSync(bare);
    symlinkSync(process.execPath, join(bare, 'node'));
    const env = { PATH: bare };
    expect(await installedRdmatool(['--version'], env)).toMatchObject({
      status: 0,
      stdout: `rdmatool ${packageVersion()}\n`,
    });
    // koffi has brought its machine code along.
    const list = await installedRdmatool(['list', '--json'], env);
    expect([0, 1, 69]).toContain(list.status);
    expect(product<ListResult>(list.stdout).error?.code).not.toMatch(
      /INTERNAL|UNSUPPORTED_PLATFORM|NO_LIBRARY/,
    );
    for (const args of [
      ['--help'],
      ['schema', 'query-device'],
      ['completion', 'zsh'],
      ['mad', 'send', '--help'],
    ]) {
      expect(await installedRdmatool(args, env), args.join(' ')).toMatchObject({ status: 0, stderr: '' });
    }
  });

  it('says what the lab lacks where there is no compiler, and compiles when the lab is first used', async () => {
    const bare = join(testFolder(), 'no-compiler');
    mkdirSync(bare);
    symlinkSync(process.execPath, join(bare, 'node'));
    const cache = join(testFolder(), 'fresh-cache');
    const lab = ['lab', 'run', 'efa', '--', process.execPath, join(prefix(), 'bin/rdmatool'), 'list'];
    const without = await installedRdmatool(lab, { PATH: bare, XDG_CACHE_HOME: cache });
    expect(without).toMatchObject({ status: 69, stdout: '' });
    expect(without.stderr).toMatch(/^rdmatool: lab efa needs a C compiler.*\nnext: .*gcc.*\n$/);
    const withOne = await installedRdmatool(lab, { XDG_CACHE_HOME: cache });
    expect(withOne.status, withOne.stderr).toBe(0);
    expect(withOne.stdout).toContain('rdmap0s6');
    expect(existsSync(cache)).toBe(true);
  });

  it('brings the manual pages to where man looks', async () => {
    const pages = readdirSync(join(REPOSITORY, 'man')).sort();
    for (const section of ['1', '7']) {
      const installed = readdirSync(join(prefix(), `share/man/man${section}`)).sort();
      expect(installed).toEqual(pages.filter((page) => page.endsWith(`.${section}`)));
    }
    expect(readFileSync(join(prefix(), 'share/man/man1/rdmatool.1'), 'utf8')).toBe(
      readFileSync(join(REPOSITORY, 'man/rdmatool.1'), 'utf8'),
    );
  });

  it('has the licence of each package whose code is in it, and of koffi', () => {
    const text = readFileSync(join(installed(), 'dist/LICENCES.txt'), 'utf8');
    // A text of each that only it has in its code.
    const code = readdirSync(join(installed(), 'dist'))
      .filter((name) => name.endsWith('.cjs'))
      .map((name) => readFileSync(join(installed(), 'dist', name), 'utf8'))
      .join('\n');
    for (const [name, sign] of [
      ['commander', 'CommanderError'],
      ['chalk', 'supportsColor'],
      ['cli-table3', 'truncateWidth'],
      ['typebox', '~kind'],
      ['fastest-levenshtein', 'peq'],
      ['string-width', 'isFullwidthCodePoint'],
    ] as const) {
      expect(code.includes(sign), name).toBe(true);
      const { version, license } = foreign<{ version: string; license: string }>(
        readFileSync(join(REPOSITORY, 'node_modules', name, 'package.json'), 'utf8'),
      );
      expect(text).toContain(`${name} ${version} (${license})`);
    }
    expect(text.match(/Permission is hereby granted, free of charge/g)?.length).toBeGreaterThanOrEqual(6);
    expect(existsSync(join(installed(), 'node_modules/koffi/LICENSE.txt'))).toBe(true);
  });

  it('has what runs and is read, and nothing else', () => {
    const files = readdirSync(installed(), { recursive: true, encoding: 'utf8' }).filter(
      (name) => !name.startsWith('node_modules') && statSync(join(installed(), name)).isFile(),
    );
    const strange = files.filter(
      (name) =>
        !/^(LICENSE|README\.md|package\.json|bin\/(package\.json|rdmatool\.js)|dist\/(LICENCES\.txt|[\w-]+\.cjs|library\/(index\.d\.ts|[\w-]+\.js))|man\/[\w-]+\.[17]|docs\/library\.md|examples\/cm\/[\w-]+\.rdmacm|src\/lab\/.*\.(c|h|sh))$/.test(
          name,
        ),
    );
    expect(strange).toEqual([]);
    const size = files.reduce((sum, name) => sum + statSync(join(installed(), name)).size, 0);
    expect(size).toBeLessThan(3 * 1024 * 1024);
  });
});
