/** Ports: links, subnet managers, GIDs and their addresses, MTUs. */
import { netdevState } from '../devices/netdev-state.ts';
import type { PortEntry } from '../model/port.ts';
import { type Check, type Finding, ok, skipped } from './check.ts';
import type { View } from './view.ts';

const titleOf = ({ device, port }: PortEntry): string => `${device}/${port}`;

/** A link layer as people name it. */
const LAYERS: Readonly<Record<string, string>> = { INFINIBAND: 'InfiniBand', ETHERNET: 'Ethernet' };

const isEthernet = ({ link_layer }: PortEntry): boolean => link_layer?.name === 'ETHERNET';
const isEfa = (view: View, port: PortEntry): boolean => view.efaNames.includes(port.device);

export const portCheck: Check = {
  id: 'port',
  what: 'ports are active; on InfiniBand there is a subnet manager, and it has given a LID',
  purposes: ['query', 'cm', 'mad', 'efa'],
  needs: ['device'],
  async run(view) {
    const ports = await view.ports();
    if (ports.length === 0) return [skipped(null, 'nothing tells of a port')];
    const isAnyActive = ports.some(({ state }) => state?.name === 'ACTIVE');
    // Among several ports, one without a cable is nothing special.
    const bad = isAnyActive ? 'warning' : 'failure';
    return ports.map((port) => portFinding(view, port, bad));
  },
};

function portFinding(view: View, port: PortEntry, bad: 'warning' | 'failure'): Finding {
  const subject = titleOf(port);
  const [state, physical] = [port.state?.name ?? null, port.phys_state?.name ?? null];
  if (state === null) {
    return skipped(
      subject,
      `${subject}: its state is not known: ${port.error?.message ?? 'nobody tells it'}`,
    );
  }
  const layer = LAYERS[port.link_layer?.name ?? ''] ?? null;
  if (isEfa(view, port) && state === 'ACTIVE') {
    return ok(subject, `${subject} is ACTIVE, which an EFA port always is: that says nothing of the network`);
  }
  const shown = `${subject} is ${state}${physical === null ? '' : `, physical state ${physical}`}`;
  if (isEthernet(port)) return ethernetPort(view, port, bad, shown);
  // Old kernels and the simulator do not tell a link layer: there was one only.
  const isInfiniband = layer === 'InfiniBand' || (port.link_layer === null && port.lid !== null);
  const lid = port.lid === null ? '' : `, LID ${port.lid}`;
  const manager = port.sm_lid === null ? '' : `, subnet manager at LID ${port.sm_lid}`;
  if (state === 'ACTIVE') {
    if (port.lid === 0 && isInfiniband) {
      return {
        subject,
        status: bad,
        fact: `${shown}, and has no LID`,
        repair: 'sminfo; see the log of the subnet manager',
      };
    }
    return ok(
      subject,
      `${shown}${layer === null ? '' : `, ${layer}`}${isInfiniband ? `${lid}${manager}` : ''}`,
    );
  }
  if (physical === 'LINK_UP' || state === 'INIT' || state === 'ARMED') {
    return {
      subject,
      status: bad,
      fact: `${shown}${lid}: the cable is good, and no subnet manager has set the port up`,
      meaning:
        'without one the port carries nothing but subnet management; one is enough for a fabric, on a switch or a host',
      repair: `systemctl start opensm on one host of the fabric (as root), or start the subnet manager of a switch; then: sminfo`,
    };
  }
  return {
    subject,
    status: bad,
    fact: `${shown}: no link`,
    repair:
      physical === 'DISABLED'
        ? `the port is switched off: ibportstate -D 0 ${port.port} enable (as root)`
        : 'look at the cable and at the port of the switch: ibstat; iblinkinfo on another host',
  };
}

/** RoCE and iWARP: the port follows its network device. */
function ethernetPort(view: View, port: PortEntry, bad: 'warning' | 'failure', shown: string): Finding {
  const subject = titleOf(port);
  const [netdev] = port.netdevs;
  if (port.state?.name === 'ACTIVE') {
    return ok(subject, `${shown}, Ethernet${netdev === undefined ? '' : `, network device ${netdev.name}`}`);
  }
  if (netdev === undefined) {
    return {
      subject,
      status: bad,
      fact: `${shown}: no link, and its network device is not to be seen from here`,
      meaning: 'it may be in another network namespace',
      repair: `ip link; rdma link show ${subject}${view.container === null ? '' : ' (on the host)'}`,
    };
  }
  const flags = Number(view.machine.sysfs.read(`class/net/${netdev.name}/flags`)?.trim() ?? Number.NaN);
  const isOff = Number.isInteger(flags) && (flags & IFF_UP) === 0;
  const state = netdevState(view.machine, netdev.name);
  if (isOff) {
    return {
      subject,
      status: bad,
      fact: `${shown}: its network device ${netdev.name} is down`,
      repair: `ip link set ${netdev.name} up${rootWord(view)}`,
    };
  }
  return {
    subject,
    status: bad,
    fact: `${shown}: its network device ${netdev.name} is switched on and has no link (${state ?? 'state unknown'})`,
    repair: `ethtool ${netdev.name}; look at the cable and at the port of the switch`,
  };
}

const IFF_UP = 1;
const rootWord = (view: View): string => (view.who?.uid === 0 ? '' : ' (as root)');

export const gidCheck: Check = {
  id: 'gid',
  what: 'each port has a GID that programs can use, and which index that is',
  purposes: ['query', 'cm', 'efa'],
  needs: ['device'],
  async run(view) {
    const ports = await view.gidPorts();
    if (ports.length === 0) return [skipped(null, 'nothing tells of a port')];
    const isAnyGood = ports.some(({ port }) => port.choice !== null);
    const bad = isAnyGood ? 'warning' : view.lack('cm', 'efa');
    return ports.map(({ device, title, port }): Finding => {
      if (port.choice !== null) {
        const { index, reason, others } = port.choice;
        const more = others.length === 0 ? '' : `; ${others.join(', ')} would do as well`;
        return ok(title, `${title}: GID index ${index}: ${reason}${more}`);
      }
      if (view.failed('port', title))
        return skipped(title, `${title}: not looked at, for the port has no link`);
      const reason = port.unavailable['choice'] ?? 'its GIDs are not known';
      if (device.transport?.name === 'IWARP' || device.node_type?.name === 'RNIC') {
        return ok(title, `${title}: ${reason}`);
      }
      if (port.gids === null) return skipped(title, `${title}: ${reason}`);
      const netdev = port.gids.find((gid) => gid.netdev !== null)?.netdev ?? device.sysfs.netdevs[0] ?? null;
      return {
        subject: title,
        status: bad,
        fact: `${title}: ${reason}`,
        ...addressRepair(view, port.link_layer, netdev),
      };
    });
  },
};

function addressRepair(
  view: View,
  linkLayer: string | null,
  netdev: string | null,
): Pick<Finding, 'meaning' | 'repair'> {
  if (linkLayer !== 'ETHERNET') return { repair: 'rdmatool gid --all shows the table' };
  if (netdev === null) {
    return view.container === null
      ? { repair: 'rdma link names its network device; ip link set it up and give it an address' }
      : {
          meaning: "the container needs the card's network device inside it, for GIDs follow its addresses",
          repair:
            'give the pod or container that network device (macvlan, SR-IOV) or the network of the host (--network=host)',
        };
  }
  const own = view.machine.network.addresses().filter((one) => one.netdev === netdev);
  const isDown = netdevState(view.machine, netdev) !== 'up';
  if (isDown) return { repair: `ip link set ${netdev} up${rootWord(view)}` };
  const hasIp = own.some(({ address }) => !/^fe80:/i.test(address));
  return hasIp
    ? { repair: `rdmatool gid --all; ip addr show ${netdev}` }
    : { repair: `ip addr add ADDRESS/24 dev ${netdev}${rootWord(view)}` };
}

/** What RoCE adds to a packet at most: GRH, UDP, BTH, extended headers and ICRC (include/rdma/ib_addr.h of Linux). */
const ROCE_OVERHEAD = 96;
const MTUS = [4096, 2048, 1024, 512, 256] as const;

export const mtuCheck: Check = {
  id: 'mtu',
  what: 'the MTU of a RoCE port fits that of its network device',
  purposes: ['query', 'cm'],
  needs: ['port'],
  async run(view) {
    const ports = (await view.ports()).filter(isEthernet);
    if (ports.length === 0) return [skipped(null, 'no port is on Ethernet')];
    return ports.map((port) => mtuFinding(view, port));
  },
};

function mtuFinding(view: View, port: PortEntry): Finding {
  const subject = titleOf(port);
  const netdev = port.netdevs.find(({ mtu }) => mtu !== null);
  const active = Number(port.active_mtu?.name ?? Number.NaN);
  if (netdev === undefined || netdev.mtu === null || !Number.isInteger(active)) {
    return skipped(subject, `${subject}: the MTU of the port or of its network device is not known`);
  }
  const most = Number(port.max_mtu?.name ?? MTUS[0]);
  const room = netdev.mtu - ROCE_OVERHEAD;
  const fits = MTUS.find((mtu) => mtu <= room && mtu <= most) ?? MTUS[MTUS.length - 1] ?? 256;
  const shown = `${subject}: MTU ${active}, network device ${netdev.name} ${netdev.mtu}`;
  if (active > netdev.mtu) {
    return {
      subject,
      status: 'warning',
      fact: `${shown}: its packets do not fit the network device`,
      repair: `ip link set ${netdev.name} mtu ${active + JUMBO_ROOM}${rootWord(view)}, and the same on the switch and the peers`,
    };
  }
  if (active < fits) {
    return {
      subject,
      status: 'warning',
      fact: `${shown}, which has room for ${fits}`,
      meaning:
        'the port has not followed its network device: transfers are slower than they could be, or fail where the peer uses more',
      repair: `ip link set ${netdev.name} down && ip link set ${netdev.name} up${rootWord(view)}`,
    };
  }
  return ok(subject, active < most ? `${shown}; ${most} needs ${most + JUMBO_ROOM} there` : shown);
}

/** 4200 is what people set for 4096. */
const JUMBO_ROOM = 104;
