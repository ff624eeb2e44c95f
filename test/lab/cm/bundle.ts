import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { REPOSITORY } from '../roce/tools.ts';

/** Bundles a driver of this folder for plain Node, and gives its path, which the lab has too. */
export async function bundleDriver(name = 'driver'): Promise<string> {
  const bundle = await rolldown({
    input: { [`cm-${name}`]: join(import.meta.dirname, `${name}.ts`) },
    platform: 'node',
    external: ['koffi'],
  });
  // Below the repository, so that koffi is found.
  const dir = join(REPOSITORY, 'node_modules/.cache/rdmatool-tests');
  await bundle.write({ dir, format: 'esm', entryFileNames: '[name].mjs' });
  return join(dir, `cm-${name}.mjs`);
}
