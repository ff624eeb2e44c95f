import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newestChange } from '../../../scripts/setup/bundle.mjs';

let folder: string;
const at = (path: string, seconds: number) => utimesSync(join(folder, path), seconds, seconds);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rdmatool-bundle-'));
  mkdirSync(join(folder, 'src/deep'), { recursive: true });
  writeFileSync(join(folder, 'src/a.ts'), '');
  writeFileSync(join(folder, 'src/deep/b.ts'), '');
  for (const path of ['src/a.ts', 'src/deep/b.ts', 'src/deep', 'src']) at(path, 1000);
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the newest change is found at any depth', () => {
  at('src/deep/b.ts', 2000);
  expect(newestChange(join(folder, 'src'))).toBe(2_000_000);
});

test('a removed file is a change too', () => {
  rmSync(join(folder, 'src/deep/b.ts'));
  expect(newestChange(join(folder, 'src'))).toBeGreaterThan(1_000_000);
});

test('a file alone is its own newest change', () => {
  expect(newestChange(join(folder, 'src/a.ts'))).toBe(1_000_000);
});
