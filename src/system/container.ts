/** Signs that this process is in a container. */
import type { Machine } from './machine.ts';

const FILES: ReadonlyArray<readonly [path: string, what: string]> = [
  ['/.dockerenv', 'Docker'],
  ['/run/.containerenv', 'Podman'],
];

/** What says so, as `Docker (/.dockerenv)`; null where nothing does. */
export function containerSign({ files }: Machine): string | null {
  if (files.read('/var/run/secrets/kubernetes.io/serviceaccount/namespace') !== null) {
    return 'a pod of Kubernetes (/var/run/secrets/kubernetes.io)';
  }
  for (const [path, what] of FILES) if (files.read(path) !== null) return `${what} (${path})`;
  const named = files.read('/run/systemd/container')?.trim();
  if (named) return `${named} (/run/systemd/container)`;
  const group = /(kubepods|docker|containerd|libpod|lxc)/.exec(files.read('/proc/1/cgroup') ?? '')?.[1];
  return group === undefined ? null : `${group} (/proc/1/cgroup)`;
}
