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

const REINSTALL: Readonly<Record<Family, string>> = {
  debian: 'apt install --reinstall',
  redhat: 'dnf reinstall',
  suse: 'zypper install --force',
  arch: 'pacman -S',
  alpine: 'apk fix',
};

/** Where distributions put their libraries. */
const SYSTEM_LIBRARY = /^(?:\/usr)?\/lib(?:32|64)?\//;

/** Whether the dynamic linker found no file at all: it names the file only where another one needs it. */
export const isAbsent = (reason: string): boolean => reason.startsWith('cannot open shared object file');

/**
 * What makes a library load that the dynamic linker refused.
 * @param reason what it said, after the library's name
 */
export function libraryRepair(osIds: readonly string[], reason: string, ...purposes: Purpose[]): string {
  const install = installCommand(osIds, ...purposes);
  if (isAbsent(reason)) return install;
  const file = /^(\/[^:]+): /.exec(reason)?.[1];
  if (file !== undefined && !SYSTEM_LIBRARY.test(file)) {
    return `${file} stands before the distribution's own: take its folder out of LD_LIBRARY_PATH (or /etc/ld.so.conf.d), or put a good one there`;
  }
  const family = familyOf(osIds);
  return family === undefined
    ? `it is there and does not load: ${install}, anew`
    : `it is there and does not load: ${install.replace(INSTALL[family], REINSTALL[family])}`;
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
