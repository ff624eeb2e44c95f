/** The programs of Debian that lab ib is made of. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { LabError } from '../error.ts';

export interface LabPrograms {
  readonly ibsim: string;
  readonly opensm: string;
  readonly ibstat: string;
  /** The library that takes the place of the kernel in every program of the lab. */
  readonly umad2sim: string;
  /** setpriv(1), which ends a server when its parent dies; null where there is none. */
  readonly setpriv: string | null;
}

/** Debian's name of the machine, in the paths of libraries. */
const TRIPLETS: Readonly<Partial<Record<NodeJS.Architecture, string>>> = {
  x64: 'x86_64-linux-gnu',
  arm64: 'aarch64-linux-gnu',
};
/** opensm and ibstat lie in sbin, which a user's PATH may not have. */
const ALWAYS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin', '/usr/local/sbin', '/usr/local/bin'];

/** Throws LabError, naming the packages that are missing. */
export function findPrograms(environment: NodeJS.ProcessEnv): LabPrograms {
  const folders = [
    ...(environment['PATH'] ?? '').split(':').filter((path) => path.startsWith('/')),
    ...ALWAYS,
  ];
  const missing = new Set<string>();
  const find = (name: string): string | null =>
    folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
  const need = (name: string, packageName: string): string => {
    const found = find(name);
    if (found === null) missing.add(packageName);
    return found ?? '';
  };
  const triplet = TRIPLETS[process.arch] ?? '';
  const libraries = [`/usr/lib/${triplet}/umad2sim`, '/usr/lib/umad2sim', '/usr/lib64/umad2sim'];
  const umad2sim = libraries.map((folder) => join(folder, 'libumad2sim.so')).find(isReadable);
  if (umad2sim === undefined) missing.add('ibsim-utils');
  const programs: LabPrograms = {
    ibsim: need('ibsim', 'ibsim-utils'),
    opensm: need('opensm', 'opensm'),
    ibstat: need('ibstat', 'infiniband-diags'),
    umad2sim: umad2sim ?? '',
    setpriv: find('setpriv'),
  };
  if (missing.size > 0) {
    const names = [...missing].join(' ');
    throw new LabError(
      'no_package',
      `lab ib needs Debian's ${names}`,
      `apt install --no-install-recommends ${names}`,
      69,
    );
  }
  return programs;
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
const isExecutable = (path: string): boolean => may(path, constants.X_OK);
const isReadable = (path: string): boolean => may(path, constants.R_OK);
