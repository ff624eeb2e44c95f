/** What the lab needs of the machine. Set-up reads the same list of Debian packages. */
import { existsSync } from 'node:fs';
import { LabError } from '../error.ts';
import packages from './packages.json' with { type: 'json' };

/**
 * @param names of packages in the list
 * @throws LabError naming those that are missing, if any are
 */
export function requirePackages(
  names: readonly string[],
  exists: (path: string) => boolean = existsSync,
): void {
  const missing = packages.filter(({ name, proof }) => names.includes(name) && !exists(proof));
  if (missing.length === 0) return;
  throw missingPackages(
    `lab roce needs what is not installed: ${missing.map(({ name, why }) => `${name} (${why})`).join('; ')}`,
    missing.map(({ name }) => name),
  );
}

/** An error for what packages would bring. */
export const missingPackages = (message: string, names: readonly string[]): LabError =>
  new LabError('no_package', message, `apt install ${names.join(' ')}`, 69);

/** @throws LabError on a processor that the lab has no machine for */
export function requireProcessor(architecture: string = process.arch): void {
  if (architecture === 'x64') return;
  throw new LabError(
    'unsupported',
    `lab roce is for x86-64 only as yet, and this is ${architecture}`,
    'run it on an x86-64 machine',
    69,
  );
}
