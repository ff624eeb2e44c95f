/** Machines as they are met: what sysfs, /dev, /proc and the linker show of them. */
import { constants } from 'node:os';
import { EFA_FILES, type Recorded } from '../devices/recorded.ts';

const KERNEL = '6.8.0-1018-aws';

/** /proc of an ordinary user, and of root. */
const status = (uid: number, capabilities: string): string =>
  `Name:\tnode\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\nGid:\t${uid}\t${uid}\t${uid}\t${uid}\nGroups:\t${uid} 27\nCapEff:\t${capabilities}\n`;
export const AS_USER = {
  '/proc/self/status': status(1000, '0000000000000000'),
  '/etc/group': 'sudo:x:27:ada\nada:x:1000:\n',
};
export const AS_ROOT = { '/proc/self/status': status(0, '000001ffffffffff') };

const MODULES = {
  '/proc/sys/kernel/osrelease': `${KERNEL}\n`,
  [`/lib/modules/${KERNEL}/modules.dep`]: [
    'kernel/drivers/infiniband/hw/efa/efa.ko.zst:',
    'kernel/drivers/infiniband/hw/mlx5/mlx5_ib.ko.zst:',
    'kernel/drivers/infiniband/core/rdma_ucm.ko.zst:',
    'kernel/drivers/infiniband/core/ib_umad.ko.zst:',
  ].join('\n'),
};

const loaded = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [`module/${name}/initstate`, 'live']));

const pciCard = (address: string, vendor: string, device: string, driver: string | null) => ({
  [`bus/pci/devices/${address}/vendor`]: vendor,
  [`bus/pci/devices/${address}/device`]: device,
  [`bus/pci/devices/${address}/class`]: '0x020000',
  ...(driver === null
    ? {}
    : { [`bus/pci/devices/${address}/driver`]: { link: `../../../bus/pci/drivers/${driver}` } }),
});

const EFA_CARD = pciCard('0000:00:06.0', '0x1d0f', '0xefa2', 'efa');
const EFA_GIDS = {
  'class/infiniband/rdmap0s6/ports/1/gids/0': 'fe80:0000:0000:0000:0242:acff:fe11:0002',
};

/** A p5 instance with its driver, nodes and libraries. */
export const EFA_GOOD: Recorded = {
  files: {
    ...EFA_FILES,
    ...EFA_GIDS,
    ...EFA_CARD,
    ...loaded('efa', 'ib_core', 'ib_uverbs'),
    'module/efa/version': '2.13.0g',
  },
  directories: ['class/net'],
  nodes: { uverbs0: { mode: '0666' } },
  texts: {
    ...AS_ROOT,
    ...MODULES,
    '/proc/meminfo': 'HugePages_Total:    5128\nHugePages_Free:     5128\nHugepagesize:       2048 kB\n',
  },
  lockedMemory: Number.POSITIVE_INFINITY,
  osIds: ['amzn', 'fedora'],
};

/** The card alone, before any driver. */
export const EFA_CARD_ALONE: Recorded = {
  files: pciCard('0000:00:06.0', '0x1d0f', '0xefa2', null),
  directories: ['class/net'],
  texts: { ...AS_ROOT, ...MODULES },
  osIds: ['ubuntu', 'debian'],
};

const ROCE_PORT = 'class/infiniband/mlx5_0/ports/1';
const ROCE_FILES = {
  ...pciCard('0000:17:00.0', '0x15b3', '0x1021', 'mlx5_core'),
  ...loaded('mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs', 'rdma_ucm', 'ib_umad'),
  'module/ib_core/parameters/netns_mode': 'Y',
  'class/misc/rdma_cm/dev': '10:56',
  'class/infiniband_verbs/abi_version': '6',
  'class/infiniband_verbs/uverbs0/ibdev': 'mlx5_0',
  'class/infiniband_mad/umad0/ibdev': 'mlx5_0',
  'class/infiniband_mad/umad0/port': '1',
  'class/infiniband/mlx5_0/node_guid': '9803:9b03:0011:2233',
  'class/infiniband/mlx5_0/device/uevent': 'DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:17:00.0',
  'class/infiniband/mlx5_0/device/infiniband_verbs/uverbs0/ibdev': 'mlx5_0',
  'class/infiniband/mlx5_0/device/net/ens3np0/address': '98:03:9b:11:22:33',
  [`${ROCE_PORT}/state`]: '4: ACTIVE',
  [`${ROCE_PORT}/phys_state`]: '5: LinkUp',
  [`${ROCE_PORT}/link_layer`]: 'Ethernet',
  [`${ROCE_PORT}/rate`]: '400 Gb/sec (4X NDR)',
  [`${ROCE_PORT}/gids/0`]: 'fe80:0000:0000:0000:9a03:9bff:fe11:2233',
  [`${ROCE_PORT}/gids/3`]: '0000:0000:0000:0000:0000:ffff:0a00:0001',
  [`${ROCE_PORT}/gid_attrs/types/0`]: 'IB/RoCE v1',
  [`${ROCE_PORT}/gid_attrs/types/3`]: 'RoCE v2',
  [`${ROCE_PORT}/gid_attrs/ndevs/0`]: 'ens3np0',
  [`${ROCE_PORT}/gid_attrs/ndevs/3`]: 'ens3np0',
  'class/net/ens3np0/operstate': 'up',
  'class/net/ens3np0/flags': '0x1003',
  'class/net/ens3np0/mtu': '1500',
} as const;
const ROCE_NODES = { uverbs0: { mode: '0666' }, rdma_cm: { mode: '0666' }, umad0: { mode: '0600' } } as const;

/** A ConnectX-7 over RoCE with everything, for root. */
export const ROCE_GOOD = {
  files: ROCE_FILES,
  nodes: ROCE_NODES,
  texts: { ...AS_ROOT, ...MODULES },
  lockedMemory: 8 * 1024 * 1024,
  osIds: ['ubuntu', 'debian'],
  addresses: [{ netdev: 'ens3np0', address: '10.0.0.1', scopeId: null }],
  routes: { '10.0.0.2': '10.0.0.1', '192.168.7.7': '192.168.7.1' },
} satisfies Recorded;

/** Files without those whose path begins so. */
export function without(
  files: NonNullable<Recorded['files']>,
  ...starts: readonly string[]
): NonNullable<Recorded['files']> {
  return Object.fromEntries(
    Object.entries(files).filter(([path]) => !starts.some((start) => path.startsWith(start))),
  );
}

export const ROCE_DOWN: Recorded = {
  ...ROCE_GOOD,
  files: {
    ...ROCE_FILES,
    // As ucx#10317 shows one.
    [`${ROCE_PORT}/state`]: '1: DOWN',
    [`${ROCE_PORT}/phys_state`]: '3: Disabled',
    'class/net/ens3np0/operstate': 'down',
    'class/net/ens3np0/flags': '0x1002',
  },
};

const IB_PORT = {
  [`${ROCE_PORT}/link_layer`]: 'InfiniBand',
  [`${ROCE_PORT}/sm_lid`]: '0x0',
  [`${ROCE_PORT}/lid`]: '0x0',
};

/** A ConnectX on InfiniBand: the cable is in, and no subnet manager runs. */
export const IB_WITHOUT_SM: Recorded = {
  ...ROCE_GOOD,
  files: {
    ...without(ROCE_FILES, `${ROCE_PORT}/gid`, 'class/net'),
    ...IB_PORT,
    [`${ROCE_PORT}/state`]: '2: INIT',
  },
};

export const CONTAINER_TEXTS = { ...AS_ROOT, '/.dockerenv': '', '/proc/sys/kernel/osrelease': KERNEL };
export const REFUSED = { EACCES: constants.errno.EACCES, EPERM: constants.errno.EPERM } as const;
