// @ts-check
// Newer generations of rdma-core than the machine's own, from newer suites of Debian: unpacked beside the system,
// which is not upgraded, by an apt with lists of its own. Needs no root.
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { run } from '../processes.mjs';
import { debianMirror } from './debian-mirror.mjs';
import { SetupError, UNAVAILABLE } from './error.mjs';

/**
 * `atLeast` is the rdma-core that the suite had when this was written; a suite that still moves has a newer one.
 *
 * @typedef {{ suite: string, atLeast: number, moves: boolean }} Generation
 * @type {readonly Generation[]}
 */
export const GENERATIONS = [
  { suite: 'trixie', atLeast: 56, moves: false },
  { suite: 'sid', atLeast: 65, moves: true },
];

/** Fetched with all that they depend on, the C library among it. */
const PROGRAMS = [
  'libibverbs1',
  'ibverbs-providers',
  'ibverbs-utils',
  'librdmacm1',
  'libibumad3',
  'libstdc++6',
];

/** Fetched alone: the system's compiler has headers of the C library already. */
const HEADERS = ['libibverbs-dev', 'librdmacm-dev', 'libibumad-dev', 'linux-libc-dev'];

const DAYS = 24 * 60 * 60 * 1000;

/**
 * The root that a suite's rdma-core is unpacked in, whether it exists or not.
 *
 * @param {string} suite
 * @param {NodeJS.ProcessEnv} [environment]
 */
export function generationRoot(suite, environment = process.env) {
  const base = environment['XDG_CACHE_HOME'];
  const cache = base?.startsWith('/') ? base : join(homedir(), '.cache');
  return join(cache, 'rdmatool', `rdma-core-${suite}-${process.arch}`);
}

/**
 * The root of a suite's rdma-core; fetched where there is none, or one that is two weeks old.
 *
 * @param {string} suite
 * @returns {Promise<string>}
 * @throws {SetupError} where it cannot be had
 */
export async function fetchGeneration(suite) {
  const root = generationRoot(suite);
  const made = statSync(root, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - made < 14 * DAYS) return root;
  const mirror = await debianMirror();
  if (mirror === null) {
    if (made > 0) return root;
    throw new SetupError(
      'newer generations of rdma-core come from Debian, and apt uses no Debian mirror',
      UNAVAILABLE,
    );
  }
  const fresh = `${root}.${process.pid}.${randomBytes(4).toString('hex')}`;
  console.error(`set-up: fetching rdma-core of Debian ${suite} into ${root}, beside the system`);
  try {
    await unpack(suite, mirror, fresh);
    rmSync(root, { recursive: true, force: true });
    renameSync(join(fresh, 'root'), root);
  } catch (error) {
    // An old one still serves, and another process may have been quicker.
    if (!existsSync(root)) throw error;
    console.error(`set-up: ${root} stays as it is: ${error instanceof Error ? error.message : error}`);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return root;
}

/** One that cannot be had does not keep the others from being tested: its own tests say what is missing. */
export async function fetchGenerations() {
  for (const { suite } of GENERATIONS) {
    try {
      await fetchGeneration(suite);
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      console.error(`set-up: rdma-core of Debian ${suite} cannot be had: ${error.message}`);
    }
  }
}

/**
 * @param {string} suite
 * @param {{ uri: string, signedBy: string }} mirror
 * @param {string} folder  gets `root`
 */
async function unpack(suite, { uri, signedBy }, folder) {
  const root = join(folder, 'root');
  for (const name of ['lists/partial', 'archives/partial', 'root']) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  const keys = signedBy === '' ? '' : `[signed-by=${signedBy}] `;
  writeFileSync(join(folder, 'sources.list'), `deb ${keys}${uri} ${suite} main\n`);
  // As if nothing were installed: everything that the programs depend on comes along.
  writeFileSync(join(folder, 'status'), '');
  const apt = (/** @type {string[]} */ ...words) =>
    demand('apt-get', [...aptOptions(folder), ...words], folder);
  await apt('update');
  await apt('--yes', '--download-only', 'install', ...PROGRAMS);
  await apt('download', ...HEADERS);
  const archives = [folder, join(folder, 'archives')].flatMap((place) =>
    readdirSync(place)
      .filter((name) => name.endsWith('.deb'))
      .map((name) => join(place, name)),
  );
  for (const archive of archives) await demand('dpkg-deb', ['--extract', archive, root], folder);
  // It has the time of the last archive.
  utimesSync(root, new Date(), new Date());
}

/**
 * What keeps apt away from the system's lists, packages and locks.
 *
 * @param {string} folder
 */
export function aptOptions(folder) {
  const options = {
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::Etc::preferences': '/dev/null',
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::State::status': join(folder, 'status'),
    'Dir::State::extended_states': join(folder, 'extended_states'),
    'Dir::Cache::archives': join(folder, 'archives'),
    'Dir::Cache::pkgcache': '',
    'Dir::Cache::srcpkgcache': '',
    'Dir::Log': folder,
    'Acquire::Languages': 'none',
    'APT::Install-Recommends': 'false',
    'APT::Sandbox::User': '',
    'Debug::NoLocking': 'true',
  };
  return ['--quiet', ...Object.entries(options).flatMap(([name, value]) => ['--option', `${name}=${value}`])];
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} directory
 */
async function demand(command, args, directory) {
  const { status, output } = await run(command, args, { quiet: true, directory });
  if (status !== 0) throw new SetupError(`${command} failed (${status}):\n${output}`, UNAVAILABLE);
}
