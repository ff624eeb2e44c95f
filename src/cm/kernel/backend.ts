/** The connection manager without librdmacm: commands written to /dev/infiniband/rdma_cm by hand. */

import { UCMA_ABI_VERSION } from '../../abi/ucma/shared.ts';
import { Failure } from '../../explain/failure.ts';
import { UserCmNode } from '../../native/user-cm.ts';
import type { Machine } from '../../system/machine.ts';
import type { Backend } from '../backend.ts';
import { KernelChannel } from './channel.ts';
import { KernelDevices } from './devices.ts';
import type { Exchange } from './exchange.ts';
import { KernelIds } from './ids.ts';

/** @param seen is told of every command and its answer */
export function kernelBackend(machine: Machine, seen: (exchange: Exchange) => void = () => {}): Backend {
  const ids = new KernelIds();
  const devices = new KernelDevices(machine);
  return {
    async openChannel() {
      checkAbi(machine);
      const { path } = machine.nodes.node('rdma_cm');
      return new KernelChannel(await UserCmNode.open(path), ids, devices, seen);
    },
  };
}

/** Throws Failure OLD_KERNEL where the structures would be others. */
function checkAbi({ sysfs }: Machine): void {
  const version = sysfs.read('class/misc/rdma_cm/abi_version')?.trim();
  if (version === undefined || version === String(UCMA_ABI_VERSION)) return;
  throw new Failure(
    'OLD_KERNEL',
    `the kernel's connection manager has ABI version ${version}, and rdmatool speaks version ${UCMA_ABI_VERSION}`,
    'use --backend librdmacm with a librdmacm that is made for this kernel',
  );
}
