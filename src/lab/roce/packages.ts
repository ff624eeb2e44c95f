/** The Debian packages that the lab needs. Set-up reads the same list. */
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
