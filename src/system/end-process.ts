import { exitNow } from '../native/libc.ts';

/**
 * Ends the process at once. Node's own exit waits for the threads of libuv's pool, so for a call that hangs in C it
 * would wait for ever.
 */
export const endProcess = (status: number): never => exitNow(status);
