/** From the metal up: sysfs, cards on the PCI bus and their drivers, the devices that the kernel makes of them. */
import { noDevice } from '../devices/failures.ts';
import { type RdmaCard, rdmaCard } from '../explain/rdma-cards.ts';
import { type PciFunction, pciFunctions } from '../system/pci.ts';
import { SYSFS } from '../system/sysfs.ts';
import { type Check, type Finding, ok, skipped } from './check.ts';
import { isThere, missingModule } from './modules.ts';
import type { View } from './view.ts';

export const sysfsCheck: Check = {
  id: 'sysfs',
  what: 'sysfs is mounted, where everything else is read from',
  purposes: ['query', 'cm', 'mad', 'efa'],
  needs: [],
  run({ machine }) {
    const { root } = machine.sysfs;
    if (machine.sysfs.list('class') !== null) {
      return [ok(null, root === SYSFS ? 'sysfs is at /sys' : `sysfs is read from ${root} (SYSFS_PATH)`)];
    }
    const { message, hint } = noDevice(machine);
    return [
      { subject: null, status: 'failure', fact: message.replace(/^no RDMA device: /, ''), repair: hint },
    ];
  },
};

export const containerCheck: Check = {
  id: 'container',
  what: 'signs that this is a container: modules, drivers and nodes are then the matter of its host',
  purposes: ['query', 'cm', 'mad', 'efa'],
  needs: [],
  run({ container }) {
    return [
      container === null
        ? ok(null, 'no sign of a container')
        : ok(
            null,
            `a container: ${container}`,
            'its modules, drivers and device nodes are those of the host',
          ),
    ];
  },
};

/** Drivers that hand a PCI function on to a virtual machine, or to a program. */
const HANDED_ON = new Set(['vfio-pci', 'pci-stub', 'pciback', 'uio_pci_generic', 'igb_uio']);

interface Card extends PciFunction {
  readonly known: RdmaCard;
}

export const cardCheck: Check = {
  id: 'card',
  what: 'PCI functions that are RDMA cards have their driver and their RDMA module',
  purposes: ['query', 'cm', 'mad', 'efa'],
  needs: ['sysfs'],
  run(view) {
    const functions = pciFunctions(view.machine);
    const cards = (functions ?? []).flatMap((one): Card[] => {
      const known = rdmaCard(one.vendor, one.device, one.pciClass);
      return known === null ? [] : [{ ...one, known }];
    });
    const findings = cards.flatMap((card) => cardFinding(view, card));
    return findings.length > 0 ? findings : [noCard(view, functions)];
  },
};

function cardFinding(view: View, { address, device, driver, known }: Card): Finding[] {
  const { what, module } = known;
  const is = `PCI ${address} is ${what} (${device})`;
  const name = view.names.find((one) => view.sysfsDevice(one).pci_address === address);
  if (name !== undefined) return [ok(address, `${is}, driver ${driver ?? 'unknown'}: ${name}`)];
  if (driver !== null && HANDED_ON.has(driver)) {
    return [skipped(address, `${is}, and is handed on by ${driver}, to a virtual machine or a program`)];
  }
  // A network card that may do without RDMA counts only where there is nothing else.
  if (!known.isCertain && view.names.length > 0) return [];
  const status = 'failure';
  const missing = [known.driver, module].find((one) => one !== null && !isThere(view, one));
  if (missing !== undefined && missing !== null) {
    const has = driver === null ? 'no driver' : `the driver ${driver}`;
    const { reason, repair } = missingModule(view, missing);
    return [{ subject: address, status, fact: `${is} and has ${has}: ${reason}`, repair }];
  }
  if (driver === null) {
    const fact = `${is} and has no driver${module === null ? '' : `, though the module ${known.driver ?? module} is loaded`}`;
    const repair =
      module === null
        ? `lspci -k -s ${address} names the modules that could serve it`
        : `dmesg | grep ${address}${view.asRoot}: the driver has refused it, or it was unbound`;
    return [{ subject: address, status, fact, repair }];
  }
  if (isExclusive(view)) return [ok(address, `${is}, driver ${driver}`)];
  return [
    {
      subject: address,
      status,
      fact: `${is} and has the driver ${driver}, and the kernel shows no RDMA device of it`,
      repair: known.isCertain
        ? `dmesg | grep ${address}${view.asRoot} says why; devlink dev param show pci/${address} name enable_roce shows whether RDMA is switched off`
        : `dmesg | grep ${address}${view.asRoot}; RDMA may be off in the card's settings, or not in its licence`,
    },
  ];
}

function noCard(view: View, functions: readonly PciFunction[] | null): Finding {
  const among =
    functions === null || functions.length === 0
      ? 'sysfs shows no PCI functions'
      : `none of the ${functions.length} PCI functions is a known RDMA card`;
  if (view.names.length > 0) return ok(null, `${among}; the devices are of software`);
  const isEc2 = /amazon/i.test(view.machine.sysfs.read('class/dmi/id/sys_vendor') ?? '');
  if (isEc2) {
    return {
      subject: null,
      status: 'failure',
      fact: `no RDMA card here: this EC2 instance has no EFA interface (${among})`,
      meaning: 'EFA is to be asked for when a network interface is made, and the instance type must have it',
      repair:
        'aws ec2 create-network-interface --interface-type efa --subnet-id SUBNET --groups GROUP, then attach-network-interface',
    };
  }
  return {
    subject: null,
    status: 'failure',
    fact: `no RDMA card here: ${among}`,
    meaning: 'a virtual machine sees only the cards that are passed to it',
    repair: `RDMA in software, over Ethernet: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev ${someNetdev(view)}${view.asRoot}. Only to try rdmatool: rdmatool lab run efa -- rdmatool list`,
  };
}

/** A network device that soft-RoCE could stand on. */
function someNetdev({ machine: { sysfs } }: View): string {
  const names = (sysfs.list('class/net') ?? []).filter((name) => name !== 'lo');
  const up = names.find((name) => sysfs.read(`class/net/${name}/operstate`)?.trim() === 'up');
  return up ?? names[0] ?? 'eth0';
}

/** netns_mode of ib_core: a device belongs to one network namespace. */
const isExclusive = ({ machine }: View): boolean =>
  machine.sysfs.read('module/ib_core/parameters/netns_mode')?.trim() === 'N';

export const namespaceCheck: Check = {
  id: 'namespace',
  what: 'whether RDMA devices belong to one network namespace each (exclusive mode), and so may be hidden',
  purposes: ['query', 'cm', 'mad', 'efa'],
  needs: ['ib_core'],
  run(view) {
    const mode = view.machine.sysfs.read('module/ib_core/parameters/netns_mode')?.trim() ?? null;
    if (mode === null) return [skipped(null, 'the kernel does not tell its mode of network namespaces')];
    if (mode !== 'N') return [ok(null, 'RDMA devices are shared by all network namespaces')];
    if (view.names.length > 0) {
      return [
        ok(
          null,
          'each RDMA device belongs to one network namespace (exclusive mode)',
          'devices of other namespaces are not to be seen from here',
        ),
      ];
    }
    return [
      {
        subject: null,
        status: 'failure',
        fact: 'no RDMA device in this network namespace: each belongs to one namespace alone (exclusive mode)',
        meaning: 'the devices of the machine are in another namespace',
        repair: `rdma dev set DEVICE netns NAME moves one here; or for all: rdma system set netns shared, while no namespace but the first is in use (as root, ${view.container === null ? 'in the first network namespace' : 'on the host'})`,
      },
    ];
  },
};

export const deviceCheck: Check = {
  id: 'device',
  what: 'the kernel shows RDMA devices',
  purposes: ['query', 'cm', 'mad', 'efa'],
  needs: ['ib_core', 'card', 'namespace'],
  run(view) {
    if (view.names.length === 0) {
      return [
        {
          subject: null,
          status: 'failure',
          fact: 'the RDMA core is loaded, and the kernel shows no RDMA device',
          repair: `dmesg | grep -iE 'rdma|infiniband|efa|mlx'${view.asRoot}; lspci -k shows each card's driver`,
        },
      ];
    }
    return view.names.map((name) => {
      const { driver, uverbs, netdevs } = view.sysfsDevice(name);
      const facts = [
        ...(driver === null ? [] : [`driver ${driver}`]),
        ...(uverbs === null ? [] : [`node ${uverbs}`]),
        ...(netdevs.length === 0 ? [] : [`network device ${netdevs.join(', ')}`]),
      ];
      return ok(name, `the kernel shows ${name}: ${facts.join(', ')}`);
    });
  },
};
