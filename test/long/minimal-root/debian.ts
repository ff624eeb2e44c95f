import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { demand, executeApart } from './execute.ts';
import { TemporaryFolder } from './temporary-folder.ts';

export const SUITE = 'bookworm';

const DAYS = 24 * 60 * 60 * 1000;

/**
 * The smallest Debian that debootstrap makes, as an archive of one folder, `root`. It is kept for two weeks, so
 * that only the first test run in that time waits for it.
 */
export async function baseSystem(mirror: string): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'rdmatool');
  const architecture = (await demand('dpkg', ['--print-architecture'])).trim();
  const archive = join(cache, `debian-${SUITE}-${architecture}.tar.gz`);
  const made = statSync(archive, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - made < 14 * DAYS) return archive;

  mkdirSync(cache, { recursive: true });
  const folder = new TemporaryFolder('rdmatool-debootstrap-');
  const partial = `${archive}.${process.pid}`;
  try {
    const signal = folder.inUse;
    // Apart, because debootstrap mounts /proc in the root, and leaves it when it is interrupted.
    const debootstrap = ['debootstrap', '--variant=minbase', SUITE, join(folder.path, 'root'), mirror];
    const { status, output } = await executeApart(debootstrap, { signal });
    if (status !== 0) throw new Error(`debootstrap ended with ${status}:\n${output}`);
    // Device nodes are taken from the host later, since some machines do not let tar make them.
    const excluded = ['--exclude=root/dev/*', '--exclude=root/var/cache/apt/archives/*.deb'];
    await demand('tar', ['-C', folder.path, ...excluded, '-czf', partial, 'root'], { signal });
    renameSync(partial, archive);
  } finally {
    rmSync(partial, { force: true });
    folder.remove();
  }
  return archive;
}
