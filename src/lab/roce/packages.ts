/** The Debian packages that the lab needs. Set-up reads the same list. */
import { existsSync } from 'node:fs';
import { LabError } from '../error.ts';
import packages from './packages.json' with { type: 'json' };

/** @throws LabError naming the packages that are missing, if any are */
export function requirePackages(exists: (path: string) => boolean = existsSync): void {
  const missing = packages.filter(({ proof }) => !exists(proof));
  if (missing.length === 0) return;
  const reasons = missing.map(({ name, why }) => `${name} (${why})`).join(', ');
  throw missingPackages(
    `lab roce needs ${missing.length === 1 ? 'a package that is' : 'packages that are'} missing: ${reasons}`,
    missing.map(({ name }) => name),
  );
}

/** An error for what packages would bring. */
export const missingPackages = (message: string, names: readonly string[]): LabError =>
  new LabError('no_package', message, `apt install ${names.join(' ')}`, 69);
