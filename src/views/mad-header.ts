/** The user-MAD header for people: each field with its value and its meaning. */
import { ibUserMadHdr } from '../abi/umad.ts';
import type { ReceivedHeader } from '../model/mad.ts';
import type { Block, Cell, Column } from '../output/blocks.ts';

const HEADER_COLUMNS: readonly Column[] = ['FIELD', 'VALUE', { title: 'MEANING', rank: 1 }];

const MEANINGS = new Map(ibUserMadHdr.members.map(({ name, codec }) => [name, codec.meaning ?? '']));

const meaningOf = (name: string): string => MEANINGS.get(name) ?? '';

function valueCell(header: ReceivedHeader, name: string): Cell {
  if (name === 'status') {
    const { status } = header;
    return { text: `${status.name} (${status.value})`, tone: status.value === 0 ? 'good' : 'bad' };
  }
  const value: unknown = Object.entries(header).find(([key]) => key === name)?.[1] ?? null;
  return value === null ? { text: header.unavailable[name] ?? '', tone: 'quiet' } : String(value);
}

/** In the order of the C structure. */
export function receivedHeaderBlock(header: ReceivedHeader): Block {
  const names = [...MEANINGS.keys()].filter((name) => name !== 'reserved');
  return {
    type: 'table',
    indent: 2,
    columns: HEADER_COLUMNS,
    rows: [
      ['kind', header.kind, header.kind === 'old' ? '56 bytes, without a P_Key index' : '64 bytes'],
      ...names.map((name): Cell[] => [
        name,
        valueCell(header, name),
        header.notes[name] === undefined ? meaningOf(name) : `${meaningOf(name)}; ${header.notes[name]}`,
      ]),
    ],
  };
}
