import { gidText } from '../abi/ib-types.ts';
import { GidType } from '../abi/verbs-codes.ts';
import type { Gid } from '../model/query-device.ts';
import { MissingLibraryError, MissingSymbolError, NativeCallError } from '../native/errors.ts';
import { Libibumad } from '../native/libibumad.ts';

/** A port as libibumad has it. */
export interface UmadGidPort {
  readonly port: number;
  /** `InfiniBand`. */
  readonly linkLayer: string;
  /** The one at index 0, of subnet prefix and port GUID. */
  readonly gid: Gid;
}

export interface UmadGidDevice {
  readonly name: string;
  readonly ports: readonly UmadGidPort[];
}

/**
 * Devices that only libibumad knows, as where a fabric is simulated under it. None where there is no libibumad, nor a
 * device.
 */
export async function umadDevices(): Promise<UmadGidDevice[]> {
  try {
    const umad = new Libibumad();
    const devices: UmadGidDevice[] = [];
    for (const name of await umad.deviceNames()) {
      const device = await orNone(umad.device(name));
      if (device === null) continue;
      const ports: UmadGidPort[] = [];
      // A switch has its management port alone, 0.
      const numbers = device.node_type === SWITCH ? [0] : range(device.numports);
      for (const number of numbers) {
        const port = await orNone(umad.port(name, number));
        if (port === null) continue;
        const bytes = new Uint8Array(16);
        const view = new DataView(bytes.buffer);
        view.setBigUint64(0, port.gid_prefix);
        view.setBigUint64(8, port.port_guid);
        const type = GidType.show(GidType.valueOf('IB'));
        ports.push({
          port: number,
          // libibumad says IB where sysfs has no link layer.
          linkLayer: port.link_layer === 'IB' ? 'InfiniBand' : port.link_layer,
          gid: { index: 0, gid: gidText(bytes), type, netdev: null, ipv4: null },
        });
      }
      devices.push({ name, ports });
    }
    return devices;
  } catch (error) {
    if (error instanceof MissingLibraryError || error instanceof MissingSymbolError) return [];
    throw error;
  }
}

const SWITCH = 2;
const MOST_PORTS = 254;
const range = (count: number): number[] =>
  Array.from({ length: Math.min(Math.max(count, 0), MOST_PORTS) }, (_, index) => index + 1);

/** libibumad makes a name up where it finds no device: what it then cannot tell of is none. */
async function orNone<T>(asking: Promise<T>): Promise<T | null> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof NativeCallError) return null;
    throw error;
  }
}
