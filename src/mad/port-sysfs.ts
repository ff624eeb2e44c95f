/**
 * What sysfs tells of ports, read as libibumad reads it: through the C library, under the same paths, so that a
 * simulated fabric is seen too.
 */
import { constants } from 'node:os';
import { isZeroGid } from '../abi/ib-types.ts';
import { parseGid } from '../datagram/field.ts';
import { directoryNames, readFileText } from '../native/descriptor.ts';
import { NativeCallError } from '../native/errors.ts';
import type { GidEntry, UmadDevice, UmadPortAttributes } from './backend.ts';

const DEVICES = '/sys/class/infiniband';
const NODES = '/sys/class/infiniband_mad';

export interface UmadNode {
  /** Of the device node: `umad0`. */
  readonly name: string;
  readonly device: string;
  readonly port: number;
}

/** Every umadN, by number; null without the module ib_umad. */
export function readNodes(): UmadNode[] | null {
  const names = directoryNames(NODES);
  if (names === null) return null;
  const numbers = names.flatMap((name) => /^umad(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  return numbers
    .sort((a, b) => a - b)
    .flatMap((number) => {
      const name = `umad${number}`;
      const device = readFileText(`${NODES}/${name}/ibdev`);
      const port = readFileText(`${NODES}/${name}/port`);
      return device === null || port === null ? [] : [{ name, device, port: Number(port) }];
    });
}

/** Throws NativeCallError where there is no such device. */
export function readDevice(name: string): UmadDevice {
  const type = readFileText(`${DEVICES}/${name}/node_type`);
  if (type === null) throw new NativeCallError('open', constants.errno.ENOENT);
  const ports = (directoryNames(`${DEVICES}/${name}/ports`) ?? []).map(Number);
  return { node_type: Number.parseInt(type, 10), numports: ports.filter((port) => port > 0).length };
}

/** Throws NativeCallError where there is no such port. */
export function readPort(device: string, port: number): UmadPortAttributes {
  const attribute = (name: string): string | null =>
    readFileText(`${DEVICES}/${device}/ports/${port}/${name}`);
  const state = attribute('state');
  if (state === null) throw new NativeCallError('open', constants.errno.ENOENT);
  // `4: ACTIVE`, `0x1f`.
  const number = (text: string | null): number =>
    Number.parseInt(text ?? '0', text?.startsWith('0x') ? 16 : 10);
  const [own] = readGids(device, port);
  const view = own ? new DataView(own.gid.buffer, own.gid.byteOffset) : null;
  return {
    state: number(state),
    base_lid: number(attribute('lid')),
    sm_lid: number(attribute('sm_lid')),
    gid_prefix: view?.getBigUint64(0) ?? 0n,
    port_guid: view?.getBigUint64(8) ?? 0n,
    link_layer: attribute('link_layer') ?? 'InfiniBand',
  };
}

/** The GID table of a port, without its empty places. */
export function readGids(device: string, port: number): GidEntry[] {
  const folder = `${DEVICES}/${device}/ports/${port}`;
  const indexes = (directoryNames(`${folder}/gids`) ?? []).map(Number).sort((a, b) => a - b);
  return indexes.flatMap((index) => {
    const text = readFileText(`${folder}/gids/${index}`)?.trim();
    if (!text) return [];
    const gid = parseGid(text);
    if (isZeroGid(gid)) return [];
    return [{ index, gid, type: readFileText(`${folder}/gid_attrs/types/${index}`)?.trim() ?? null }];
  });
}
