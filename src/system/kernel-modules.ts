/** Kernel modules: loaded, part of the kernel, forbidden, installed, or not there. */
import type { Machine } from './machine.ts';

export type ModuleState =
  | { readonly state: 'loaded' }
  | { readonly state: 'built-in' }
  /** Installed, and not to be loaded by itself; `where` says who forbids it. */
  | { readonly state: 'blacklisted'; readonly where: string; readonly isFirm: boolean }
  /** Installed, and not loaded. */
  | { readonly state: 'installed' }
  /** The running kernel's modules have none of that name. */
  | { readonly state: 'absent'; readonly release: string }
  /** Its files are not to be seen from here, as in a container. */
  | { readonly state: 'unknown' };

/** Where modprobe.d(5) says that its files are. */
const CONFIGURATIONS = ['/etc/modprobe.d', '/run/modprobe.d', '/usr/lib/modprobe.d', '/lib/modprobe.d'];

/** modprobe takes `-` and `_` for the same. */
const sameName = (text: string): string => text.replaceAll('-', '_');

/** The release of the running kernel, as `uname -r` has it. */
export const kernelRelease = ({ files }: Machine): string =>
  files.read('/proc/sys/kernel/osrelease')?.trim() ?? '';

/** @param name with underscores: `mlx5_ib` */
export function moduleState(machine: Machine, name: string): ModuleState {
  const { sysfs, files } = machine;
  const own = sysfs.list(`module/${name}`);
  const release = kernelRelease(machine);
  const place = ['/lib/modules', '/usr/lib/modules'].find(
    (folder) => release !== '' && files.list(`${folder}/${release}`) !== null,
  );
  const hasIn = (file: string): boolean =>
    place !== undefined &&
    new RegExp(`/${name.replaceAll('_', '[-_]')}\\.ko`, 'm').test(
      files.read(`${place}/${release}/${file}`) ?? '',
    );
  if (own !== null) {
    return own.includes('initstate') || own.includes('refcnt') ? { state: 'loaded' } : { state: 'built-in' };
  }
  if (hasIn('modules.builtin')) return { state: 'built-in' };
  const forbidden = forbiddenBy(machine, name);
  if (forbidden !== null) return forbidden;
  if (place === undefined || files.read(`${place}/${release}/modules.dep`) === null) {
    return { state: 'unknown' };
  }
  return hasIn('modules.dep') ? { state: 'installed' } : { state: 'absent', release };
}

function forbiddenBy({ files }: Machine, name: string): ModuleState | null {
  for (const folder of CONFIGURATIONS) {
    for (const file of files.list(folder) ?? []) {
      if (!file.endsWith('.conf')) continue;
      for (const line of (files.read(`${folder}/${file}`) ?? '').split('\n')) {
        const [word = '', module = '', command = ''] = line.trim().split(/\s+/);
        if (sameName(module) !== name) continue;
        const isFirm = word === 'install' && /\/(false|true)$/.test(command);
        if (word === 'blacklist' || isFirm) {
          return { state: 'blacklisted', where: `${folder}/${file}: ${line.trim()}`, isFirm };
        }
      }
    }
  }
  for (const word of (files.read('/proc/cmdline') ?? '').trim().split(/\s+/)) {
    const [key = '', value = ''] = word.split('=');
    if (key !== 'modprobe.blacklist' && key !== 'module_blacklist') continue;
    if (value.split(',').map(sameName).includes(name)) {
      const isFirm = key === 'module_blacklist';
      return { state: 'blacklisted', where: `the kernel's command line: ${word}`, isFirm };
    }
  }
  return null;
}
