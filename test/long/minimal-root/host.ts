import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { demand } from './execute.ts';

/** Where apt, npm and Node look up whom to trust, on every Debian. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** The environment that tells apt, npm and Node how to reach the network from here. */
export const NETWORK_ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => /^(NODE_EXTRA_CA_CERTS|(https?|no)_proxy)$/i.test(name)),
);

/** Puts this machine's Node and npm into a root. */
export function carryNode(root: string): void {
  const local = join(root, 'usr/local');
  mkdirSync(join(local, 'lib/node_modules'), { recursive: true });
  copyFileSync(process.execPath, join(local, 'bin/node'));
  cpSync(npmFolder(), join(local, 'lib/node_modules/npm'), { recursive: true, verbatimSymlinks: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
}

/** Lets apt and npm in a root reach the same mirror and registry as they do on this machine. */
export async function carryNetwork(root: string, mirror: string, suite: string): Promise<void> {
  carryFile(root, '/etc/resolv.conf');
  carryFile(root, '/etc/hosts');

  const settings = (await demand('apt-config', ['dump']))
    .split('\n')
    .filter((line) => /^Acquire::/.test(line));
  writeFileSync(join(root, 'etc/apt/apt.conf.d/90host'), `${settings.join('\n')}\n`);
  writeFileSync(join(root, 'etc/apt/sources.list'), `deb ${mirror} ${suite} main\n`);

  const npm: Record<string, unknown> = JSON.parse(await demand('npm', ['config', 'list', '--json']));
  const carried = ['registry', 'cafile', 'strict-ssl', 'proxy', 'https-proxy', 'noproxy'].filter(
    (key) => npm[key],
  );
  writeFileSync(join(root, 'root/.npmrc'), carried.map((key) => `${key}=${npm[key]}\n`).join(''));

  for (const file of new Set([CERTIFICATES, npm['cafile'], process.env['NODE_EXTRA_CA_CERTS']])) {
    if (typeof file === 'string') carryFile(root, file);
  }
}

function carryFile(root: string, file: string): void {
  if (!existsSync(file)) return;
  mkdirSync(join(root, dirname(file)), { recursive: true });
  copyFileSync(file, join(root, file));
}

function npmFolder(): string {
  const inPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'npm'));
  for (const candidate of [process.env['npm_execpath'] ?? '', ...inPath]) {
    if (!existsSync(candidate)) continue;
    const script = realpathSync(candidate);
    if (basename(script) === 'npm-cli.js') return dirname(dirname(script));
  }
  throw new Error('npm is not in PATH');
}
