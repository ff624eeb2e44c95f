/** What the guest is started from: its kernel and its first files, cached. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packageRoot } from '../../package-root.ts';
import { cacheDirectory, makeCacheDirectory } from '../cache.ts';
import { type Compiler, compile, findCompiler } from '../compiler.ts';
import { LabError } from '../error.ts';
import { lockFile } from '../lock.ts';
import { runTool } from '../tool.ts';
import { type Compression, compressionOf, kernelPayload } from './boot-image.ts';
import { type ArchiveEntry, cpioArchive } from './cpio.ts';
import { dependenciesOf, loadingOrder, moduleName, WANTED_MODULES } from './kernel-modules.ts';
import { debianSuite, fetchKernelPackage, unpackKernelPackage } from './kernel-package.ts';
import { missingPackages, requirePackages, requireProcessor } from './requirements.ts';

export interface BootFiles {
  /** An uncompressed kernel. */
  readonly kernel: string;
  readonly initramfs: string;
}

export interface Preparation {
  readonly say: (line: string) => void;
  readonly abort?: AbortSignal | undefined;
}

/** Packages, by when they are needed. */
const TO_BOOT = ['qemu-system-x86', 'iproute2'];
const TO_PREPARE = ['xz-utils'];
const VMLINUX = 'vmlinux';
const MODULES = 'modules.cpio';
/** Of what is being made; whoever holds the lock may remove what another left. */
const UNFINISHED = '.unfinished-';
const DAY_MS = 24 * 60 * 60 * 1000;

const hashOf = (...parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, 16);
};

/**
 * The files to boot, from the cache or made now. A kernel that is there is used even when the suite has a newer one:
 * remove it from the cache to get that.
 * @throws LabError
 */
export async function prepareBootFiles({ say, abort }: Preparation): Promise<BootFiles> {
  requireProcessor();
  const base = join(cacheDirectory(), 'roce', debianSuite());
  const ready = findBootFiles(base);
  if (ready !== null) {
    requirePackages(TO_BOOT);
    return ready;
  }
  // All that is missing is told at once, and before anything is fetched.
  requirePackages([...TO_BOOT, ...TO_PREPARE]);
  const compiler = findCompiler('roce', process.env);
  makeCacheDirectory(base);
  const lockPath = join(base, 'lock');
  let lock = await lockFile(lockPath, { abort });
  if (lock === null) {
    say('lab roce: another process is preparing the kernel; waiting for it');
    lock = await lockFile(lockPath, { wait: true, abort });
  }
  try {
    for (const name of readdirSync(base)) {
      if (name.startsWith(UNFINISHED)) rmSync(join(base, name), { recursive: true, force: true });
    }
    const work = mkdtempSync(join(base, UNFINISHED));
    try {
      const folder = findKernel(base) ?? (await makeKernel(base, work, { say, abort }).catch(asLabError));
      return findBootFiles(base) ?? (await makeInitramfs(folder, work, compiler, abort));
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  } finally {
    lock?.release();
  }
}

/** Another list of modules is another folder. */
const MODULES_KEY = hashOf(JSON.stringify(WANTED_MODULES));

/** The folder of the newest kernel in the cache, or null. */
function findKernel(base: string): string | null {
  if (!existsSync(base)) return null;
  const [newest] = readdirSync(base)
    .filter((name) => !name.startsWith('.') && name.endsWith(`_${MODULES_KEY}`))
    .sort((left, right) => right.localeCompare(left, 'en', { numeric: true }));
  return newest === undefined ? null : join(base, newest);
}

function findBootFiles(base: string): BootFiles | null {
  const folder = findKernel(base);
  if (folder === null) return null;
  const files = bootFilesIn(folder);
  return existsSync(files.initramfs) ? files : null;
}

const bootFilesIn = (folder: string): BootFiles => ({
  kernel: join(folder, VMLINUX),
  initramfs: join(folder, `initramfs-${guestKey()}.cpio`),
});

function asLabError(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  const message = `lab roce cannot use the kernel of this suite: ${error.message}`;
  throw new LabError('kernel_unusable', message, 'report it, with the version of the package', 1);
}

// ------------------------------------------------------------------------------------------------ the kernel

/** Fetches the kernel, and leaves what is needed of it in a folder of the cache. Returns its path. */
async function makeKernel(base: string, work: string, { say, abort }: Preparation): Promise<string> {
  const download = join(work, 'package');
  const unpacked = join(work, 'unpacked');
  const finished = join(work, 'kernel');
  for (const directory of [download, unpacked, finished]) mkdirSync(directory);
  const file = await fetchKernelPackage({ directory: download, say, abort });
  await unpackKernelPackage(file, unpacked, abort);
  const image = readdirSync(join(unpacked, 'boot')).find((name) => name.startsWith('vmlinuz-'));
  if (image === undefined) throw new RangeError(`no kernel in ${basename(file)}`);
  const { compression, bytes } = kernelPayload(readFileSync(join(unpacked, 'boot', image)));
  writeFileSync(join(finished, VMLINUX), await decompress(compression, bytes, abort));
  writeFileSync(join(finished, MODULES), await modulesArchive(unpacked, abort));
  const folder = join(base, `${image.replace('vmlinuz-', '')}_${MODULES_KEY}`);
  renameSync(finished, folder);
  return folder;
}

/** The modules to load, and `modules/order`, which says in which order. */
async function modulesArchive(unpacked: string, abort: AbortSignal | undefined): Promise<Buffer> {
  const files = filesUnder(unpacked);
  const paths = new Map(
    files.filter((file) => /\.ko(\.\w+)?$/.test(file)).map((file) => [moduleName(file), file]),
  );
  const builtIn = new Set(
    files
      .filter((file) => basename(file) === 'modules.builtin')
      .flatMap((file) => readFileSync(file, 'utf8').split('\n').map(moduleName)),
  );
  const contents = new Map<string, Buffer>();
  const order = await loadingOrder(WANTED_MODULES, {
    isBuiltIn: (name) => builtIn.has(name),
    async dependencies(name) {
      const path = paths.get(name);
      if (path === undefined) return null;
      const raw = readFileSync(path);
      const bytes = await decompress(compressionOf(raw) ?? 'none', raw, abort);
      contents.set(name, bytes);
      return dependenciesOf(bytes);
    },
  });
  const lines = order.map(({ name, parameters }) => `${name}.ko ${parameters}`.trimEnd());
  return cpioArchive([
    { path: 'modules', kind: 'directory' },
    { path: 'modules/order', kind: 'file', bytes: Buffer.from(`${lines.join('\n')}\n`) },
    ...order.map(
      ({ name }): ArchiveEntry => ({
        path: `modules/${name}.ko`,
        kind: 'file',
        bytes: contents.get(name) ?? Buffer.alloc(0),
      }),
    ),
  ]);
}

function filesUnder(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

async function decompress(
  compression: Compression,
  bytes: Buffer,
  abort: AbortSignal | undefined,
): Promise<Buffer> {
  if (compression === 'none') return bytes;
  if (compression === 'gzip') return gunzipSync(bytes);
  const { status, output, messages } = await runTool(compression, ['--decompress', '--stdout'], {
    input: bytes,
    abort,
  });
  if (status === 127) {
    throw missingPackages(`lab roce needs ${compression} to unpack the kernel`, [
      compression === 'xz' ? 'xz-utils' : 'zstd',
    ]);
  }
  if (status !== 0)
    throw new LabError(
      'unpack_failed',
      `${compression}: ${messages.trim()}`,
      'see whether the disk is full',
      1,
    );
  return output;
}

// --------------------------------------------------------------------------------- the guest's own first files

const COMPILER_FLAGS = ['-std=gnu11', '-O2', '-static', '-s', '-Wall', '-Wextra'];

const guestFolder = (): string => join(packageRoot(), 'src/lab/roce/guest');
const guestSources = (): string[] =>
  readdirSync(guestFolder())
    .sort()
    .map((name) => join(guestFolder(), name));

/** Stands for all that the initramfs is made of, the modules aside: a guest of another key may behave otherwise. */
export const guestKey = (): string =>
  hashOf(
    COMPILER_FLAGS.join(' '),
    JSON.stringify([ETC, DIRECTORIES]),
    ...guestSources().map((file) => readFileSync(file)),
  );

/** Files of /etc that are the guest's own; the others are the host's. */
const ETC: { readonly [name: string]: string } = {
  hostname: 'lab\n',
  hosts: ['127.0.0.1 localhost', '127.0.1.1 lab', '::1 localhost', '10.9.0.1 rxe0', '10.9.1.1 rxe1', ''].join(
    '\n',
  ),
  'resolv.conf': '',
  fstab: '',
};

/** That programs expect. */
const DIRECTORIES = [
  ...['dev', 'etc', 'home', 'mnt', 'opt', 'proc', 'root', 'run', 'srv', 'sys', 'tmp'],
  ...['var', 'var/cache', 'var/lib', 'var/log'],
];

async function makeInitramfs(
  folder: string,
  work: string,
  compiler: Compiler,
  abort: AbortSignal | undefined,
): Promise<BootFiles> {
  const init = join(work, 'init');
  const sources = guestSources().filter((file) => file.endsWith('.c'));
  await compile(compiler, { lab: 'roce', flags: COMPILER_FLAGS, sources, output: init }, process.env, abort);
  const own = cpioArchive([
    ...DIRECTORIES.map((path): ArchiveEntry => ({ path, kind: 'directory' })),
    { path: 'var/tmp', kind: 'directory', mode: 0o1777 },
    ...Object.entries(ETC).map(
      ([name, text]): ArchiveEntry => ({ path: `etc/${name}`, kind: 'file', bytes: Buffer.from(text) }),
    ),
    { path: 'setup.sh', kind: 'file', bytes: readFileSync(join(guestFolder(), 'setup.sh')) },
    { path: 'init', kind: 'file', bytes: readFileSync(init), mode: 0o755 },
  ]);
  const files = bootFilesIn(folder);
  const fresh = join(work, 'initramfs');
  writeFileSync(fresh, Buffer.concat([readFileSync(join(folder, MODULES)), own]));
  removeOld(folder);
  renameSync(fresh, files.initramfs);
  return files;
}

/** Those of other versions of rdmatool; one made today may be about to be booted. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith('initramfs-'))) {
    const path = join(folder, name);
    if (Date.now() - statSync(path).mtimeMs > DAY_MS) rmSync(path, { force: true });
  }
}
