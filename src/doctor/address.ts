/** The way to an address: route, device and GID, neighbour, and an attempt to connect. */
import { isIPv4 } from 'node:net';
import { DEFAULT_PORT, type Endpoint, endpointText, isLoopback, resolveEndpoint } from '../cm/address.ts';
import { Failure } from '../explain/failure.ts';
import { gatewayOf, parseArp } from '../system/network.ts';
import { DeadlineError, within } from '../waiting/deadline.ts';
import { type Check, type Finding, ok, skipped } from './check.ts';
import type { View, Way } from './view.ts';

const LOOK_UP_MS = 5000;
const ROUTE_MS = 2000;

/** An address as the user gave it, with its interface. */
export const endpointName = ({ host, port, scope }: Endpoint): string => {
  const address = scope === null ? host : `${host}%${scope}`;
  if (port === null) return address;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
};

export const routeCheck: Check = {
  id: 'route',
  what: 'ADDR resolves, and the routes of this machine lead to it: through which network device',
  purposes: ['cm'],
  ofAddress: true,
  needs: [],
  async run(view) {
    const { peer, machine } = view;
    if (peer === null) return [];
    try {
      const { address, scopeId } = await resolveEndpoint(peer, DEFAULT_PORT, machine, LOOK_UP_MS);
      if (scopeId === 0 && /^fe[89ab]/i.test(address)) {
        return [
          {
            subject: address,
            status: 'failure',
            fact: `${address} is link-local: it needs the network device that it is behind`,
            repair: `rdmatool doctor ${address}%NETDEV; rdmatool list shows the network devices with RDMA`,
          },
        ];
      }
      const scoped = scopeId === 0 ? address : `${address}%${peer.scope ?? scopeId}`;
      const answer = await within(ROUTE_MS, `the route to ${address}`, machine.network.sourceOf(scoped));
      if ('errno' in answer) {
        return [
          {
            subject: address,
            status: 'failure',
            fact: `no route leads to ${scoped} (${answer.errno})`,
            repair: `ip route get ${address}; give a network device an address in its network, or add a route`,
          },
        ];
      }
      const source = answer.address.replace(/%.*$/, '');
      const netdev =
        machine.network
          .addresses()
          .find((one) => one.address === source && (scopeId === 0 || one.scopeId === scopeId))?.netdev ??
        null;
      view.way = { destination: address, source, netdev };
      const through = netdev === null ? '' : ` through ${netdev}`;
      const from = address === source ? 'an address of this machine' : `reached${through} from ${source}`;
      const named = peer.host === address ? address : `${peer.host} is ${address}, and`;
      return [
        ok(
          address,
          `${named} ${peer.host === address ? 'is ' : ''}${from}${address === source ? through.replace('through', 'on') : ''}`,
        ),
      ];
    } catch (error) {
      if (error instanceof Failure) {
        return [{ subject: peer.host, status: 'failure', fact: error.message, repair: error.hint }];
      }
      if (error instanceof DeadlineError) {
        return [
          { subject: peer.host, status: 'failure', fact: error.message, repair: `ip route get ${peer.host}` },
        ];
      }
      throw error;
    }
  },
};

/** The hardware address of an IPoIB network device ends in its GID. */
const IPOIB_ADDRESS_BYTES = 20;

/** A port and GID index that serve a source address. */
interface Served {
  readonly title: string;
  readonly device: string;
  readonly index: number | null;
}

/** Which port serves the source address of a way. As the connection manager of the kernel finds it. */
async function servingPort(view: View, { source, netdev }: Way): Promise<Served | null> {
  const ports = await view.gidPorts();
  const hardware =
    netdev === null ? [] : (view.machine.sysfs.read(`class/net/${netdev}/address`)?.trim() ?? '').split(':');
  const ofIpoib =
    hardware.length === IPOIB_ADDRESS_BYTES
      ? hardware.slice(-16).join('').match(/.{4}/g)?.join(':')
      : undefined;
  const candidates = ports.flatMap(({ device, title, port }) =>
    (port.gids ?? []).flatMap((gid) => {
      const fits =
        ofIpoib === undefined
          ? (gid.ipv4 ?? gid.gid) === source &&
            (gid.netdev === null || netdev === null || gid.netdev === netdev)
          : gid.gid_full === ofIpoib;
      return fits ? [{ title, device: device.name, index: gid.index, type: gid.type?.name ?? null }] : [];
    }),
  );
  const best = candidates.find(({ type }) => type === 'ROCE_V2') ?? candidates[0];
  if (best) return best;
  // iWARP has no GIDs of addresses: the device stands on the network device.
  const over = ports.find(({ device }) => netdev !== null && device.sysfs.netdevs.includes(netdev));
  return over?.device.transport?.name === 'IWARP'
    ? { title: over.title, device: over.device.name, index: null }
    : null;
}

export const routeDeviceCheck: Check = {
  id: 'route-device',
  what: 'the network device of that route belongs to an RDMA device: which, and which GID',
  purposes: ['cm'],
  ofAddress: true,
  needs: ['route', 'device'],
  async run(view): Promise<Finding[]> {
    const { way } = view;
    if (way === null) return [];
    const served = await servingPort(view, way);
    if (served !== null) {
      const gid = served.index === null ? '' : `, GID index ${served.index}`;
      return [ok(served.title, `${served.title} would be used${gid} (${way.source})`)];
    }
    const served4 = (await view.gidPorts()).flatMap(({ title, port }) =>
      (port.gids ?? []).flatMap(({ ipv4, scope }) =>
        ipv4 !== null && scope === 'routable' ? [{ ipv4, title }] : [],
      ),
    );
    const own = served4[0]?.ipv4 ?? null;
    return [
      {
        subject: way.netdev,
        status: 'failure',
        fact: `the way to ${way.destination} leaves through ${way.netdev ?? 'an unknown network device'} (${way.source}), which has no RDMA device`,
        meaning:
          own === null
            ? 'no RDMA device here has an IP address'
            : `addresses with RDMA are: ${[...new Set(served4.map(({ ipv4, title }) => `${ipv4} (${title})`))].join(', ')}`,
        // The unspecified address leads there, too.
        repair: isLoopback(socketAddress({ addr: way.source, port: 0 }))
          ? `a loopback address says nothing of RDMA: rdmatool doctor ${own ?? 'ADDR'}, with the address of ${own === null ? 'the peer' : 'this machine that has RDMA, or of the peer'}`
          : `use an address of the peer that is reached through a network device with RDMA (rdma link), or set the source: rdmatool cm resolve ${way.destination} --bind ADDR`,
      },
    ];
  },
};

export const neighbourCheck: Check = {
  id: 'neighbour',
  what: 'the next hop to ADDR answers ARP, as far as was asked already',
  purposes: ['cm'],
  ofAddress: true,
  needs: ['route-device'],
  run(view) {
    const { way, machine } = view;
    if (way === null) return [];
    const { destination, source, netdev } = way;
    if (destination === source || netdev === 'lo') {
      return [ok(destination, 'no neighbour is needed: the address is of this machine')];
    }
    if (!isIPv4(destination) || netdev === null) {
      return [skipped(destination, `neighbours of IPv6 are not looked at: ip -6 neigh show ${destination}`)];
    }
    const gateway = gatewayOf(machine.files.read('/proc/net/route') ?? '', destination, netdev);
    const hop = gateway ?? destination;
    const title = gateway === null ? destination : `the gateway ${gateway}`;
    const known = parseArp(machine.files.read('/proc/net/arp') ?? '').find(
      (one) => one.address === hop && one.netdev === netdev,
    );
    if (known === undefined) return [ok(hop, `${title}: not asked for its hardware address yet`)];
    if (known.isComplete) return [ok(hop, `${title} is ${known.hardware} on ${netdev}`)];
    return [
      {
        subject: hop,
        status: 'warning',
        fact: `${title} has not answered ARP on ${netdev}`,
        meaning: 'it is down, it has another address, or a VLAN or a cable is missing',
        repair: `ping -c 3 -I ${netdev} ${hop}; ip neigh show ${hop}`,
      },
    ];
  },
};

export const connectCheck: Check = {
  id: 'connect',
  what: 'an attempt to connect to ADDR',
  purposes: ['cm'],
  ofAddress: true,
  needs: ['route-device', 'rdma_cm-node', 'librdmacm'],
  async run(view) {
    const { peer, environment } = view;
    if (peer === null) return [];
    const result = await environment.connect(peer);
    const subject = result.peer === null ? endpointName(peer) : endpointText(socketAddress(result.peer));
    if (result.error === null) {
      const total = result.steps.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
      return [
        ok(
          subject,
          `${subject} took the connection, over ${result.device ?? 'an unknown device'}, in ${total.toFixed(1)} ms`,
        ),
      ];
    }
    const { message, hint } = result.error;
    const last = result.steps.at(-1);
    const isUnheard =
      last?.step === 'connect' && ['INVALID_SERVICE_ID', 'ECONNREFUSED'].includes(last.status_name ?? '');
    // The port is our own guess then: that the peer refuses tells that the way is good.
    const isGuess = isUnheard && peer.port === null;
    return [
      {
        subject,
        status: isGuess ? 'warning' : 'failure',
        fact: message,
        ...(isUnheard
          ? {
              meaning: `the way there is good: the peer's connection manager has answered${isGuess ? `; ${DEFAULT_PORT} is only the port of rping` : ''}`,
            }
          : {}),
        repair: isGuess
          ? `rping -s -v on the peer; or name the port of its server: rdmatool doctor ${peer.host}:PORT`
          : hint,
      },
    ];
  },
};

const socketAddress = ({ addr, port }: { readonly addr: string; readonly port: number }) => ({
  family: isIPv4(addr) ? ('ipv4' as const) : ('ipv6' as const),
  address: addr,
  port,
  scopeId: 0,
});
