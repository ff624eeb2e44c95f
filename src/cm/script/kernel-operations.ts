/** Operations that only the kernel's own interface has, each by the name that the kernel's header gives it. */
import { UcmaQueryOption } from '../../abi/ucma/codes.ts';
import { Failure } from '../../explain/failure.ts';
import type { KernelCommand } from '../../model/kernel-commands.ts';
import { DEFAULT_PORT } from '../address.ts';
import type { BackendId } from '../backend.ts';
import { kernelCommandJson } from '../kernel/command-json.ts';
import type { Exchange } from '../kernel/exchange.ts';
import { KernelId } from '../kernel/id.ts';
import { writeFailure } from '../kernel/refusals.ts';
import { type Operation, operation } from './operation.ts';
import {
  ADDRESS,
  choice,
  DURATION,
  HEX_BYTES,
  ID,
  INTEGER_64,
  integer,
  one,
  option,
  optional,
  optionOr,
  text,
  toggle,
} from './parameters.ts';
import type { Stage } from './stage.ts';

const RESOLVE_MS = 2000;
const LARGEST_ROOM = 0xffff;

/** The id as the kernel backend has it. */
function kernelId(id: BackendId): KernelId {
  if (id instanceof KernelId) return id;
  throw new Failure('NOT_IN_BACKEND', 'the operation is of the kernel alone', 'use --backend kernel');
}

/** Makes a call of the kernel's own in any state of the id. */
async function exchangeOf(
  stage: Stage,
  id: string,
  call: (id: KernelId) => Promise<Exchange>,
): Promise<Exchange> {
  const found: Exchange[] = [];
  await stage.id(id).perform('query', null, async (own) => {
    found.push(await call(kernelId(own)));
  });
  const [exchange] = found;
  if (!exchange) throw new TypeError('the call came back without an exchange');
  return exchange;
}

const OPTIONS = { addr: 'ADDR', path: 'PATH', gid: 'GID', ib_service: 'IB_SERVICE' } as const;

const answered = (exchange: Exchange): { fields: KernelCommand['fields'] } => ({
  fields: kernelCommandJson(exchange).answer?.fields ?? [],
});

const ADDRESS_OF_ID = { id: one(ID), address: one(ADDRESS) };

const bindIp = operation({
  name: 'bind-ip',
  does: 'bind an id to an IP address (BIND_IP, 2)',
  positional: ADDRESS_OF_ID,
  options: {},
  async run({ id, address }, stage) {
    const local = await stage.address(address, 0);
    await stage.id(id).perform('bind_addr', 'bound', (own) => kernelId(own).bindAddr(local));
    return null;
  },
});

const bind = operation({
  name: 'bind',
  does: 'bind an id to an address of any family (BIND, 20)',
  positional: ADDRESS_OF_ID,
  options: {},
  async run({ id, address }, stage) {
    const local = await stage.address(address, 0);
    await stage.id(id).perform('bind_addr', 'bound', (own) => kernelId(own).bindAny(local));
    return null;
  },
});

const RESOLUTION = {
  from: option('--from', ADDRESS),
  timeout: optionOr('--timeout', DURATION, RESOLVE_MS),
};

const resolveIp = operation({
  name: 'resolve-ip',
  does: 'find device and neighbour of an IP address (RESOLVE_IP, 3); ends in ADDR_RESOLVED',
  positional: ADDRESS_OF_ID,
  options: RESOLUTION,
  async run({ id, address, from, timeout }, stage) {
    const peer = await stage.address(address, DEFAULT_PORT);
    const source = from && (await stage.address(from, 0, peer));
    await stage
      .id(id)
      .perform('resolve_addr', 'resolving address', (own) =>
        kernelId(own).resolveAddr(source, peer, timeout),
      );
    return null;
  },
});

const resolveAddr = operation({
  name: 'resolve-addr',
  does: 'find device and neighbour of an address of any family (RESOLVE_ADDR, 21); ends in ADDR_RESOLVED',
  positional: ADDRESS_OF_ID,
  options: RESOLUTION,
  async run({ id, address, from, timeout }, stage) {
    const peer = await stage.address(address, DEFAULT_PORT);
    const source = from && (await stage.address(from, 0, peer));
    await stage
      .id(id)
      .perform('resolve_addr', 'resolving address', (own) => kernelId(own).resolveAny(source, peer, timeout));
    return null;
  },
});

const joinIpMcast = operation({
  name: 'join-ip-mcast',
  does: 'join a multicast group by its IP address (JOIN_IP_MCAST, 16); ends in MULTICAST_JOIN',
  positional: { id: one(ID), group: one(ADDRESS) },
  options: {},
  async run({ id, group }, stage) {
    const address = await stage.address(group, 0);
    await stage.id(id).perform('join_multicast', null, (own) => kernelId(own).join(address, false, false));
    return null;
  },
});

const joinMcast = operation({
  name: 'join-mcast',
  does: 'join a multicast group by an address of any family (JOIN_MCAST, 22); ends in MULTICAST_JOIN',
  positional: { id: one(ID), group: one(ADDRESS) },
  options: { sendOnly: toggle('--send-only') },
  async run({ id, group, sendOnly }, stage) {
    const address = await stage.address(group, 0);
    await stage.id(id).perform('join_multicast', null, (own) => kernelId(own).join(address, sendOnly, true));
    return null;
  },
});

const queryRoute = operation({
  name: 'query-route',
  does: 'all that the kernel tells of the route: addresses, device, both paths (QUERY_ROUTE, 5); with a word as query',
  positional: { id: one(ID), what: optional(choice(['addr', 'path', 'gid'])) },
  options: {},
  async run({ id, what }, stage) {
    if (what !== null) return query.run({ id, what }, stage);
    return answered(await exchangeOf(stage, id, (own) => own.askRoute()));
  },
});

const query = operation({
  name: 'query',
  does: 'addresses, paths, GIDs or services of an id (QUERY, 19)',
  positional: { id: one(ID), what: one(choice(['addr', 'path', 'gid', 'ib_service'])) },
  options: {},
  async run({ id, what }, stage) {
    const asked = UcmaQueryOption.valueOf(OPTIONS[what]);
    return answered(await exchangeOf(stage, id, (own) => own.query(asked)));
  },
});

const getOption = operation({
  name: 'get-option',
  does: 'ask for an option (GET_OPTION, 13): no kernel answers, and the failure says so',
  positional: { id: one(ID) },
  options: {},
  async run({ id }, stage) {
    await stage.id(id).perform('get_option', null, (own) => kernelId(own).getOption());
    return null;
  },
});

const resolveIbService = operation({
  name: 'resolve-ib-service',
  does: 'look up a service with subnet administration (RESOLVE_IB_SERVICE, 23); ends in ADDRINFO_RESOLVED',
  positional: { id: one(ID) },
  options: { service: option('--service-id', INTEGER_64), name: option('--name', text('NAME')) },
  async run({ id, service, name }, stage) {
    await stage
      .id(id)
      .perform('resolve_ib_service', null, (own) => kernelId(own).resolveIbService(service, name));
    return null;
  },
});

const write = operation({
  name: 'write',
  does: 'any command by its number, the structure in hexadecimal, with a header that may lie: --in and --out are its sizes, --response-at the place where the address of the answer goes, --cut leaves bytes away at the end',
  positional: { id: one(ID), number: one(integer(0, 0xffffffff)), body: optional(HEX_BYTES) },
  options: {
    declared: option('--in', integer(0, LARGEST_ROOM)),
    out: optionOr('--out', integer(0, LARGEST_ROOM), 0),
    responseAt: option('--response-at', integer(0, LARGEST_ROOM)),
    cut: optionOr('--cut', integer(0, LARGEST_ROOM), 0),
  },
  async run({ id, number, body, declared, out, responseAt, cut }, stage) {
    const bytes = body ?? new Uint8Array();
    const exchange = await exchangeOf(stage, id, (own) =>
      own.write({ number, body: bytes, declared, out, responseAt, rooms: [], cut }),
    );
    const failure = writeFailure(kernelCommandJson(exchange));
    if (failure) throw failure;
    return answered(exchange);
  },
});

/** They stand in place of those of the same name that every backend has. */
export const KERNEL_OPERATIONS: readonly Operation[] = [
  bindIp,
  bind,
  resolveIp,
  resolveAddr,
  queryRoute,
  query,
  getOption,
  joinIpMcast,
  joinMcast,
  resolveIbService,
  write,
];
