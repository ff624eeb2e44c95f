/** rdma_getaddrinfo(3): names and services into addresses, port space and, where ibacm runs, routes. */
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { PortSpace, type PortSpaceName, RaiFlag } from '../abi/rdmacm-codes.ts';
import { AF, decodeSocketAddress } from '../abi/sockaddr.ts';
import { QpType } from '../abi/verbs-codes.ts';
import { errnoText, errnoValue } from '../explain/errno.ts';
import { Failure } from '../explain/failure.ts';
import type { CmAddrinfo, CmGetaddrinfoResult } from '../model/cm.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { MissingLibraryError } from '../native/errors.ts';
import { AddrinfoError, Librdmacm, type NativeAddrinfo } from '../native/librdmacm.ts';
import type { Machine } from '../system/machine.ts';
import { DeadlineError, within } from '../waiting/deadline.ts';
import { checkDevices, noLibrary } from './availability.ts';
import { orInterrupted } from './interruption.ts';
import { addressJson } from './session.ts';

export interface AddrinfoQuery {
  readonly node: string | null;
  readonly service: string | null;
  readonly portSpace: PortSpaceName;
  readonly passive: boolean;
  readonly numeric: boolean;
  readonly noRoute: boolean;
  readonly family: 'any' | 'inet' | 'inet6' | 'ib';
  readonly timeoutMs: number;
}

const FAMILIES = { any: 0, inet: AF.INET, inet6: AF.INET6, ib: AF.IB } as const;
const EAI_SYSTEM = -11;

/** Asks the library. It wants a device to be there, and never opens it. */
export async function getaddrinfo(
  query: AddrinfoQuery,
  machine: Machine,
  signal: AbortSignal | null,
): Promise<CmGetaddrinfoResult> {
  const { node, service } = query;
  const base = { schema: SCHEMA_IDS.cmGetaddrinfo, node, service } as const;
  const started = performance.now();
  try {
    const found = await ask(query, machine, signal);
    const duration_ms = Math.round((performance.now() - started) * 1000) / 1000;
    return { ...base, error: null, duration_ms, results: found.map(addrinfoJson) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...base, error: error.toJSON(), duration_ms: null, results: [] };
  }
}

async function ask(
  query: AddrinfoQuery,
  machine: Machine,
  signal: AbortSignal | null,
): Promise<NativeAddrinfo[]> {
  const { node, service, portSpace, passive, numeric, noRoute, family, timeoutMs } = query;
  const flags =
    (passive ? RaiFlag.PASSIVE : 0) |
    (numeric ? RaiFlag.NUMERICHOST : 0) |
    (noRoute ? RaiFlag.NOROUTE : 0) |
    (family === 'any' ? 0 : RaiFlag.FAMILY);
  const isDatagram = portSpace === 'UDP' || portSpace === 'IPOIB';
  const name = `${node ?? '*'} ${service ?? ''}`.trim();
  try {
    const library = new Librdmacm();
    const lookup = library.getaddrinfo(node, service, {
      ai_flags: flags,
      ai_family: FAMILIES[family],
      ai_port_space: PortSpace.valueOf(portSpace),
      ai_qp_type: QpType.valueOf(isDatagram ? 'UD' : 'RC'),
    });
    const what = `rdma_getaddrinfo of ${name}`;
    return await orInterrupted(signal, what, within(timeoutMs, what, lookup));
  } catch (error) {
    if (error instanceof MissingLibraryError) throw noLibrary(machine, error);
    if (error instanceof DeadlineError) {
      throw new Failure('TIMED_OUT', error.message, 'use a numeric address, or look at /etc/resolv.conf');
    }
    if (!(error instanceof AddrinfoError)) throw error;
    const isErrno = error.result === -1 || error.result === EAI_SYSTEM;
    // The library counts the devices before it looks anything up.
    if (isErrno && error.errno === constants.errno.ENODEV) throw noDeviceFor(machine, error);
    throw new Failure(
      'UNKNOWN_HOST',
      `rdma_getaddrinfo of ${name} failed: ${isErrno ? errnoText(error.errno) : `${error.reason} (${error.result})`}`,
      'check the spelling, getent hosts NAME, getent services NAME; or give numbers',
      { errno: isErrno ? errnoValue(error.errno) : null, cause: error },
    );
  }
}

/** ENODEV of the library: no device at all, or none that it can use. */
function noDeviceFor(machine: Machine, error: AddrinfoError): Failure {
  try {
    checkDevices(machine);
  } catch (failure) {
    if (failure instanceof Failure) return failure;
    throw failure;
  }
  return new Failure(
    'NO_DEVICE',
    'librdmacm finds no device that it can use',
    'rdmatool list shows the devices, and what is wrong with each',
    { errno: errnoValue(error.errno), cause: error },
  );
}

function addrinfoJson({
  values,
  source,
  destination,
  sourceName,
  destinationName,
  routeLength,
}: NativeAddrinfo): CmAddrinfo {
  const address = (raw: Uint8Array | null) => {
    const decoded = raw && decodeSocketAddress(raw);
    return decoded && addressJson(decoded);
  };
  const families = { [AF.INET]: 'INET', [AF.INET6]: 'INET6', [AF.IB]: 'IB' } as const;
  const family = values.ai_family === AF.INET || values.ai_family === AF.INET6 || values.ai_family === AF.IB;
  return {
    flags: values.ai_flags,
    family: {
      value: values.ai_family,
      name: family ? families[values.ai_family as keyof typeof families] : null,
    },
    qp_type: QpType.show(values.ai_qp_type),
    port_space: PortSpace.show(values.ai_port_space),
    src_addr: address(source),
    dst_addr: address(destination),
    src_canonname: sourceName,
    dst_canonname: destinationName,
    route_len: routeLength,
  };
}
