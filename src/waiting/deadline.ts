/** Thrown when an operation did not end in time. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
  constructor(
    readonly operation: string,
    readonly milliseconds: number,
  ) {
    super(`${operation} did not end within ${milliseconds} ms`);
  }
}

let abandoned = 0;

/** Operations that still run on a thread after their deadline: the process must be ended, it will not drain. */
export const abandonedOperations = (): number => abandoned;

/**
 * The result of `work`, or DeadlineError after `milliseconds`. Work that is late is abandoned: a call inside C
 * cannot be stopped.
 */
export async function within<T>(milliseconds: number, operation: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      abandoned++;
      const settled = (): void => {
        abandoned--;
      };
      work.then(settled, settled);
      reject(new DeadlineError(operation, milliseconds));
    }, milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** How long one call into a driver may take before it counts as hung. */
export const CALL_DEADLINE_MS = 10_000;

/** ibv_open_device(3) itself waits up to 5 s for a device node. */
export const OPEN_DEADLINE_MS = 15_000;
