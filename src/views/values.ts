/** Single values in words and units. */
import { bytesText, sizeText } from '../explain/quantities.ts';
import type { EnumJson } from '../layout/enumeration.ts';
import type { FlagsJson } from '../layout/flags.ts';

/** `ACTIVE (4)`, or `unknown (9)`: the number is always there. */
export const enumText = (shown: EnumJson): string => `${shown.name ?? 'unknown'} (${shown.value})`;

const GID_TYPES: Readonly<Record<string, string>> = { IB: 'IB', ROCE_V1: 'RoCE v1', ROCE_V2: 'RoCE v2' };

/** `RoCE v2`, as the kernel's sysfs calls it. */
export const gidTypeText = (type: EnumJson): string => GID_TYPES[type.name ?? ''] ?? enumText(type);

/** `0x7: RDMA_READ RNR_RETRY`, with what no name covers in hexadecimal. */
export function flagsText(shown: FlagsJson): string {
  const unknown = shown.unknown === '0x0' ? [] : [`unknown ${shown.unknown}`];
  const names = [...shown.flags, ...unknown].join(' ');
  return names === '' ? shown.value : `${shown.value}: ${names}`;
}

/** `0xefa2 (61346)`. */
export const hexAndDecimal = (value: number): string => `0x${value.toString(16)} (${value})`;

/** The page sizes of a page_size_cap: `4 KiB 2 MiB 1 GiB`, as ranges where they run. */
export function pageSizesText(mask: string): string {
  const bits = Array.from({ length: 64 }, (_, bit) => bit).filter(
    (bit) => (BigInt(mask) >> BigInt(bit)) & 1n,
  );
  const runs: [number, number][] = [];
  for (const bit of bits) {
    const last = runs.at(-1);
    if (last && last[1] === bit - 1) last[1] = bit;
    else runs.push([bit, bit]);
  }
  const size = (bit: number): string => sizeText(1n << BigInt(bit));
  return runs.map(([from, to]) => (from === to ? size(from) : `${size(from)} to ${size(to)}`)).join(', ');
}

/** `100 Gb/s (4X EDR)`; what is not known stays a number. */
export const rateText = (rate: number | null, width: EnumJson | null, speed: EnumJson | null): string =>
  `${rate === null ? '?' : rate} Gb/s (${codesText(width, speed)})`;

/** `4X EDR`, or `4X speed code 512`. */
export function codesText(width: EnumJson | null, speed: EnumJson | null): string {
  const part = (shown: EnumJson | null, what: string): string =>
    shown === null ? '?' : (shown.name ?? `${what} ${shown.value}`);
  return `${part(width, 'width code')} ${part(speed, 'speed code')}`;
}

/** Microseconds in a unit that people read, with up to four digits: `134.2 ms`. */
export function durationText(microseconds: number): string {
  const units = [
    ['s', 1e6],
    ['ms', 1e3],
    ['us', 1],
  ] as const;
  const [unit, size] = units.find(([, size]) => microseconds >= size) ?? units[2];
  return `${Number((microseconds / size).toPrecision(4))} ${unit}`;
}

/** Bytes up to the last that is not zero, eight to a group. */
export function hexText(hex: string): string {
  const shown = hex.replace(/(00)+$/, '');
  if (shown === '') return `${bytesText(hex.length / 2)} of zeros`;
  const groups = shown.match(/.{1,16}/g) ?? [];
  return shown.length === hex.length ? groups.join(' ') : `${groups.join(' ')} and zeros`;
}
