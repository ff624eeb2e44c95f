import { chmodSync, copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { debianMirror } from '../../../scripts/setup/debian-mirror.mjs';
import { baseSystem, SUITE } from './debian.ts';
import { demand, executeApart, type Outcome } from './execute.ts';
import { carryNetwork, carryNode, NETWORK_ENVIRONMENT } from './host.ts';
import { TemporaryFolder } from './temporary-folder.ts';

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));

/** Mounts what programs expect, and runs a command in the root. */
const ENTER = `
set -e
root=$1 user=$2 folder=$3
shift 3
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount --rbind /dev "$root/dev"
chroot --userspec="$user" --groups= "$root" env --chdir="$folder" "$@" || exit $?
`;

/** Why no minimal root can be made here, or null. */
export async function whyNoMinimalRoot(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'needs root';
  if (!existsSync('/usr/bin/apt-get')) return 'needs a Debian system';
  if ((await debianMirror()) === null) return 'apt knows no Debian mirror';
  return null;
}

/** A Debian 12 with nothing but its essential packages, and this machine's Node and npm. */
export class MinimalRoot {
  private readonly path: string;

  private constructor(private readonly folder: TemporaryFolder) {
    this.path = join(folder.path, 'root');
  }

  static async create(): Promise<MinimalRoot> {
    const mirror = (await debianMirror())?.uri;
    if (mirror === undefined) throw new Error('apt knows no Debian mirror');
    const archive = await baseSystem(mirror);
    const folder = new TemporaryFolder('rdmatool-root-');
    const root = new MinimalRoot(folder);
    try {
      await demand('tar', ['-C', folder.path, '-xzf', archive], { signal: folder.inUse });
      // For the user without rights, whatever the umask was.
      chmodSync(root.path, 0o755);
      carryNode(root.path);
      await carryNetwork(root.path, mirror, SUITE);
      const { status, output } = await root.run('/', ['node', '--version']);
      if (status !== 0) throw new Error(`this machine's Node does not run on Debian ${SUITE}:\n${output}`);
      return root;
    } catch (error) {
      root.remove();
      throw error;
    }
  }

  /** Clones what is committed in this repository to a folder of the root. */
  async clone(folder: string): Promise<void> {
    await demand('git', ['clone', '--quiet', '--no-hardlinks', REPOSITORY, join(this.path, folder)]);
  }

  /** Puts a file of this machine into a folder of the root. */
  carry(file: string, folder: string): void {
    mkdirSync(join(this.path, folder), { recursive: true });
    copyFileSync(file, join(this.path, folder, basename(file)));
  }

  /** Runs a command in a folder of the root, as root or as a user who has no rights. */
  run(folder: string, command: readonly string[], { asRoot = true } = {}): Promise<Outcome> {
    const user = asRoot ? '0:0' : '1000:1000';
    return executeApart(['sh', '-c', ENTER, 'sh', this.path, user, folder, ...command], {
      signal: this.folder.inUse,
      env: {
        ...NETWORK_ENVIRONMENT,
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        HOME: asRoot ? '/root' : '/tmp',
        LANG: 'C.UTF-8',
      },
    });
  }

  remove(): void {
    this.folder.remove();
  }
}
