import type { MadGetPortsResult, MadGetResult, MadTarget } from '../model/mad.ts';
import type { Block, Cell } from '../output/blocks.ts';
import { fieldRows } from './mad-fields.ts';

/** `LID 3`, `path 0,1`. */
export function targetText(target: MadTarget | null): string {
  if (target === null) return '';
  const names = [
    target.path && (target.path.length === 1 ? 'the port of this host' : `path ${target.path.join(',')}`),
    target.guid && `GUID ${target.guid}`,
    target.gid && `GID ${target.gid}`,
    target.lid === null ? null : `LID ${target.lid}`,
  ];
  return names.filter(Boolean).join(', ');
}

/** One attribute: a row a field. */
export function madGetView(result: MadGetResult): Block[] {
  if (result.attribute === null || result.target === null) return [];
  const port = result.port_num === null ? [] : [`port ${result.port_num}`];
  const detail = [targetText(result.target), ...port, rttText(result.rtt_ms)];
  return [
    ...moment(result.time),
    { type: 'heading', text: result.attribute, detail: detail.filter((part) => part !== '').join(', ') },
    ...(result.fields === null
      ? []
      : [{ type: 'pairs' as const, indent: 2, rows: fieldRows(result.attribute, result.fields) }]),
  ];
}

const moment = (time: string | null): Block[] =>
  time === null ? [] : [{ type: 'text', text: time, tone: 'quiet' }];

const rttText = (rtt: number | null): string => (rtt === null ? '' : `${rtt} ms`);

/** One attribute of all ports: a column a port, without the rows that are zero everywhere. */
export function madGetPortsView(result: MadGetPortsResult): Block[] {
  const { attribute } = result;
  if (attribute === null) return [];
  const title: Block = { type: 'heading', text: attribute, detail: targetText(result.target) };
  const columns = result.ports.map((port) => ({
    port,
    values: new Map<string, Cell>(port.fields === null ? [] : fieldRows(attribute, port.fields)),
  }));
  const names = [...new Set(columns.flatMap(({ values }) => [...values.keys()]))];
  const textOf = (cell: Cell | undefined): string =>
    cell === undefined ? '-' : typeof cell === 'string' ? cell : cell.text;
  const isZero = (text: string): boolean => /^(0x)?0+$/.test(text) || text === '-';
  const rows = names
    .map((name) => [name, ...columns.map(({ values }) => textOf(values.get(name)))])
    .filter(([, ...cells]) => !cells.every(isZero));
  const failed = columns.filter(({ port }) => port.error !== null);
  return [
    ...moment(result.time),
    title,
    ...(columns.length <= 8
      ? [
          {
            type: 'table' as const,
            indent: 2,
            columns: ['PORT', ...columns.map(({ port }) => String(port.port_num))],
            rows,
          },
        ]
      : longTable(rows, columns)),
    ...failed.map(
      ({ port }): Block => ({
        type: 'text',
        indent: 2,
        tone: 'bad',
        text: `port ${port.port_num}: ${port.error?.message ?? ''}`,
      }),
    ),
  ];
}

/** More ports than columns fit: a section a port. */
function longTable(
  rows: readonly (readonly string[])[],
  columns: readonly { readonly port: { readonly port_num: number } }[],
): Block[] {
  return columns.flatMap(({ port }, index): Block[] => [
    { type: 'heading', text: `Port ${port.port_num}`, indent: 2 },
    {
      type: 'pairs',
      indent: 4,
      rows: rows.map((row): [string, string] => [row[0] ?? '', row[index + 1] ?? '']),
    },
  ]);
}
