import { expect, test } from 'vitest';
import { npmCommand } from '../../../scripts/setup/node-modules.mjs';

test('the npm that runs the script is used again', () => {
  const script = '/usr/lib/node_modules/npm/bin/npm-cli.js';
  expect(npmCommand({ npm_execpath: script })).toEqual([process.execPath, script]);
});

test('without it, or under another package manager, npm comes from PATH', () => {
  expect(npmCommand({})).toEqual(['npm']);
  expect(npmCommand({ npm_execpath: '/usr/lib/node_modules/pnpm/bin/pnpm.cjs' })).toEqual(['npm']);
});
