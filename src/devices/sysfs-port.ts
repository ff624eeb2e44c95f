/** A port as sysfs shows it, in the terms of libibverbs: for what cannot be opened, and for what verbs do not tell. */
import { isZeroGid, parseGid } from '../abi/ib-types.ts';
import { linkRateGbps } from '../abi/link-rate.ts';
import { LinkLayer, LinkSpeed, LinkWidth, PhysState, PortCap, PortState } from '../abi/verbs-codes.ts';
import type { Port, SysfsPort } from '../model/query-device.ts';
import type { Machine } from '../system/machine.ts';
import { sysfsGids } from './gids.ts';
import { failedPort, validPkeys } from './ports.ts';
import { sysfsLinkLayer } from './sysfs-device.ts';

type Link = Pick<Port, 'state' | 'phys_state' | 'link_layer' | 'active_width' | 'speed' | 'rate_gbps'>;

/** `4: ACTIVE`, `5: LinkUp`, `InfiniBand` and `100 Gb/sec (4X EDR)` as codes. What is not understood is null. */
export function linkFromSysfs(port: Pick<SysfsPort, 'state' | 'phys_state' | 'link_layer' | 'rate'>): Link {
  const code = (text: string | null): number | null => {
    const number = Number.parseInt(text ?? '', 10);
    return Number.isNaN(number) ? null : number;
  };
  const [state, physState] = [code(port.state), code(port.phys_state)];
  // A rate without a name is of SDR.
  const [, lanes, name = 'SDR'] = /^[\d.]+ Gb\/sec \((\d+X)(?: (\w+))?\)/.exec(port.rate ?? '') ?? [];
  const width = LinkWidth.entries.find(([known]) => known === lanes)?.[1];
  const speed = width === undefined ? undefined : LinkSpeed.entries.find(([known]) => known === name)?.[1];
  const told = Number.parseFloat(port.rate ?? '');
  const rate = width === undefined || speed === undefined ? null : linkRateGbps(width, speed);
  const layer = linkLayerOf(port.link_layer);
  return {
    state: state === null ? null : PortState.show(state),
    phys_state: physState === null ? null : PhysState.show(physState),
    link_layer: layer === null ? null : LinkLayer.show(layer),
    active_width: width === undefined ? null : LinkWidth.show(width),
    speed: speed === undefined ? null : LinkSpeed.show(speed),
    rate_gbps: rate ?? (Number.isNaN(told) ? null : told),
  };
}

function linkLayerOf(text: string | null): number | null {
  const name = sysfsLinkLayer(text);
  return LinkLayer.entries.find(([known]) => known === name)?.[1] ?? null;
}

/**
 * Everything that sysfs tells of a port.
 * @param reason why libibverbs does not tell the rest
 */
export function portFromSysfs(machine: Machine, device: string, shown: SysfsPort, reason: string): Port {
  const { sysfs } = machine;
  const place = `class/infiniband/${device}/ports/${shown.port}`;
  const number = (name: string): number | null => {
    const value = Number(sysfs.read(`${place}/${name}`)?.trim() || Number.NaN);
    return Number.isInteger(value) ? value : null;
  };
  const link = linkFromSysfs(shown);
  const capMask = number('cap_mask');
  const pkeys = sysfs.list(`${place}/pkeys`);
  const gids = sysfsGids(machine, device, shown.port, link.link_layer?.value ?? 0);
  const told: Partial<Port> = {
    ...link,
    lid: number('lid'),
    sm_lid: number('sm_lid'),
    sm_sl: number('sm_sl'),
    lmc: number('lid_mask_count'),
    port_cap_flags: capMask === null ? null : PortCap.show(capMask),
    gid_tbl_len: gids?.length ?? null,
    pkey_tbl_len: pkeys?.length ?? null,
    gids: gids && [...gids.gids],
    gids_from: gids && 'sysfs',
    pkeys: pkeys && validPkeys(pkeys.map((name) => number(`pkeys/${name}`) ?? 0)),
  };
  const known = Object.fromEntries(Object.entries(told).filter(([, value]) => value !== null));
  const unknown = failedPort(shown.port, { code: 'QUERY_FAILED', errno: null, message: reason, hint: '' });
  return {
    ...unknown,
    ...known,
    error: null,
    unavailable: Object.fromEntries(
      Object.entries(unknown.unavailable).filter(([key]) => !Object.hasOwn(known, key)),
    ),
  };
}

/** The GUID of a port: the lower half of its first GID (IBTA 4.1.1). As ibstat(8) has it. */
export function portGuid(machine: Machine, device: string, port: number): string | null {
  const gid = parseGid(machine.sysfs.read(`class/infiniband/${device}/ports/${port}/gids/0`)?.trim() ?? '');
  if (gid === null || isZeroGid(gid)) return null;
  return (Buffer.from(gid.subarray(8)).toString('hex').match(/.{4}/g) ?? []).join(':');
}
