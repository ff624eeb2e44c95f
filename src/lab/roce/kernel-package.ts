/** Debian's generic kernel, as a package: which one it is, and how it gets here without being installed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabError } from '../error.ts';
import { runTool, type ToolResult } from '../tool.ts';

/** Depends on the kernel package of the day. The `cloud` flavour has neither soft-RoCE nor 9p. */
const META_PACKAGE = 'linux-image-amd64';

/** The suite of this Debian: `bookworm`. */
export function debianSuite(osRelease: string = readOsRelease()): string {
  const value = (key: string): string | undefined =>
    new RegExp(`^${key}="?([^"\n]*)"?$`, 'm').exec(osRelease)?.[1];
  if (value('ID') !== 'debian') {
    throw new LabError(
      'unsupported',
      `lab roce takes its kernel from Debian's packages, and this is ${value('PRETTY_NAME') ?? 'another system'}`,
      'run it on Debian 12 or newer, in a container for example',
      69,
    );
  }
  return value('VERSION_CODENAME') ?? 'sid';
}

function readOsRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}

export interface Fetching {
  /** An empty directory for the package. */
  readonly directory: string;
  readonly say: (line: string) => void;
  readonly abort?: AbortSignal | undefined;
}

/**
 * Downloads the kernel package. Returns the path of its file.
 * @throws LabError where apt cannot
 */
export async function fetchKernelPackage({ directory, say, abort }: Fetching): Promise<string> {
  const isRoot = process.getuid?.() === 0;
  const apt = (program: string, ...args: string[]): Promise<ToolResult> =>
    runTool(program, [...(isRoot ? ['-o', 'APT::Sandbox::User=root'] : []), ...args], {
      directory,
      abort,
      environment: { ...process.env, LC_ALL: 'C' },
    });
  const find = async (): Promise<string | null> =>
    kernelDependency((await apt('apt-cache', 'depends', META_PACKAGE)).output.toString());
  const update = async (): Promise<void> => {
    say("lab roce: reading apt's package lists anew");
    await apt('apt-get', '--quiet', 'update');
  };

  let name = await find();
  if (name === null && isRoot) {
    await update();
    name = await find();
  }
  if (name === null) {
    throw new LabError(
      'no_package',
      `lab roce takes its kernel from the package ${META_PACKAGE}, which apt does not know: its lists are missing`,
      isRoot ? 'see what apt-get update says' : 'sudo apt-get update',
      69,
    );
  }
  say(`lab roce: fetching ${name}, once; it is not installed`);
  let result = await apt('apt-get', '--quiet', 'download', name);
  if (result.status !== 0 && isRoot) {
    // The lists may name a version that is gone.
    await update();
    name = (await find()) ?? name;
    result = await apt('apt-get', '--quiet', 'download', name);
  }
  const file = readdirSync(directory).find((entry) => entry.endsWith('.deb'));
  if (result.status === 0 && file !== undefined) return join(directory, file);
  throw new LabError(
    'no_package',
    `lab roce cannot fetch its kernel, ${name}:\n${result.messages.trim()}`,
    isRoot ? 'see whether the network and the sources of apt work' : 'sudo apt-get update, then try again',
    69,
  );
}

/** The kernel package that `apt-cache depends` of the meta package names. */
export const kernelDependency = (output: string): string | null =>
  /^\s*Depends: (linux-image-\d\S*)$/m.exec(output)?.[1] ?? null;

/** What of the package is needed, as patterns of tar(1). */
const WANTED_FILES = [
  './boot/vmlinuz-*',
  '*/modules.builtin',
  '*/kernel/drivers/virtio/*',
  '*/kernel/drivers/char/virtio_console*',
  '*/kernel/drivers/infiniband/core/*',
  '*/kernel/drivers/infiniband/sw/*',
  '*/kernel/drivers/net/veth*',
  '*/kernel/drivers/net/dummy*',
  '*/kernel/drivers/net/bonding/*',
  '*/kernel/fs/*',
  '*/kernel/net/*',
  '*/kernel/lib/*',
  '*/kernel/crypto/*',
  '*/kernel/arch/x86/crypto/*',
];

const UNPACK =
  'package=$1 directory=$2; shift 2; dpkg-deb --fsys-tarfile "$package" | tar -x -C "$directory" --no-same-owner --wildcards "$@"';

/** Unpacks what is needed of a kernel package. */
export async function unpackKernelPackage(
  file: string,
  directory: string,
  abort: AbortSignal | undefined,
): Promise<void> {
  const { messages } = await runTool('sh', ['-c', UNPACK, 'sh', file, directory, ...WANTED_FILES], {
    abort,
    environment: { ...process.env, LC_ALL: 'C' },
  });
  // To tar, a pattern without a match is an error. Here it is none: the kernel may have the thing built in.
  const serious = messages
    .split('\n')
    .filter((line) => line !== '' && !/: Not found in archive$|: Exiting with failure status/.test(line));
  if (serious.length === 0) return;
  throw new LabError(
    'unpack_failed',
    `lab roce cannot unpack ${file}: ${serious.join('; ')}`,
    'see whether the disk is full',
    1,
  );
}
