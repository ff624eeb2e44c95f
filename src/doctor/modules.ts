/** Kernel modules that no card brings with it: the RDMA core and what it offers to programs. */
import { kernelModulesPackage } from '../explain/packages.ts';
import type { CheckId, DoctorPurpose } from '../model/doctor.ts';
import { moduleState } from '../system/kernel-modules.ts';
import { type Check, type Finding, ok, skipped } from './check.ts';
import type { View } from './view.ts';

/** Whether a module is loaded or part of the kernel. */
export function isThere(view: View, module: string): boolean {
  const { state } = moduleState(view.machine, module);
  return state === 'loaded' || state === 'built-in';
}

/** Why a module is not there, and what brings it. */
export function missingModule(view: View, module: string): { reason: string; repair: string } {
  const found = moduleState(view.machine, module);
  const load = `modprobe ${module}`;
  switch (found.state) {
    case 'blacklisted':
      return {
        reason: `the module ${module} is blacklisted (${found.where})`,
        repair: found.isFirm
          ? `take that out, then ${load}${view.asRoot}`
          : `${load}${view.asRoot} loads it in spite of that; so that it stays, take that line out`,
      };
    case 'absent':
      return {
        reason: `the module ${module} is not installed for this kernel (${found.release})`,
        repair:
          module === 'efa'
            ? `install it with AWS's EFA installer: curl -O https://efa-installer.amazonaws.com/aws-efa-installer-latest.tar.gz && tar xf aws-efa-installer-latest.tar.gz && cd aws-efa-installer && ./efa_installer.sh -y${view.asRoot}`
            : `${kernelModulesPackage(view.machine.osIds(), found.release)}, then ${load}${view.asRoot}`,
      };
    default:
      return { reason: `the module ${module} is not loaded`, repair: `${load}${view.asRoot}` };
  }
}

interface ModuleCheck {
  readonly id: CheckId;
  readonly what: string;
  readonly purposes: readonly DoctorPurpose[];
  readonly needs: readonly CheckId[];
  /** What sysfs shows while it is loaded. */
  readonly shows: string;
  /** What is missed without it. */
  readonly without: string;
  /** The one purpose that needs it; null: all. */
  readonly only: 'cm' | 'mad' | null;
}

/** What the user wants is not to be had from these devices. */
function notToBeHad(view: View, purpose: 'cm' | 'mad', reason: string): Finding {
  if (view.purpose !== purpose) return skipped(null, reason);
  const repair =
    purpose === 'cm'
      ? 'over EFA, applications exchange addresses themselves and use libfabric: fi_info -p efa; what EFA needs: rdmatool doctor --for efa'
      : 'counters of EFA are in sysfs: rdmatool counters; what EFA needs: rdmatool doctor --for efa';
  return { subject: null, status: 'failure', fact: reason, repair };
}

const moduleCheck = ({ id, what, purposes, needs, shows, without, only }: ModuleCheck): Check => ({
  id,
  what,
  purposes,
  needs,
  run(view): Finding[] {
    const reason = only === null ? null : view.whyNot(only);
    if (reason !== null && only !== null) return [notToBeHad(view, only, reason)];
    if (view.machine.sysfs.list(shows) !== null) {
      const { state } = moduleState(view.machine, id);
      return [ok(id, `the module ${id} is ${state === 'built-in' ? 'part of the kernel' : 'loaded'}`)];
    }
    const missing = missingModule(view, id);
    return [
      {
        subject: id,
        status: only === null ? 'failure' : view.lack(only),
        fact: `${missing.reason}: ${without}`,
        repair: missing.repair,
      },
    ];
  },
});

export const ibCoreCheck: Check = {
  ...moduleCheck({
    id: 'ib_core',
    what: "the kernel's RDMA core is loaded",
    purposes: ['query', 'cm', 'mad', 'efa'],
    needs: ['sysfs', 'card'],
    shows: 'class/infiniband',
    without: 'the kernel has no RDMA devices',
    only: null,
  }),
};

export const ibUverbsCheck: Check = moduleCheck({
  id: 'ib_uverbs',
  what: 'programs can reach the verbs of devices',
  purposes: ['query', 'cm', 'efa'],
  needs: ['device'],
  shows: 'class/infiniband_verbs',
  without: 'the kernel has the devices, and programs cannot reach their verbs',
  only: null,
});

export const rdmaUcmCheck: Check = moduleCheck({
  id: 'rdma_ucm',
  what: 'programs can reach the connection manager',
  purposes: ['cm'],
  needs: ['device'],
  shows: 'class/misc/rdma_cm',
  without: "no connection manager for programs; librdmacm says only 'No such device'",
  only: 'cm',
});

export const ibUmadCheck: Check = moduleCheck({
  id: 'ib_umad',
  what: 'programs can reach management datagrams',
  purposes: ['mad'],
  needs: ['device'],
  shows: 'class/infiniband_mad',
  without: 'no management datagrams for programs (ibstat, perfquery, rdmatool mad)',
  only: 'mad',
});
