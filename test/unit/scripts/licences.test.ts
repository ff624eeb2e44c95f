import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bundledPackages, licencesText } from '../../../scripts/build/licences.mjs';

let folder: string;

function install(path: string, manifest: object, files: Record<string, string>): void {
  const place = join(folder, 'node_modules', path);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rdmatool-licences-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('each package once, by name, nested and scoped ones too', () => {
  install('b', { name: 'b', version: '1.0.0', license: 'MIT' }, { LICENSE: 'text of b\n' });
  install(
    '@s/a',
    { name: '@s/a', version: '2.0.0', license: 'ISC' },
    { 'LICENSE-MIT.txt': 'text of a', NOTICE: 'n' },
  );
  install('b/node_modules/c', { name: 'c', version: '3.0.0', license: 'MIT' }, { license: 'text of c' });
  const at = (path: string) => join(folder, 'node_modules', path);
  const packages = bundledPackages([
    join(folder, 'src/main.ts'),
    at('b/index.js'),
    `\0${at('b/lib/deep/x.js')}?commonjs`,
    at('@s/a/index.js'),
    at('b/node_modules/c/index.js'),
    '\0no-child-process',
  ]);
  expect(packages.map(({ name, text }) => [name, text])).toEqual([
    ['@s/a', 'text of a\n\nn'],
    ['b', 'text of b'],
    ['c', 'text of c'],
  ]);
  expect(licencesText(packages)).toContain('b 1.0.0 (MIT)\n-------------\n\ntext of b\n');
});

test('a package without a licence text may not be bundled', () => {
  install('b', { name: 'b', version: '1.0.0', license: 'MIT' }, {});
  expect(() => bundledPackages([join(folder, 'node_modules/b/index.js')])).toThrow('b is bundled');
});
