import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

let root: string | undefined;

/** The directory of this package, from its sources as well as from its bundle. */
export function packageRoot(): string {
  if (root !== undefined) return root;
  for (let directory = dirname(fileURLToPath(import.meta.url)); ; directory = dirname(directory)) {
    if (isOurs(join(directory, 'package.json'))) {
      root = directory;
      return root;
    }
    if (directory === dirname(directory))
      throw new Error('the package of rdmatool is not complete: no package.json');
  }
}

function isOurs(file: string): boolean {
  try {
    const json: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return typeof json === 'object' && json !== null && 'name' in json && json.name === 'rdmatool';
  } catch {
    return false;
  }
}
