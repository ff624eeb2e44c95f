/** Values of documents, tables and peers in one form, to be compared. */

export interface EnumLeaf {
  readonly value: number;
  readonly name: string | null;
}
export interface FlagsLeaf {
  readonly value: string;
  readonly flags: readonly string[];
  readonly unknown: string;
}
export type Leaf = null | boolean | number | string | EnumLeaf | FlagsLeaf;

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isFlags = (value: unknown): value is FlagsLeaf =>
  isObject(value) && Array.isArray(value['flags']) && 'unknown' in value;
export const isEnum = (value: unknown): value is EnumLeaf =>
  isObject(value) && typeof value['value'] === 'number' && 'name' in value;

/** The leaves of a JSON value: path (`attributes.max_qp`, `ports[0].gids[1].gid`) to value. Masks and enums are leaves. */
export function leavesOf(value: unknown, path = ''): Map<string, Leaf> {
  if (isFlags(value) || isEnum(value) || value === null) return new Map([[path, value]]);
  if (Array.isArray(value)) {
    return new Map(value.flatMap((one, index) => [...leavesOf(one, `${path}[${index}]`)]));
  }
  if (isObject(value)) {
    return new Map(
      Object.entries(value).flatMap(([key, inner]) => [
        ...leavesOf(inner, path === '' ? key : `${path}.${key}`),
      ]),
    );
  }
  if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') {
    return new Map([[path, value]]);
  }
  throw new Error(`${path}: ${typeof value} in JSON`);
}

const GUID = /^([0-9a-f]{4}:){3}[0-9a-f]{4}$/;

/** A leaf as a decimal number where it is one in any form, else as text. */
export function plain(leaf: Leaf | undefined): string {
  if (leaf === undefined) return 'missing';
  if (leaf === null) return 'null';
  if (typeof leaf === 'object') return BigInt(leaf.value).toString();
  if (typeof leaf !== 'string') return String(leaf);
  if (GUID.test(leaf)) return BigInt(`0x${leaf.replaceAll(':', '')}`).toString();
  return /^(0x[0-9a-f]+|-?\d+)$/.test(leaf) ? BigInt(leaf).toString() : leaf;
}

/**
 * The value that a cell of the table shows, in the form of `plain`.
 * @param like the JSON's leaf: an enum stands as `NAME (number)`, a mask as `0x3: A B`
 */
export function shownValue(cell: string | undefined, like: Leaf | undefined): string {
  if (cell === undefined) return 'missing';
  if (cell.startsWith('unavailable: ')) return 'null';
  if (isEnum(like)) return /\((-?\d+)\)$/.exec(cell)?.[1] ?? cell;
  if (isFlags(like)) return plain(/^0x[0-9a-f]+/.exec(cell)?.[0] ?? cell);
  const isNumber =
    typeof like === 'number' || (typeof like === 'string' && /^(0x[0-9a-f]+|-?\d+)$/.test(like));
  return plain(isNumber ? (/^(0x[0-9a-f]+|-?\d+(\.\d+)?)/.exec(cell)?.[0] ?? cell) : cell);
}
