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
