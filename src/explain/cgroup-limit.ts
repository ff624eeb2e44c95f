/** EAGAIN of a call that makes an RDMA object or opens a device: cgroups(7), the controller rdma. */
export const CGROUP_LIMIT = {
  meaning: 'the control group of this process may have no more RDMA objects (rdma.max)',
  next: 'cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/rdma.max, and rdma.current beside it; raise the limit there, or that of the container',
} as const;
