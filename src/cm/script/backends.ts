/** What a script can say to each backend. */
import type { BackendChoice } from '../session.ts';
import { KERNEL_OPERATIONS } from './kernel-operations.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';

/** librdmacm's own calls: the kernel has nothing like them. */
const OF_THE_LIBRARY = ['resolve-addrinfo'];

function kernelOperations(): Operation[] {
  const own = new Map(KERNEL_OPERATIONS.map((operation) => [operation.name, operation]));
  const common = OPERATIONS.filter(({ name }) => !OF_THE_LIBRARY.includes(name));
  const shared = common.map((operation) => own.get(operation.name) ?? operation);
  const names = new Set(shared.map(({ name }) => name));
  return [...shared, ...KERNEL_OPERATIONS.filter(({ name }) => !names.has(name))];
}

export const SCRIPT_OPERATIONS: Readonly<Record<BackendChoice['backend'], readonly Operation[]>> = {
  librdmacm: OPERATIONS,
  kernel: kernelOperations(),
};
