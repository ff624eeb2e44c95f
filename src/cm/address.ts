/** Addresses as people write them, and their resolution. */
import { lookup } from 'node:dns/promises';
import { isIP, isIPv4 } from 'node:net';
import { ipv4OfGid } from '../abi/ib-types.ts';
import type { SocketAddress } from '../abi/sockaddr.ts';
import { ipv6Bytes } from '../abi/sockaddr.ts';
import { Failure } from '../explain/failure.ts';
import type { Machine } from '../system/machine.ts';
import { DeadlineError, within } from '../waiting/deadline.ts';

/** The default service port, as rping has it. */
export const DEFAULT_PORT = 7174;
/** Of a domain name, characters. RFC 1035. */
const LONGEST_NAME = 253;
/** Of a network device: the kernel has an int for it. */
const HIGHEST_INDEX = 2 ** 31 - 1;

/** What the user named: a host, and a port where one was given. */
export interface Endpoint {
  readonly host: string;
  readonly port: number | null;
  /** Name of the interface, or its index, of a link-local IPv6 address. */
  readonly scope: string | null;
}

/** A text that is no address; the message says why. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError';
}

/**
 * Reads `ADDR`, `ADDR:PORT`, `[ADDR6]:PORT`, `ADDR6%SCOPE` or a name in place of ADDR.
 * Throws EndpointError; nothing is resolved here.
 */
export function parseEndpoint(text: string): Endpoint {
  const bracketed = /^\[([^\]]+)\](?::(.*))?$/.exec(text);
  if (bracketed) return endpoint(text, bracketed[1] ?? '', bracketed[2] ?? null);
  // More than one colon: an IPv6 address without brackets has no room for a port.
  if (text.split(':').length > 2) return endpoint(text, text, null);
  const [host = '', port] = text.split(':');
  return endpoint(text, host, port ?? null);
}

function endpoint(text: string, named: string, port: string | null): Endpoint {
  const [host = '', ...scopes] = named.split('%');
  if (host === '') throw new EndpointError(`'${text}' names no address`);
  if (host.length > LONGEST_NAME) {
    throw new EndpointError(`a name of ${host.length} characters is none: at most ${LONGEST_NAME}`);
  }
  const isNumeric = isIP(host) !== 0;
  if (host.includes(':') && !isNumeric) throw new EndpointError(`'${text}' is not an IPv6 address`);
  if (/^[0-9.]+$/.test(host) && !isNumeric) throw new EndpointError(`'${text}' is not an IPv4 address`);
  if (scopes.length > 1 || scopes[0] === '') throw new EndpointError(`'${text}' has no interface after %`);
  if (scopes.length === 1 && !host.includes(':')) {
    throw new EndpointError(`'${text}': only an IPv6 address has a scope`);
  }
  return { host, port: port === null ? null : parsePort(port), scope: scopes[0] ?? null };
}

/** A service port, 1 to 65535; 0 lets the kernel choose one. Throws EndpointError. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^[0-9]+$/.test(text) || port > 65535) {
    throw new EndpointError(`'${text}' is not a port: a whole number from 0 to 65535`);
  }
  return port;
}

/**
 * The socket address of an endpoint; a name is looked up, the family of `like` first where it is given.
 * Throws Failure: UNKNOWN_HOST, TIMED_OUT.
 * @param defaultPort where the endpoint has none
 */
export async function resolveEndpoint(
  { host, port, scope }: Endpoint,
  defaultPort: number,
  machine: Machine,
  timeoutMs: number,
  like: SocketAddress | null = null,
): Promise<SocketAddress> {
  const address = isIP(host) === 0 ? await lookUp(host, timeoutMs, like) : host;
  if (isIPv4(address)) return { family: 'ipv4', address, port: port ?? defaultPort, scopeId: 0 };
  return {
    family: 'ipv6',
    address,
    port: port ?? defaultPort,
    scopeId: scope === null ? 0 : scopeIdOf(scope, address, machine),
  };
}

async function lookUp(host: string, timeoutMs: number, like: SocketAddress | null): Promise<string> {
  const family = like === null ? 0 : like.family === 'ipv4' ? 4 : 6;
  try {
    return (await within(timeoutMs, `looking up ${host}`, lookup(host, { family }))).address;
  } catch (error) {
    if (error instanceof DeadlineError) {
      throw new Failure('TIMED_OUT', error.message, 'use a numeric address, or look at /etc/resolv.conf');
    }
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(
      'UNKNOWN_HOST',
      `${host}: the name does not resolve to an ${family === 0 ? 'IP' : `IPv${family}`} address (${code ?? 'no answer'})`,
      code === 'EAI_AGAIN'
        ? 'no name server has answered: see /etc/resolv.conf (in a container, its DNS settings); or give a numeric address'
        : 'check the spelling, getent hosts NAME, and /etc/hosts; or give a numeric address',
      { cause: error },
    );
  }
}

function scopeIdOf(scope: string, address: string, machine: Machine): number {
  const index = /^[0-9]+$/.test(scope)
    ? Number(scope)
    : // A name of an interface is no path.
      Number(scope.includes('/') ? 0 : (machine.sysfs.read(`class/net/${scope}/ifindex`) ?? 0));
  if (index > 0 && index <= HIGHEST_INDEX) return index;
  throw new Failure(
    'UNKNOWN_HOST',
    `${address}%${scope}: there is no network device ${scope}`,
    'ip link shows the network devices',
  );
}

/** Whether a numeric address is that of a group. */
function isMulticast(address: string): boolean {
  const first = Number.parseInt(address, isIPv4(address) ? 10 : 16);
  return isIPv4(address) ? first >= 224 && first <= 239 : isIP(address) === 6 && first >> 8 === 0xff;
}

/** No one answers for a group: a handshake with it would end with its time. Throws Failure USAGE. */
export function refuseMulticast({ host }: Endpoint): void {
  if (!isMulticast(host)) return;
  throw new Failure(
    'USAGE',
    `${host} is a multicast address: a connection has one peer`,
    `rdmatool cm join ${host} joins the group`,
  );
}

/**
 * The socket address of a multicast group. Throws Failure: UNKNOWN_HOST, TIMED_OUT, USAGE for what is no group.
 */
export async function resolveMulticast(
  endpoint: Endpoint,
  machine: Machine,
  timeoutMs: number,
): Promise<SocketAddress> {
  const group = await resolveEndpoint({ ...endpoint, port: 0 }, 0, machine, timeoutMs);
  if (isMulticast(group.address)) return group;
  throw new Failure(
    'USAGE',
    `${group.address} is not a multicast address`,
    'groups are 224.0.0.0 to 239.255.255.255, and ff00:: on',
  );
}

export { socketAddressText as endpointText } from '../abi/sockaddr.ts';

/** Loopback has no RDMA device behind it, though soft-RoCE can be put there. */
export const isLoopback = ({ family, address }: SocketAddress): boolean =>
  family === 'ipv4'
    ? address.startsWith('127.')
    : family === 'ipv6' && (address === '::1' || ipv4OfGid(ipv6Bytes(address))?.startsWith('127.') === true);
