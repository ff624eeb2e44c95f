/**
 * Another rdma-core than the system's, and how programs are brought to use it. It may be an installation with a
 * prefix of its own, or stand in the root of another system, with that one's C library.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, realpathSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { releaseInFileName } from '../../abi/library-file.ts';
import { findExecutable } from '../../processes/executable.ts';
import { LabError, usageError } from '../error.ts';
import { runTool } from '../tool.ts';

export interface RdmaCore {
  readonly prefix: string;
  /** From the name of libibverbs's file; null where it does not tell. */
  readonly release: string | null;
  /** Where its libraries are. */
  readonly libraries: readonly string[];
  /** Where its programs are. */
  readonly programs: readonly string[];
  /** The dynamic loader of the root's own C library; null where the system's is to be used. */
  readonly loader: Loader | null;
  /** Directories where its libibverbs looks for the configuration of providers. */
  readonly configurations: readonly string[];
  /** That configuration as it stands below the prefix, by file name, with absolute paths of providers. */
  readonly drivers: ReadonlyMap<string, string>;
}

interface Loader {
  readonly path: string;
  /** Whether it takes --argv0 (glibc 2.33 and newer). */
  readonly takesArgv0: boolean;
}

const SONAME = 'libibverbs.so.1';
const HERE = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' } as const;
const triplet = process.arch === 'arm64' ? HERE.arm64 : HERE.x64;
const LOADER_NAME = process.arch === 'arm64' ? 'ld-linux-aarch64.so.1' : 'ld-linux-x86-64.so.2';

const LIBRARY_FOLDERS = ['usr/lib', 'usr/lib64', 'lib', 'lib64'].flatMap((folder) => [
  `${folder}/${triplet}`,
  folder,
]);
const PROGRAM_FOLDERS = ['usr/bin', 'usr/sbin', 'bin', 'sbin'];

/** What separates directories in a library path, and words in the files that name providers. */
const UNUSABLE = /[:;\s]/;

/**
 * Looks at what stands below a prefix.
 * @throws LabError where there is no rdma-core that this machine can run
 */
export async function findRdmaCore(given: string): Promise<RdmaCore> {
  const prefix = resolve(given);
  const hint =
    'PREFIX is the root of another system, or where rdma-core was installed: below it are lib or usr/lib';
  if (given === '' || namesIn(prefix).length === 0) {
    throw usageError(`--rdma-core: there is nothing in ${JSON.stringify(given)}`, hint);
  }
  if (UNUSABLE.test(prefix)) {
    throw usageError(
      `--rdma-core ${JSON.stringify(given)}: neither a library path nor libibverbs's files can hold that name`,
      'give it by a symbolic link, whose path has no blank and no colon',
    );
  }
  const folders = existing(prefix, LIBRARY_FOLDERS);
  const home = folders.find((folder) => namesIn(folder).includes(SONAME));
  if (home === undefined) throw usageError(`--rdma-core: there is no ${SONAME} below ${prefix}`, hint);
  const library = realPath(join(home, SONAME));
  // A debugging build or a broken link: nothing says which release it is, the rest is the linker's to judge.
  const content = library === null ? '' : readFileSync(library, 'latin1');
  if (!isForThisMachine(content)) {
    throw usageError(`--rdma-core: ${join(home, SONAME)} is not for this machine (${process.arch})`);
  }
  const loaderPath = folders
    .map((folder) => join(folder, LOADER_NAME))
    .find((path) => realPath(path) !== null);
  return {
    prefix,
    release: releaseInFileName(library ?? ''),
    libraries: folders,
    programs: existing(prefix, PROGRAM_FOLDERS),
    loader: loaderPath === undefined ? null : await tryLoader(loaderPath),
    configurations: [...new Set(content.match(/\/[\x21-\x7e]*\/libibverbs\.d/g) ?? [])],
    drivers: driversBelow(prefix, folders),
  };
}

/** The machine in the header of an ELF file of 64 bits: EM_X86_64, EM_AARCH64. */
const isForThisMachine = (content: string): boolean =>
  content.startsWith('\x7fELF\x02') && content.charCodeAt(18) === (process.arch === 'arm64' ? 183 : 62);

async function tryLoader(path: string): Promise<Loader> {
  const { status, output, messages } = await runTool(path, ['--help']);
  // Loaders of long ago know no --help, and say how they are used.
  const text = output.toString() + messages;
  if (status !== 0 && !text.includes('--library-path')) {
    throw new LabError('bad_rdma_core', `--rdma-core: ${path} does not run: ${text.trim()}`, null, 69);
  }
  return { path, takesArgv0: text.includes('--argv0') };
}

/** `driver efa` in a file of libibverbs.d, as `driver /PREFIX/usr/lib/libibverbs/libefa`. */
function driversBelow(prefix: string, folders: readonly string[]): Map<string, string> {
  const drivers = new Map<string, string>();
  const places = folders.map((folder) => join(folder, 'libibverbs'));
  const directory = join(prefix, 'etc/libibverbs.d');
  for (const file of namesIn(directory)) {
    const lines = readFileSync(join(directory, file), 'utf8').replace(
      /^(\s*driver\s+)([\w.-]+)\s*$/gm,
      (line, word: string, name: string) => {
        const place = places.find((one) => namesIn(one).some((entry) => entry.startsWith(`lib${name}-`)));
        return place === undefined ? line : `${word}${join(place, `lib${name}`)}`;
      },
    );
    drivers.set(file, lines);
  }
  return drivers;
}

/** How the release is called, for people. */
export const rdmaCoreName = ({ release, prefix }: RdmaCore): string =>
  `rdma-core ${release ?? 'of unknown release'} in ${prefix}`;

/** Whether libraries that were compiled here can be loaded there. */
export async function requireLoads({ loader, libraries, prefix }: RdmaCore, files: readonly string[]) {
  if (loader === null) return;
  for (const file of files) {
    const args = ['--library-path', libraries.join(':'), '--list', file];
    const { status, output, messages } = await runTool(loader.path, args);
    const missing = /^.*(version `\S+' not found|=> not found).*$/m.exec(output.toString() + messages)?.[0];
    if (status === 0 && missing === undefined) continue;
    throw new LabError(
      'bad_rdma_core',
      `--rdma-core: the C library below ${prefix} is older than this system's, and the lab was compiled for that: ${missing ?? messages.trim()}`,
      'take the root of a system that is as new as this one, or newer',
      69,
    );
  }
}

/** Variables that bring a program, and all that it starts, to this rdma-core. */
export function rdmaCoreVariables(
  { loader, libraries }: RdmaCore,
  environment: NodeJS.ProcessEnv,
): { [name: string]: string } {
  const path = libraries.join(':');
  if (loader === null) {
    const { LD_LIBRARY_PATH: before } = environment;
    return { LD_LIBRARY_PATH: before ? `${before}:${path}` : path };
  }
  return {
    RDMATOOL_LAB_LOADER: loader.path,
    RDMATOOL_LAB_LIBRARIES: path,
    ...(loader.takesArgv0 ? { RDMATOOL_LAB_ARGV0: '1' } : {}),
  };
}

/**
 * What to start in place of a command: a program of the prefix's own goes before the system's of the same name, and
 * a dynamically linked one is handed to the root's loader, for it may ask for that root's C library itself.
 */
export function commandOn(
  { loader, libraries, programs }: RdmaCore,
  [name = '', ...args]: readonly string[],
  environment: NodeJS.ProcessEnv,
): string[] {
  const { LD_LIBRARY_PATH: preferred, PATH: path } = environment;
  const search = [...programs, ...(path ? [path] : [])].join(':');
  const file = findExecutable(name, { PATH: search });
  // The message that there is no such command is for whoever starts it.
  if (file === null) return [name, ...args];
  if (loader === null || !asksForLoader(file)) return [file, ...args];
  const library = preferred ? `${preferred}:${libraries.join(':')}` : libraries.join(':');
  const argv0 = loader.takesArgv0 ? ['--argv0', name] : [];
  return [loader.path, ...argv0, '--library-path', library, file, ...args];
}

/** ELF's program headers, of 64 bits: where they begin, their size and number; the type of the interpreter's. */
const ELF = { headers: 32, headerSize: 54, headerCount: 56, offset: 8, size: 32, PT_INTERP: 3 } as const;

/**
 * Whether it is an ELF file that asks for this C library's loader. Scripts are the kernel's to start, statically
 * linked programs take no library, and those of another C library not this one.
 */
function asksForLoader(file: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return false;
  }
  try {
    const start = Buffer.alloc(4096);
    const length = readSync(descriptor, start);
    if (!isForThisMachine(start.toString('latin1'))) return false;
    const headers = Number(start.readBigUInt64LE(ELF.headers));
    const size = start.readUInt16LE(ELF.headerSize);
    for (let index = 0; index < start.readUInt16LE(ELF.headerCount); index++) {
      const header = headers + index * size;
      if (header + size > length) return false;
      if (start.readUInt32LE(header) !== ELF.PT_INTERP) continue;
      const name = Buffer.alloc(Math.min(4096, Number(start.readBigUInt64LE(header + ELF.size))));
      readSync(descriptor, name, 0, name.length, Number(start.readBigUInt64LE(header + ELF.offset)));
      return basename(name.toString().replace(/\0.*$/s, '')) === LOADER_NAME;
    }
    return false;
  } finally {
    closeSync(descriptor);
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Those of the folders below a prefix that exist, each once. */
function existing(prefix: string, folders: readonly string[]): string[] {
  const found = new Map<string, string>();
  for (const folder of folders) {
    const path = join(prefix, folder);
    const real = realPath(path);
    // A link that leaves the prefix, as those of a root have whose paths are absolute, leads to the system's own.
    if (real === null || relative(realPath(prefix) ?? prefix, real).startsWith('..')) continue;
    if (!found.has(real)) found.set(real, path);
  }
  return [...found.values()];
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
