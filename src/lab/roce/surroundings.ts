/** What of the caller's surroundings a command finds again in the guest: directories and environment. */
import { createHash } from 'node:crypto';
import { basename, dirname, join, relative } from 'node:path';
import type { Share } from './request.ts';

/** Directories that the guest has of its own, or shares as a whole. */
const OWN = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/proc',
  '/sys',
  '/dev',
  '/.lab',
];
/** In one of them, but memory that programs use as a temporary directory. */
const NOT_OWN = ['/dev/shm'];

const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(`${directory}/`);

const isOwn = (path: string): boolean =>
  path === '/' ||
  path === '/run' ||
  (OWN.some((directory) => isWithin(path, directory)) &&
    !NOT_OWN.some((directory) => path !== directory && isWithin(path, directory)));

export interface Places {
  readonly directory: string;
  /** Further directories that the user asks for. */
  readonly shares: readonly string[];
  /** rdmatool's own folder, and the Node that runs it. */
  readonly packageRoot: string;
  readonly node: string;
}

/**
 * The directories of the host that a command sees at the same paths, a directory before what is in it, and after them
 * rdmatool once more, where `rdmatool` finds it. All paths are absolute and without symbolic links.
 */
export function planShares({ directory, shares, packageRoot, node }: Places): Share[] {
  const installation = installationOf(packageRoot);
  const wanted = [
    ...[directory, ...shares].map((path) => ({ path, access: 'read-write' }) as const),
    { path: installation, access: 'read-only' } as const,
    { path: prefixOf(node), access: 'cached' } as const,
  ];
  const planned: Share[] = [];
  for (const { path, access } of wanted) {
    // What comes first has more rights; it shows everything that is in it.
    const isShown = planned.some((share) => isWithin(path, share.path));
    if (!isOwn(path) && !isShown) planned.push({ path, at: path, access });
  }
  planned.sort((left, right) => left.path.length - right.path.length);
  return [...planned, { path: installation, at: copyOf(installation), access: 'cached' }];
}

/** Things in cached shares by which changes of them are noticed: the packages of the system, rdmatool, Node. */
export const versionedPaths = ({ packageRoot, node }: Pick<Places, 'packageRoot' | 'node'>): string[] => [
  '/var/lib/dpkg/status',
  node,
  ...['package.json', 'bin/rdmatool.js', 'dist', 'dist/main.cjs', 'node_modules/.package-lock.json'].map(
    (name) => join(packageRoot, name),
  ),
];

/** Where the guest has a directory once more: one that is read often, and seldom changes. */
const copyOf = (path: string): string =>
  join('/run/rdmatool', createHash('sha256').update(path).digest('hex').slice(0, 16));

/** The folder in which Node is installed: its libraries and npm are beside its bin. */
function prefixOf(node: string): string {
  const folder = dirname(node);
  return basename(folder) === 'bin' ? dirname(folder) : folder;
}

/** Where a package was installed by npm, its dependencies may lie beside it. */
function installationOf(packageRoot: string): string {
  const at = packageRoot.indexOf('/node_modules/');
  return at < 0 ? packageRoot : packageRoot.slice(0, at + '/node_modules'.length);
}

/** Variables that name something of the host, or of the user's session there. */
const HOST_ONLY =
  /^(PWD|OLDPWD|SHLVL|_|TMPDIR|TMP|TEMP|MAIL|HOSTNAME|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_RUNTIME_DIR|XDG_SESSION_.*|XDG_SEAT|XDG_VTNR|DBUS_.*|SSH_.*|GPG_.*|SUDO_.*|NODE_CHANNEL_.*|NODE_UNIQUE_ID|LD_PRELOAD|SYSFS_PATH|RDMATOOL_LAB_.*|INVOCATION_ID|JOURNAL_STREAM|NOTIFY_SOCKET|LISTEN_.*)$/;

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';
const SYSTEM_PATHS = ['/usr/sbin', '/sbin'];

export interface CommandSurroundings {
  readonly environment: { readonly [name: string]: string };
  readonly links: { readonly [path: string]: string };
}

/**
 * The environment of a command in the guest: the caller's, without what means nothing there. The user is root. Node
 * and `rdmatool` are found by their names.
 */
export function surroundingsOf(
  caller: NodeJS.ProcessEnv,
  { packageRoot, node }: Pick<Places, 'packageRoot' | 'node'>,
): CommandSurroundings {
  const kept = Object.entries(caller).flatMap(([name, value]) =>
    value === undefined || HOST_ONLY.test(name) ? [] : [[name, value] as const],
  );
  const installation = installationOf(packageRoot);
  const copy = copyOf(installation);
  const bin = `${copy}.bin`;
  const path = [caller['PATH'] || DEFAULT_PATH, ...SYSTEM_PATHS, dirname(node), bin].join(':');
  return {
    environment: {
      ...Object.fromEntries(kept),
      PATH: path,
      HOME: '/root',
      USER: 'root',
      LOGNAME: 'root',
      SHELL: '/bin/sh',
    },
    links: { [join(bin, 'rdmatool')]: join(copy, relative(installation, packageRoot), 'bin/rdmatool.js') },
  };
}
