/** The core as a library, in a process of its own: src/devices bundled for node. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll } from 'vitest';
import { foreign } from './json.ts';
import { REPOSITORY, type RunOptions, run } from './rdmatool.ts';

/** Beside node_modules, so that what the bundle leaves out can be found. */
const FOLDER = join(REPOSITORY, `node_modules/.cache/rdmatool-test-${process.pid}`);

let bundle: Promise<string> | undefined;

async function bundled(): Promise<string> {
  mkdirSync(FOLDER, { recursive: true });
  const made = await rolldown({
    input: { devices: join(REPOSITORY, 'src/devices/query-devices.ts') },
    platform: 'node',
    external: ['koffi'],
  });
  await made.write({
    dir: FOLDER,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  });
  return pathToFileURL(join(FOLDER, 'devices.mjs')).href;
}

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

/**
 * Runs a script that has `queryDevices`, and gives the JSON that it hands to `answer`.
 * @param script the body of an async function
 */
export async function runWithLibrary(script: string, options: RunOptions = {}): Promise<unknown> {
  bundle ??= bundled();
  const source = `
    import { queryDevices } from ${JSON.stringify(await bundle)};
    const answer = (value) => process.stdout.write(JSON.stringify(value));
    ${script}`;
  const { status, stdout, stderr } = await run(
    [process.execPath, '--expose-gc', '--input-type=module', '-e', source],
    options,
  );
  if (status !== 0) throw new Error(`${status}: ${stderr}`);
  return foreign(stdout);
}
