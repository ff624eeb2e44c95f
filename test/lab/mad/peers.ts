/** What smpquery(8), perfquery(8) and saquery(8) print, beside our values as they would print them. */
import type { Json } from '../../../src/layout/codec.ts';

/** `Name:....value` and `name....value` lines, in their order; lines without a value are notes on the one before. */
export function peerValues(output: string): string[] {
  return output
    .split('\n')
    .map((line) => /^\t*[A-Za-z_]\w*:?\.+(.*)$/.exec(line)?.[1]?.trim())
    .filter((value) => value !== undefined);
}

const NAMES: Readonly<Record<string, string>> = {
  CA: 'Channel Adapter',
  SWITCH: 'Switch',
  ACTIVE: 'Active',
  DOWN: 'Down',
  INIT: 'Initialize',
  ARMED: 'Armed',
  LINK_UP: 'LinkUp',
  POLLING: 'Polling',
  NO_CHANGE: 'NOP',
  SDR: '2.5 Gbps',
  DDR: '5.0 Gbps',
  QDR: '10.0 Gbps',
  FDR: '14.0625 Gbps',
  EDR: '25.78125 Gbps',
  HDR: '53.125 Gbps',
  NONE: 'No Extended Speed',
};
const LANES: Readonly<Record<string, string>> = {
  '1': 'VL0',
  '2': 'VL0,VL1',
  '4': 'VL0-3',
  '8': 'VL0-7',
  '15': 'VL0-14',
};

/** Our JSON value as a number, where it is one; else as those programs write it. */
export function asPeer(name: string, value: Json): string {
  if (typeof value === 'object' && value !== null && 'flags' in value) {
    if (name.startsWith('capability')) return String(BigInt(String(value.value)));
    const flags = (value.flags as string[]).map((flag) => NAMES[flag] ?? flag);
    return flags.length > 0 ? flags.join(' or ') : String(BigInt(String(value.value)));
  }
  if (typeof value === 'object' && value !== null && 'name' in value) {
    const text = String(value.name);
    if (name === 'vl_cap' || name === 'operational_vls') return LANES[text] ?? text;
    return NAMES[text] ?? text;
  }
  if (typeof value === 'string' && /^([0-9a-f]{4}:){3}[0-9a-f]{4}$/.test(value)) {
    return String(BigInt(`0x${value.replaceAll(':', '')}`));
  }
  return numeric(String(value));
}

/** `0x10` and `16` are the same. */
export const numeric = (text: string): string =>
  /^(0x[0-9a-f]+|\d+)$/i.test(text) ? String(BigInt(text)) : text;
