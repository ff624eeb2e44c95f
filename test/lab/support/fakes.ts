/** Libraries in place of libibverbs and libefa, of any release: see fake-verbs.c and fake-efa.c. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from './c.ts';
import { testFolder } from './labs.ts';

/** A directory with libraries, and the variables that lead programs to it. */
export interface Fakes {
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
}

let directories = 0;

/** A directory for libraries that programs find before the system's. */
export function fakeDirectory(): Fakes {
  const directory = join(testFolder(), `fakes-${directories++}`);
  mkdirSync(directory);
  return { directory, env: { LD_LIBRARY_PATH: directory } };
}

type Library = 'verbs' | 'efa';

interface Names {
  readonly soname: string;
  /** What stands in the file's name before the release. */
  readonly abi: string;
  /** Versions of symbols, without which no C program starts that was linked with the real library. */
  readonly versions: string;
}

const NAMES: Readonly<Record<Library, Names>> = {
  verbs: {
    soname: 'libibverbs.so.1',
    abi: '14',
    versions: `IBVERBS_1.1 { global: ibv_*; local: *; };
      IBVERBS_1.11 { global: _ibv_query_gid_ex; _ibv_query_gid_table; };
      IBVERBS_1.16 { global: ibv_query_port_speed; };
      IBVERBS_1.18 { global: _ibv_query_comp_cntr_caps; };`,
  },
  efa: {
    soname: 'libefa.so.1',
    abi: '2',
    versions: 'EFA_1.1 { global: efadv_query_device; local: *; }; EFA_1.5 { global: efadv_get_*; };',
  },
};

/**
 * Builds a library of a release, under the names that rdma-core gives it.
 * @param defines as the C files describe them
 */
export function addFake(
  { directory }: Fakes,
  library: Library,
  release: number,
  defines: readonly string[] = [],
): void {
  symlinkSync(built(library, release, defines), join(directory, NAMES[library].soname));
}

const libraries = new Map<string, string>();

/** The library's file; each is built once. */
function built(library: Library, release: number, defines: readonly string[]): string {
  const key = JSON.stringify([library, release, defines]);
  const known = libraries.get(key);
  if (known !== undefined) return known;
  const { soname, abi, versions } = NAMES[library];
  const folder = `libraries-${libraries.size}`;
  mkdirSync(join(testFolder(), folder));
  const script = join(testFolder(), folder, 'versions');
  writeFileSync(script, versions);
  const path = compile(
    `${folder}/${soname}.${abi}.${release}.0`,
    readFileSync(join(import.meta.dirname, `fake-${library}.c`), 'utf8'),
    [
      ...['-shared', '-fPIC', '-Wno-unused', `-Wl,-soname,${soname}`, `-Wl,--version-script,${script}`],
      ...[`RELEASE=${release}`, ...defines].map((one) => `-D${one}`),
    ],
  );
  libraries.set(key, path);
  return path;
}
