// @ts-check
// The Debian packages that the labs and tests need, and how they get here.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { run } from '../processes.mjs';
import { SetupError, UNAVAILABLE } from './error.mjs';

/** Each tier needs its own packages and those of the tiers before it. */
export const TIERS = ['build', 'labs', 'long'];

/**
 * `proof` is a file of the package; it answers for the package on systems that have no dpkg to ask.
 *
 * @typedef {{ tier: string, name: string, proof: string, why: string }} DebianPackage
 * @type {DebianPackage[]}
 */
export const PACKAGES = [
  ...ofRoceLab().map((each) => ({ tier: 'labs', ...each })),
  {
    tier: 'labs',
    name: 'libibverbs-dev',
    proof: '/usr/include/infiniband/verbs.h',
    why: 'the verbs headers that the efa lab and the layout tests compile against',
  },
  {
    tier: 'labs',
    name: 'ibverbs-providers',
    proof: '/etc/libibverbs.d/efa.driver',
    why: 'libibverbs with libefa, which the efa lab runs unchanged',
  },
  {
    tier: 'labs',
    name: 'ibverbs-utils',
    proof: '/usr/bin/ibv_devinfo',
    why: 'ibv_devinfo, which answers are compared with',
  },
  {
    tier: 'labs',
    name: 'rdmacm-utils',
    proof: '/usr/bin/rping',
    why: 'rping and others, which the roce lab is tested with',
  },
  {
    tier: 'labs',
    name: 'ibsim-utils',
    proof: '/usr/bin/ibsim',
    why: 'plays the InfiniBand fabric of the ib lab',
  },
  { tier: 'labs', name: 'opensm', proof: '/usr/sbin/opensm', why: 'manages the fabric of the ib lab' },
  {
    tier: 'labs',
    name: 'infiniband-diags',
    proof: '/usr/sbin/smpquery',
    why: 'smpquery, perfquery and saquery, which answers of the fabric are compared with',
  },
  {
    tier: 'labs',
    name: 'libibmad-dev',
    proof: '/usr/include/infiniband/mad.h',
    why: 'an independent decoder of management datagrams, for the tests of ours',
  },
  {
    tier: 'labs',
    name: 'libibumad-dev',
    proof: '/usr/include/infiniband/umad.h',
    why: 'the headers of libibumad that the layout tests compile against',
  },
  {
    tier: 'labs',
    name: 'strace',
    proof: '/usr/bin/strace',
    why: 'follows the programs that rdmatool trace shows',
  },
  {
    tier: 'labs',
    name: 'libopensm-dev',
    proof: '/usr/include/infiniband/iba/ib_types.h',
    why: 'structures of subnet administration records, for the tests of ours',
  },
  {
    tier: 'labs',
    name: 'tshark',
    proof: '/usr/bin/tshark',
    why: 'an independent decoder of connection messages, for the tests of ours',
  },
  {
    tier: 'labs',
    name: 'zsh',
    proof: '/usr/bin/zsh',
    why: 'a shell that the completion of command lines is tested in',
  },
  {
    tier: 'labs',
    name: 'fish',
    proof: '/usr/bin/fish',
    why: 'a shell that the completion of command lines is tested in',
  },
  {
    tier: 'labs',
    name: 'mandoc',
    proof: '/usr/bin/mandoc',
    why: 'says what is wrong with manual pages',
  },
  { tier: 'labs', name: 'xxd', proof: '/usr/bin/xxd', why: 'spells bytes that rdmatool decode is to read' },
  {
    tier: 'labs',
    name: 'bsdextrautils',
    proof: '/usr/bin/hexdump',
    why: 'hexdump, which spells bytes that rdmatool decode is to read',
  },
  {
    tier: 'long',
    name: 'debootstrap',
    proof: '/usr/sbin/debootstrap',
    why: 'makes the minimal Debian that set-up itself is tested in',
  },
];

/** The lab names what it lacks from the same list. */
function ofRoceLab() {
  const file = new URL('../../src/lab/roce/packages.json', import.meta.url);
  /** @type {{ name: string, proof: string, why: string }[]} */
  const packages = JSON.parse(readFileSync(file, 'utf8'));
  return packages;
}

/**
 * @param {string} tier
 * @returns {DebianPackage[]}
 */
export function packagesFor(tier) {
  const included = TIERS.slice(0, TIERS.indexOf(tier) + 1);
  return PACKAGES.filter((each) => included.includes(each.tier));
}

/**
 * The names that are fully installed, out of `dpkg-query --show` with DPKG_FORMAT. A package that was only
 * unpacked, or of which only the configuration is left, is not.
 *
 * @param {string} output
 * @returns {Set<string>}
 */
export function installedNames(output) {
  const rows = output.split('\n').map((line) => line.split(' '));
  return new Set(rows.flatMap(([name, status]) => (name && status === 'installed' ? [name] : [])));
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query fills these in.
const DPKG_FORMAT = '${Package} ${db:Status-Status}\\n';

/**
 * What apt has to be told, in order.
 *
 * @param {string[]} names
 * @param {boolean} interrupted  whether an earlier dpkg was cut short; apt refuses to work before that is mended
 * @returns {string[][]}
 */
export function aptCommands(names, interrupted) {
  // Another apt may be at work, such as the unattended upgrades of a machine that has just started.
  const apt = ['apt-get', '--option', 'DPkg::Lock::Timeout=120'];
  return [
    ...(interrupted ? [['dpkg', '--configure', '--pending']] : []),
    [...apt, 'update'],
    [...apt, 'install', '--yes', '--no-install-recommends', ...names],
  ];
}

/**
 * The one command for a user whom set-up cannot become root for.
 *
 * @param {string[]} names
 * @param {boolean} hasSudo
 */
export function commandForUser(names, hasSudo) {
  const script = `apt-get update && apt-get install -y --no-install-recommends ${names.join(' ')}`;
  return hasSudo ? `sudo sh -c '${script}'` : `su - -c '${script}'`;
}

/** @param {DebianPackage[]} packages */
export function tableOf(packages) {
  const width = Math.max(...packages.map(({ name }) => name.length));
  return packages.map(({ name, why }) => `  ${name.padEnd(width)}  ${why}`).join('\n');
}

/** @param {string} tier */
export async function installDebianPackages(tier) {
  const missing = missingOf(packagesFor(tier));
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name);
  const needed = `Debian packages are missing:\n${tableOf(missing)}`;

  if (!isCommand('apt-get')) {
    throw new SetupError(
      `${needed}\nThere is no apt-get here: install what your system has for them.`,
      UNAVAILABLE,
    );
  }
  const prefix = rootPrefix();
  if (prefix === null) {
    const command = commandForUser(names, isCommand('sudo'));
    throw new SetupError(
      `${needed}\nInstalling them needs root. Run this, then start again:\n  ${command}`,
      UNAVAILABLE,
    );
  }

  console.error(`set-up: installing Debian packages:\n${tableOf(missing)}`);
  const environment = ['env', 'DEBIAN_FRONTEND=noninteractive'];
  let output = '';
  let status = 0;
  for (const command of aptCommands(names, wasDpkgInterrupted())) {
    const [program = '', ...args] = [...prefix, ...environment, ...command];
    const result = await run(program, args, { quiet: true });
    output += `$ ${command.join(' ')}\n${result.output}`;
    // A failed update is not the end: one broken source of the user's does not keep the others from serving.
    status = result.status;
  }
  if (status !== 0) throw new SetupError(`apt failed (${status}):\n${output}`);
}

/**
 * @param {DebianPackage[]} packages
 * @returns {DebianPackage[]}
 */
function missingOf(packages) {
  if (packages.length === 0) return [];
  const names = packages.map(({ name }) => name);
  // Ends with 1 when it does not know one of the names, and still answers for the others.
  const query = spawnSync('dpkg-query', ['--show', '--showformat', DPKG_FORMAT, ...names], {
    encoding: 'utf8',
  });
  if (query.error) return packages.filter(({ proof }) => !existsSync(proof));
  const installed = installedNames(query.stdout);
  return packages.filter(({ name }) => !installed.has(name));
}

/** What to put before a command so that root runs it, or null when that takes the user. */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : null;
}

/** @param {string} name */
function isCommand(name) {
  return (process.env['PATH'] ?? '')
    .split(':')
    .some((folder) => folder !== '' && existsSync(`${folder}/${name}`));
}

/** Whether dpkg left its journal behind; apt looks at the same folder. */
function wasDpkgInterrupted() {
  try {
    return readdirSync('/var/lib/dpkg/updates').length > 0;
  } catch {
    return false;
  }
}
