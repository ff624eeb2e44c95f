/** Device nodes under /dev/infiniband: there, and to be opened by this process. */
import { constants } from 'node:os';
import { nodeRefused } from '../devices/failures.ts';
import { errnoText } from '../explain/errno.ts';
import { groupName } from '../system/credentials.ts';
import type { DeviceNode } from '../system/device-nodes.ts';
import { OPEN_DEADLINE_MS, within } from '../waiting/deadline.ts';
import { type Check, type Finding, ok, skipped } from './check.ts';
import type { View } from './view.ts';

const { EACCES, EMFILE, ENFILE, ENOENT, EPERM } = constants.errno;

/** `mode 0600, owner root:root`. */
const rightsText = ({ mode, owner, group }: DeviceNode): string => `mode ${mode}, owner ${owner}:${group}`;

/** `user 1000, groups 1000 (ada) 27 (sudo)`. */
function whoText(view: View): string {
  const { who } = view;
  if (who === null) return 'this process';
  if (who.uid === 0) return 'this process (root)';
  const groups = who.groups.map((gid) => groupName(view.machine, gid));
  return `this process (user ${who.uid}, groups ${groups.join(', ')})`;
}

interface NodeWords {
  /** The node's name: `uverbs0`. */
  readonly name: string;
  /** What it is of, and what the finding is about: a device, a port. */
  readonly subject: string;
  readonly lack: 'failure' | 'warning';
  /** What makes the node, on the host. */
  readonly trigger: string;
  /** How another than root may open it. */
  readonly allow: (node: DeviceNode) => string;
}

/** What is wrong with a node. Opens it, where access(2) has nothing against that. */
async function nodeFinding(view: View, { name, subject, lack, trigger, allow }: NodeWords): Promise<Finding> {
  const node = view.machine.nodes.node(name);
  const { path } = node;
  const pass = `start the container with --device=${path}, or with the RDMA device plugin of Kubernetes`;
  const opened = await within(OPEN_DEADLINE_MS, `open(${path})`, view.machine.nodes.tryOpen(name)).catch(
    (error: unknown) => String(error instanceof Error ? error.message : error),
  );
  // A simulated node may open though nothing shows it.
  if (opened === 0 && node.mode === null) return ok(subject, `${subject}: ${path} opens`);
  if (opened === ENOENT && node.mode === null) {
    return {
      subject,
      status: lack,
      fact: `${subject}: its node ${path} does not exist`,
      ...(view.container === null
        ? { repair: `${trigger}${view.asRoot}` }
        : { meaning: 'the container was started without it', repair: pass }),
    };
  }
  const refused = node.mode !== null && node.accessErrno !== 0 ? node.accessErrno : opened;
  if (refused === 0) return ok(subject, `${subject}: ${path} opens (${rightsText(node)})`);
  if (typeof refused === 'string') {
    return {
      subject,
      status: lack,
      fact: `${subject}: ${refused}`,
      repair: 'dmesg says what the driver waits for',
    };
  }
  const fact = `${subject}: ${whoText(view)} may not open ${path}: ${errnoText(refused)}; ${rightsText(node)}`;
  if (refused === EPERM) {
    return {
      subject,
      status: lack,
      fact,
      meaning: 'the device cgroup of a container refuses it',
      repair: pass,
    };
  }
  const isRights = refused === EACCES;
  return {
    subject,
    status: lack,
    fact: isRights ? fact : `${subject}: ${path} cannot be opened: ${errnoText(refused)}`,
    repair: isRights
      ? view.who?.uid === 0
        ? 'root is refused: SELinux or AppArmor (dmesg | grep -i denied), or the capability DAC_OVERRIDE is missing'
        : allow(node)
      : (LIMITS[refused] ?? `dmesg${view.asRoot} says why the driver refuses it`),
  };
}

/** What is short in this process, not in the driver. */
const LIMITS: Readonly<Record<number, string>> = {
  [EMFILE]: 'ulimit -n shows how many files a process may open; raise it: ulimit -n 65536',
  [ENFILE]: 'the whole system has too many files open: sysctl fs.file-max, fs.file-nr',
};

export const uverbsNodeCheck: Check = {
  id: 'uverbs-node',
  what: 'each device has its node /dev/infiniband/uverbsN, and this process may open it',
  purposes: ['query', 'cm', 'efa'],
  needs: ['device', 'ib_uverbs'],
  run: (view) =>
    Promise.all(
      view.names.map(async (name) => {
        const device = view.sysfsDevice(name);
        if (device.uverbs === null) {
          return {
            subject: name,
            status: 'failure',
            fact: `${name}: the kernel gives it no verbs device, though the module ib_uverbs is loaded`,
            repair: `dmesg | grep -i ${device.pci_address ?? name}${view.asRoot}`,
          };
        }
        return nodeFinding(view, {
          name: device.uverbs,
          subject: name,
          lack: 'failure',
          trigger: 'udevadm trigger --subsystem-match=infiniband_verbs',
          allow: (node) =>
            nodeRefused(name, { ...device, uverbs_node: { ...node, accessible: false } }, EACCES).hint,
        });
      }),
    ),
};

export const rdmaCmNodeCheck: Check = {
  id: 'rdma_cm-node',
  what: 'the node /dev/infiniband/rdma_cm is there, and this process may open it',
  purposes: ['cm'],
  needs: ['rdma_ucm'],
  async run(view) {
    const reason = view.whyNot('cm');
    if (reason !== null) return [skipped('rdma_cm', reason)];
    const finding = await nodeFinding(view, {
      name: 'rdma_cm',
      subject: 'rdma_cm',
      lack: view.lack('cm'),
      trigger: 'udevadm trigger --subsystem-match=misc',
      allow: () => `chmod 0666 /dev/infiniband/rdma_cm${view.asRoot}: rdma-core's udev rules make it so`,
    });
    return [finding];
  },
};

/** Every umadN with its port, by `DEVICE/PORT`. */
export function umadNodes({ machine: { sysfs } }: View): Map<string, string> {
  const names = (sysfs.list('class/infiniband_mad') ?? []).filter((name) => /^umad\d+$/.test(name));
  return new Map(
    names.map((name): [string, string] => {
      const read = (file: string): string =>
        sysfs.read(`class/infiniband_mad/${name}/${file}`)?.trim() ?? '?';
      return [`${read('ibdev')}/${read('port')}`, name];
    }),
  );
}

export const umadNodeCheck: Check = {
  id: 'umad-node',
  what: 'ports have their node /dev/infiniband/umadN, and this process may open it',
  purposes: ['mad'],
  needs: ['ib_umad'],
  async run(view) {
    const reason = view.whyNot('mad');
    if (reason !== null) return [skipped(null, reason)];
    const nodes = [...umadNodes(view)];
    if (nodes.length === 0) {
      const status = view.purpose === 'mad' ? 'failure' : 'skipped';
      const fact = `no port of ${view.otherNames.join(', ')} has management datagrams: soft iWARP, for one, has none`;
      return [status === 'failure' ? { subject: null, status, fact } : skipped(null, fact)];
    }
    return Promise.all(
      nodes.map(([port, name]) =>
        nodeFinding(view, {
          name,
          subject: port,
          lack: view.lack('mad'),
          trigger: 'udevadm trigger --subsystem-match=infiniband_mad',
          allow: () =>
            `run as root: who writes to it can change the fabric. Or let a group: echo 'KERNEL=="umad*", GROUP="rdma", MODE="0660"' >/etc/udev/rules.d/91-umad.rules; udevadm trigger${view.asRoot}`,
        }),
      ),
    );
  },
};
