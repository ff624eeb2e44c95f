const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] as const;

/** Bytes in the largest binary unit that divides them: `1 GiB`, `8928 bytes`. */
export function sizeText(bytes: number | bigint): string {
  let value = BigInt(bytes);
  let unit = 0;
  while (value !== 0n && value % 1024n === 0n && unit < UNITS.length - 1) {
    value /= 1024n;
    unit++;
  }
  return value === 1n && unit === 0 ? '1 byte' : `${value} ${UNITS[unit]}`;
}

/** Bytes with up to four digits, in the binary unit that leaves few before the point: `1.205 MiB`, `512 bytes`. */
export function aboutSize(bytes: bigint): string {
  let unit = 0;
  let value = Number(bytes);
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return unit === 0 ? sizeText(bytes) : `${Number(value.toPrecision(4))} ${UNITS[unit]}`;
}

const BIT_RATES = ['b/s', 'kb/s', 'Mb/s', 'Gb/s', 'Tb/s'] as const;

/** Bytes a second as the rate of a link is written: `12.5 Gb/s`. */
export function bitRateText(bytesPerSecond: number): string {
  let unit = 0;
  let value = bytesPerSecond * 8;
  while (Math.abs(value) >= 1000 && unit < BIT_RATES.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${Number(value.toPrecision(4))} ${BIT_RATES[unit]}`;
}

/** `1 byte`, `256 bytes`. */
export const bytesText = (count: number | string | null): string =>
  `${count} ${`${count}` === '1' ? 'byte' : 'bytes'}`;
