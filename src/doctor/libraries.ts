/** The libraries of rdma-core: there, whole, of which release. */
import { isAbsent, libraryRepair, type Purpose as Package } from '../explain/packages.ts';
import type { CheckId, DoctorPurpose } from '../model/doctor.ts';
import { type Check, type Finding, ok, skipped } from './check.ts';
import type { View } from './view.ts';

interface LibraryCheck {
  readonly id: CheckId & ('libibverbs' | 'libefa' | 'librdmacm' | 'libibumad');
  readonly soname: string;
  readonly packages: readonly Package[];
  readonly purposes: readonly DoctorPurpose[];
  readonly needs: readonly CheckId[];
  readonly without: string;
  moot?(view: View): string | null;
  lack(view: View): 'failure' | 'warning';
}

/** What the dynamic linker says of a library of another machine. */
const WRONG_KIND = /wrong ELF class|invalid ELF header|cannot open shared object file: .*exec format/i;

const libraryCheck = ({
  id,
  soname,
  packages,
  purposes,
  needs,
  without,
  moot,
  lack,
}: LibraryCheck): Check => ({
  id,
  what: `the library ${soname} loads; its release`,
  purposes,
  needs,
  run(view): Finding[] {
    const reason = moot?.(view) ?? null;
    if (reason !== null) return [skipped(soname, reason)];
    const found = view.library(soname);
    if (!('reason' in found)) {
      const release = found.version === null ? 'of unknown release' : `of rdma-core ${found.version}`;
      return [ok(soname, `${soname} is ${release}${found.path === null ? '' : ` (${found.path})`}`)];
    }
    const repair = libraryRepair(view.machine.osIds(), found.reason, ...packages);
    const isForeign = WRONG_KIND.test(found.reason);
    return [
      {
        subject: soname,
        status: lack(view),
        fact: `${soname} ${isAbsent(found.reason) ? 'is not installed' : 'is there and does not load'} (${found.reason}): ${without}`,
        ...(isForeign ? { meaning: `it is for another architecture than this one, ${process.arch}` } : {}),
        repair: `${repair}${rootOf(view)}`,
      },
    ];
  },
});

/** Packages are installed where the program runs, in a container too. */
export const rootOf = ({ who }: View): string => (who?.uid === 0 ? '' : ' (as root)');

export const libibverbsCheck: Check = libraryCheck({
  id: 'libibverbs',
  soname: 'libibverbs.so.1',
  packages: ['libibverbs', 'providers'],
  purposes: ['query', 'cm', 'efa'],
  needs: ['sysfs'],
  without: 'no program can use a device',
  lack: () => 'failure',
});

export const libefaCheck: Check = libraryCheck({
  id: 'libefa',
  soname: 'libefa.so.1',
  packages: ['libefa'],
  purposes: ['efa'],
  needs: ['device'],
  without:
    'programs that speak EFA itself (libfabric, NCCL) find no device, and its capabilities are not known',
  moot: (view) => (view.efaNames.length === 0 ? 'no EFA device' : null),
  lack: (view) => view.lack('efa'),
});

export const librdmacmCheck: Check = libraryCheck({
  id: 'librdmacm',
  soname: 'librdmacm.so.1',
  packages: ['librdmacm'],
  purposes: ['cm'],
  needs: ['device'],
  without: 'no program can use the connection manager through it',
  moot: (view) => view.whyNot('cm'),
  lack: (view) => view.lack('cm'),
});

export const libibumadCheck: Check = libraryCheck({
  id: 'libibumad',
  soname: 'libibumad.so.3',
  packages: ['libibumad'],
  purposes: ['mad'],
  needs: ['device'],
  without: 'no program can send management datagrams through it',
  moot: (view) => view.whyNot('mad'),
  lack: (view) => view.lack('mad'),
});
