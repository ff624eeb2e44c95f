import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { REPOSITORY } from '../roce/tools.ts';

/**
 * Bundles a driver for plain Node, and gives its path, which the lab has too.
 * @param source the driver of connections unless given
 */
export async function bundleDriver(
  name = 'cm-driver',
  source = join(import.meta.dirname, 'driver.ts'),
): Promise<string> {
  const bundle = await rolldown({
    input: { [name]: source },
    platform: 'node',
    external: ['koffi'],
  });
  // Below the repository, so that koffi is found.
  const dir = join(REPOSITORY, 'node_modules/.cache/rdmatool-tests');
  await bundle.write({ dir, format: 'esm', entryFileNames: '[name].mjs' });
  return join(dir, `${name}.mjs`);
}
