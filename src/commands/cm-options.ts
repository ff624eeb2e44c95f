/** What the `cm` commands have in common: options, and their values as the core takes them. */
import type { Endpoint } from '../cm/address.ts';
import type { BackendChoice, CmSettings } from '../cm/session.ts';
import { choice, flag, integerBetween, milliseconds, type OptionValues, text, UsageError } from './spec.ts';

export const PORT_SPACE = choice(
  '--ps <space>',
  'port space: tcp (reliable connections), udp (datagrams), ib or ipoib',
  ['tcp', 'udp', 'ib', 'ipoib'],
  'tcp',
);

const PORT = integerBetween('-p, --port <N>', 'service port, 7174 unless the address names one', 0, 65535);

const TIMEOUT = milliseconds(
  '--timeout <ms>',
  'time for each step, 2000 for address and route and 10000 for the handshake unless given',
);

/** Who speaks to the kernel. */
export const BACKEND_OPTIONS = {
  backend: choice(
    '--backend <name>',
    'librdmacm, or kernel: write the commands to /dev/infiniband/rdma_cm without the library',
    ['librdmacm', 'kernel'],
    'librdmacm',
  ),
  showBytes: flag('--show-bytes', 'with --backend kernel: show each command, its bytes and the answer'),
};

/** The choice as the core takes it. Throws UsageError. */
export function backendOf({ backend, showBytes }: OptionValues<typeof BACKEND_OPTIONS>): BackendChoice {
  if (showBytes && backend !== 'kernel') {
    throw new UsageError('--show-bytes goes with --backend kernel: librdmacm does not show what it writes');
  }
  return { backend, showBytes };
}

export const ID_OPTIONS = {
  ps: PORT_SPACE,
  timeout: TIMEOUT,
  tos: integerBetween('--tos <N>', 'type of service of the id, 0 to 255', 0, 255),
  ackTimeout: integerBetween(
    '--ack-timeout <N>',
    'local ACK timeout of the queue pair, 4.096 us x 2^N, 0 to 31',
    0,
    31,
  ),
  reuseAddr: flag('--reuse-addr', 'share a local address and port with others that do too'),
  afOnly: flag('--af-only', 'an IPv6 wildcard address does not stand for IPv4'),
  ...BACKEND_OPTIONS,
};

export const BIND_OPTIONS = { port: PORT, ...ID_OPTIONS };

export const PEER_OPTIONS = {
  ...BIND_OPTIONS,
  bind: text('--bind <addr>', 'local address, where the one that the route gives is not wanted'),
};

const {
  ps: _portSpace,
  afOnly: _afOnly,
  reuseAddr: _reuseAddr,
  ackTimeout: _ackTimeout,
  ...DATAGRAM_ID_OPTIONS
} = ID_OPTIONS;

export const ADDRESS_HELP =
  'An address is IPv4, IPv6 (a link-local one with its interface, fe80::1%eth0) or a name; its service port stands after it, as 10.9.1.1:7174 or [fd09:1::1]:7174, or in --port.';

export const PEER_ARGUMENT = {
  usage: '<address>',
  description: 'the peer: ADDR, ADDR:PORT or [ADDR6]:PORT',
};

/** What joining a group takes; its port space is a choice of its own. */
export const JOIN_OPTIONS = { ...DATAGRAM_ID_OPTIONS, bind: PEER_OPTIONS.bind };

type IdOptions = Pick<OptionValues<typeof ID_OPTIONS>, 'ps' | 'timeout' | 'tos'> &
  Partial<OptionValues<typeof ID_OPTIONS>>;

/** The common options as the core takes them. Throws UsageError. */
export async function settingsOf(
  options: IdOptions & { readonly port?: number | null; readonly bind?: string | null },
): Promise<CmSettings> {
  const { DEFAULT_PORT } = await import('../cm/address.ts');
  const PORT_SPACES = { tcp: 'TCP', udp: 'UDP', ib: 'IB', ipoib: 'IPOIB' } as const;
  return {
    portSpace: PORT_SPACES[options.ps],
    bind: typeof options.bind === 'string' ? await endpointOf(options.bind) : null,
    port: options.port ?? DEFAULT_PORT,
    timeoutMs: options.timeout,
    tos: options.tos,
    ackTimeout: options.ackTimeout ?? null,
    reuseAddr: options.reuseAddr ?? false,
    afOnly: options.afOnly ?? false,
  };
}

/** Throws UsageError for what is no address, and where --port names another port than the address. */
export async function endpointOf(text: string, asked: number | null = null): Promise<Endpoint> {
  const { EndpointError, parseEndpoint } = await import('../cm/address.ts');
  try {
    const endpoint = parseEndpoint(text);
    if (asked === null || endpoint.port === null || endpoint.port === asked) return endpoint;
    throw new UsageError(`the address says port ${endpoint.port} and --port ${asked}: give one of them`);
  } catch (error) {
    if (error instanceof EndpointError) throw new UsageError(error.message);
    throw error;
  }
}
