import { expect, test } from 'vitest';
import { run } from '../../../scripts/processes.mjs';

test('a quiet command gives its status and what it wrote to both streams', async () => {
  const { status, output } = await run('sh', ['-c', 'echo out; echo err >&2; exit 3'], { quiet: true });
  expect(status).toBe(3);
  expect(output.split('\n').sort()).toEqual(['', 'err', 'out']);
});

test('a command that ends by a signal has a status as in the shell', async () => {
  expect((await run('sh', ['-c', 'kill -9 $$'], { quiet: true })).status).toBe(137);
});

test('a command that does not exist is status 127 with a word', async () => {
  const { status, output } = await run('/no/such/command', [], { quiet: true });
  expect(status).toBe(127);
  expect(output).toContain('ENOENT');
});
