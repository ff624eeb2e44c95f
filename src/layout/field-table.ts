import type { Codec, Member } from './codec.ts';

/** One line of a structure's printable table. */
export interface FieldRow {
  /** Bytes from the start of the outermost structure. */
  readonly offset: number;
  readonly size: number;
  /** Dotted path for members of nested structures. */
  readonly name: string;
  readonly type: string;
  readonly meaning: string;
  readonly bitOffset?: number;
  readonly bitWidth?: number;
}

/**
 * The members of a structure, those of nested structures and unions flattened, in order of their place. An
 * array is one row, whatever its elements are.
 */
export function fieldTable(layout: Pick<Codec<unknown>, 'members'>): FieldRow[] {
  const firstBit = (row: FieldRow): number => row.bitOffset ?? row.offset * 8;
  // The sort keeps the order of the declaration where places are the same, as in a union.
  return rows(layout.members ?? [], 0, '').sort((a, b) => firstBit(a) - firstBit(b));
}

function rows(members: readonly Member[], base: number, prefix: string): FieldRow[] {
  return members.flatMap((member) => {
    const name = prefix + member.name;
    const offset = base + member.offset;
    if (member.codec.members) return rows(member.codec.members, offset, `${name}.`);
    return [
      {
        offset,
        size: member.size,
        name,
        type: member.codec.type,
        meaning: member.codec.meaning ?? '',
        ...(member.bitOffset === undefined || member.bitWidth === undefined
          ? {}
          : { bitOffset: base * 8 + member.bitOffset, bitWidth: member.bitWidth }),
      },
    ];
  });
}
