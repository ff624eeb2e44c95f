/**
 * The sysfs of a host of the fabric. The simulator's library writes one for each program, and shows it to the calls of
 * libibumad and of a few others, not to all: Node and libibverbs would see the machine's own. A copy, as it is when the
 * command starts, serves those, for they follow SYSFS_PATH.
 */
import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';

const PATIENCE_MS = 5000;

/** Reading it brings the tree into being; where it lies is the library's own matter, so that is found by the number. */
const SHOWN = '/sys/class/infiniband/ibsim0/node_guid';

/**
 * Copies the tree into `directory`, which is of the lab.
 * @param environment of a program on the host
 * @returns the root of the copy; null where the host does not answer, as one whose cable was pulled
 */
export async function copySysfs(directory: string, environment: NodeJS.ProcessEnv): Promise<string | null> {
  // It stays until its stdin ends, and its tree with it.
  const child = spawn('cat', [SHOWN, '-'], {
    cwd: directory,
    env: environment,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => {
    child.on('error', () => resolve());
    child.on('close', () => resolve());
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  child.stdin.on('error', () => {});
  try {
    const isThere = await new Promise<boolean>((resolve) => {
      child.stdout.once('data', () => resolve(true));
      void ended.then(() => resolve(false));
    });
    if (!isThere) return null;
    const root = join(directory, `sysfs-${child.pid}`);
    cpSync(join(directory, `sys-${child.pid}/sys`), root, { recursive: true });
    return root;
  } catch {
    // A library that keeps it elsewhere: then there is no copy.
    return null;
  } finally {
    child.stdin.end();
    await ended;
    clearTimeout(timer);
  }
}
