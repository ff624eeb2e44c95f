import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { expect, it } from 'vitest';
import { nodeProgram } from '../../../src/lab/node-program.ts';

const here = { argv0: 'node', env: process.env };

it('is the one that runs this', () => {
  expect(nodeProgram()).toBe(process.execPath);
  expect(nodeProgram({ ...here, execPath: '/opt/node-20/bin/node' })).toBe('/opt/node-20/bin/node');
});

it.each([
  '/srv/trixie/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2',
  '/lib/ld-linux-aarch64.so.1',
  '/lib64/ld-2.31.so',
  '/lib/ld-musl-x86_64.so.1',
])('is what the loader %s was given', (execPath) => {
  const found = nodeProgram({ ...here, execPath, argv0: process.execPath });
  expect(found).toBe(realpathSync(process.execPath));
  expect(execFileSync(found, ['-p', '1 + 1'], { encoding: 'utf8' })).toBe('2\n');
});

it('stays the loader where nothing tells what it was given', () => {
  const execPath = '/lib64/ld-linux-x86-64.so.2';
  expect(nodeProgram({ execPath, argv0: 'no-such-program', env: {} })).toBe(execPath);
});
