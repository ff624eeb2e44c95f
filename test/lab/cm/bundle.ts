import { basename, join } from 'node:path';
import { rolldown } from 'rolldown';
import { REPOSITORY } from '../roce/tools.ts';

/**
 * Bundles a driver for plain Node, and gives its path, which the lab has too.
 * @param name of its file, without `.ts`
 * @param folder where that is; this one unless given
 */
export async function bundleDriver(name = 'driver', folder = import.meta.dirname): Promise<string> {
  const output = `${basename(folder)}-${name}`;
  const bundle = await rolldown({
    input: { [output]: join(folder, `${name}.ts`) },
    platform: 'node',
    external: ['koffi'],
  });
  // Below the repository, so that koffi is found.
  const dir = join(REPOSITORY, 'node_modules/.cache/rdmatool-tests');
  await bundle.write({ dir, format: 'esm', entryFileNames: '[name].mjs' });
  return join(dir, `${output}.mjs`);
}
