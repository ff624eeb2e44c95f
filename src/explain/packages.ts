/** Which packages bring what rdmatool asks for, by family of distribution. */
export const PACKAGES = {
  libibverbs: {
    debian: 'libibverbs1',
    redhat: 'libibverbs',
    suse: 'libibverbs1',
    arch: 'rdma-core',
    alpine: 'rdma-core',
  },
  librdmacm: {
    debian: 'librdmacm1',
    redhat: 'librdmacm',
    suse: 'librdmacm1',
    arch: 'rdma-core',
    alpine: 'rdma-core',
  },
  libibumad: {
    debian: 'libibumad3',
    redhat: 'libibumad',
    suse: 'libibumad3',
    arch: 'rdma-core',
    alpine: 'rdma-core',
  },
  providers: {
    debian: 'ibverbs-providers',
    redhat: 'libibverbs',
    suse: 'libibverbs',
    arch: 'rdma-core',
    alpine: 'rdma-core',
  },
  strace: { debian: 'strace', redhat: 'strace', suse: 'strace', arch: 'strace', alpine: 'strace' },
  libefa: {
    debian: 'ibverbs-providers',
    redhat: 'libibverbs',
    suse: 'libefa1',
    arch: 'rdma-core',
    alpine: 'rdma-core',
  },
} as const;

export type Purpose = keyof typeof PACKAGES;
type Family = keyof (typeof PACKAGES)['libibverbs'];

const INSTALL: Readonly<Record<Family, string>> = {
  debian: 'apt install',
  redhat: 'dnf install',
  suse: 'zypper install',
  arch: 'pacman -S',
  alpine: 'apk add',
};

const FAMILY_OF: ReadonlyMap<string, Family> = new Map([
  ['debian', 'debian'],
  ['ubuntu', 'debian'],
  ['rhel', 'redhat'],
  ['fedora', 'redhat'],
  ['centos', 'redhat'],
  ['amzn', 'redhat'],
  ['suse', 'suse'],
  ['sles', 'suse'],
  ['opensuse', 'suse'],
  ['arch', 'arch'],
  ['alpine', 'alpine'],
]);

const familyOf = (osIds: readonly string[]): Family | undefined =>
  osIds.map((id) => FAMILY_OF.get(id)).find((found) => found !== undefined);

/**
 * The command that installs the packages for some purposes.
 * @param osIds ID and ID_LIKE of os-release(5), most specific first
 */
export function installCommand(osIds: readonly string[], ...purposes: Purpose[]): string {
  const family = familyOf(osIds);
  if (family === undefined) {
    return `install ${unique(purposes.map((purpose) => PACKAGES[purpose].debian)).join(' and ')} (Debian's names; part of rdma-core)`;
  }
  return `${INSTALL[family]} ${unique(purposes.map((purpose) => PACKAGES[purpose][family])).join(' ')}`;
}

/** The command that installs the modules which a distribution keeps apart from its kernel. */
export function kernelModulesPackage(osIds: readonly string[], release: string): string {
  if (osIds.includes('ubuntu')) return `apt install linux-modules-extra-${release}`;
  const family = familyOf(osIds);
  switch (family) {
    case 'debian':
      return `apt install linux-image-${release}`;
    case 'redhat':
      return `dnf install kernel-modules-extra-${release}`;
    case 'suse':
      return 'zypper install kernel-default (not kernel-default-base)';
    default:
      return `install all modules of the kernel ${release}`;
  }
}

const unique = (names: readonly string[]): string[] => [...new Set(names)];
