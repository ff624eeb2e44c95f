/** What `npm pack` makes, for tests that install it. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { REPOSITORY, run } from '../support/rdmatool.ts';

/** What a command printed, which has to go well. */
export async function demand(command: readonly string[], cwd: string): Promise<string> {
  const { status, stdout, stderr } = await run(command, { cwd });
  expect(status, stdout + stderr).toBe(0);
  return stdout;
}

/** The path of the package, made in a folder. */
export async function pack(folder: string): Promise<string> {
  const packed = await demand(['npm', 'pack', '--silent', '--pack-destination', folder], REPOSITORY);
  return join(folder, packed.trim().split('\n').at(-1) ?? '');
}
