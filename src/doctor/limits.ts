/** What this process may use: locked memory, huge pages. */
import { aboutSize, sizeText } from '../explain/quantities.ts';
import { Capability, hasCapability } from '../system/credentials.ts';
import { type Check, ok, skipped } from './check.ts';
import { rootOf } from './libraries.ts';

/** What Linux gave before 5.16: too little for a queue pair of many cards. */
const HARDLY_ANY = 64 * 1024;
/** A program that registers buffers is soon beyond this. */
const LITTLE = 64 * 1024 * 1024;

export const memlockCheck: Check = {
  id: 'memlock',
  what: 'this process may lock memory: registered memory is locked, and many cards lock their queues',
  purposes: ['query', 'cm', 'efa'],
  needs: ['device'],
  run(view) {
    const limit = view.machine.lockedMemoryLimit();
    if (limit === null) return [skipped(null, 'the limit of locked memory is not known: there is no /proc')];
    if (limit === Number.POSITIVE_INFINITY) return [ok(null, 'locked memory has no limit')];
    const size = `locked memory is limited to ${sizeText(limit)} (ulimit -l)`;
    if (hasCapability(view.who, Capability.IPC_LOCK)) {
      return [
        ok(
          null,
          `${size}, which does not hold this process (CAP_IPC_LOCK)`,
          'it may hold other users and services',
        ),
      ];
    }
    if (limit >= LITTLE) return [ok(null, size)];
    return [
      {
        subject: null,
        status: limit <= HARDLY_ANY ? view.lack('cm', 'efa') : 'warning',
        fact: size,
        meaning: 'registering memory, or creating queues, fails with ENOMEM beyond it',
        repair:
          view.container === null
            ? `echo '* - memlock unlimited' >/etc/security/limits.d/rdma.conf (as root), and log in again; for a service LimitMEMLOCK=infinity`
            : 'start the container with --ulimit memlock=-1; in Kubernetes raise LimitMEMLOCK of the container runtime on the host, or add the capability IPC_LOCK',
      },
    ];
  },
};

/** What AWS's EFA installer sets is more; below this libfabric does without. */
const SOME_BYTES = 128 * 1024 * 1024;

export const hugepagesCheck: Check = {
  id: 'hugepages',
  what: "huge pages for the buffers of libfabric's EFA provider",
  purposes: ['efa'],
  needs: ['efa-device'],
  run(view) {
    if (view.efaNames.length === 0) return [skipped(null, 'no EFA device')];
    const text = view.machine.files.read('/proc/meminfo');
    const value = (key: string): number | null => {
      const found = new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(text ?? '')?.[1];
      return found === undefined ? null : Number(found);
    };
    const [total, free, size] = [value('HugePages_Total'), value('HugePages_Free'), value('Hugepagesize')];
    if (total === null || free === null || size === null) {
      return [skipped(null, 'the number of huge pages is not known: /proc/meminfo has none')];
    }
    const shown = `${total} huge pages of ${sizeText(size * 1024)}, ${free} free`;
    const bytes = free * size * 1024;
    if (bytes >= SOME_BYTES) return [ok(null, shown)];
    return [
      {
        subject: null,
        // libfabric is not everybody's.
        status: view.purpose === 'efa' ? 'warning' : 'ok',
        fact: total === 0 ? 'there are no huge pages' : `${shown}: ${aboutSize(BigInt(bytes))} of room`,
        meaning:
          "libfabric's EFA provider takes ordinary pages then: it works, and registers its buffers more slowly",
        repair: `sysctl -w vm.nr_hugepages=5128, as AWS's EFA installer does${rootOf(view) === '' && view.container === null ? '' : view.asRoot}`,
      },
    ];
  },
};
