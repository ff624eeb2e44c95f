import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

let root: string | undefined;

/** The folder of this package, from its sources as well as from its bundle. */
export function packageRoot(): string {
  if (root !== undefined) return root;
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (manifestIn(folder)?.name === 'rdmatool') {
      root = folder;
      return root;
    }
    if (folder === dirname(folder)) throw new Error('rdmatool is installed without its package.json');
  }
}

/** The version in package.json. */
export const packageVersion = (): string => manifestIn(packageRoot())?.version ?? 'unknown';

function manifestIn(folder: string): { readonly name: string; readonly version: string } | null {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch {
    return null;
  }
}
