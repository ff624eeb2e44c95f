import { bytesText } from '../explain/quantities.ts';
import type { Json } from '../layout/codec.ts';
import type {
  DecodedMad,
  MadEnvelope,
  MadPingResult,
  MadResetResult,
  MadSendResult,
  MadTableResult,
} from '../model/mad.ts';
import type { Block, Cell } from '../output/blocks.ts';
import { fieldRows, fieldText, layoutOf } from './mad-fields.ts';
import { targetText } from './mad-get.ts';
import { receivedHeaderBlock } from './mad-header.ts';

const BYTES_A_LINE = 16;

/** Offset and bytes, sixteen a line; a run of equal lines is told once. */
function hexRows(hex: string): [string, string][] {
  const lines = hex.match(new RegExp(`.{1,${BYTES_A_LINE * 2}}`, 'g')) ?? [];
  const rows: [string, string][] = [];
  for (const [index, line] of lines.entries()) {
    const isLast = index === lines.length - 1;
    if (!isLast && line === lines[index - 1] && line === lines[index + 1]) {
      if (rows.at(-1)?.[1] !== '*') rows.push(['', '*']);
      continue;
    }
    rows.push([
      (index * BYTES_A_LINE).toString(16).padStart(4, '0'),
      (line.match(/.{1,8}/g) ?? []).join(' '),
    ]);
  }
  return rows;
}

/** The common header and the section of the class, a row a member. */
function envelopeRows(mad: MadEnvelope): [string, Cell][] {
  const { smp, dr_smp, rmpp, sa, vendor, status, ...header } = mad;
  const plain = (prefix: string, members: { readonly [name: string]: Json } | null): [string, Cell][] =>
    Object.entries(members ?? {}).map(([name, value]) => [`${prefix}${name}`, memberText(name, value)]);
  const statusCell: Cell = {
    text: `0x${status.value.toString(16).padStart(4, '0')} ${status.name ?? ''}`.trimEnd(),
    tone: status.value === 0 ? 'good' : 'bad',
  };
  return [
    ...plain('', header as { readonly [name: string]: Json }),
    ['status', statusCell],
    ...plain('smp.', smp),
    ...plain('dr_smp.', dr_smp),
    ...plain('rmpp.', rmpp),
    ...plain('sa.', sa),
    ...plain('vendor.', vendor),
  ];
}

function memberText(name: string, value: Json): string {
  if (typeof value === 'object' && value !== null) {
    return 'flags' in value ? fieldText(value, 'flags') : fieldText(value, 'enum');
  }
  return name.endsWith('_path') ? fieldText(value, 'bytes') : String(value);
}

const isPlainRead = (mad: MadEnvelope | null): boolean =>
  mad?.method.name === 'Get' && (mad.smp !== null || mad.dr_smp !== null);

/** A datagram: header, fields, bytes. */
export function messageBlocks(title: string, message: DecodedMad): Block[] {
  const { mad, attribute, records } = message;
  return [
    { type: 'heading', text: title, detail: attribute ?? '' },
    ...(mad === null ? [] : [{ type: 'pairs' as const, indent: 2, rows: envelopeRows(mad) }]),
    // The data of a request to read an attribute of a port means nothing.
    ...(isPlainRead(mad) ? [] : records).flatMap((record, index): Block[] => [
      {
        type: 'heading',
        indent: 2,
        text: records.length > 1 ? `${attribute} ${index + 1}` : (attribute ?? ''),
      },
      { type: 'pairs', indent: 4, rows: fieldRows(attribute ?? '', record) },
    ]),
    { type: 'heading', indent: 2, text: bytesText(message.hex.length / 2) },
    { type: 'pairs', indent: 4, rows: hexRows(message.hex) },
  ];
}

const timesRows = (rtt: NonNullable<MadSendResult['rtt']>): [string, string][] => [
  [
    'round trip',
    `min ${rtt.min_ms} ms, median ${rtt.median_ms} ms, p99 ${rtt.p99_ms} ms, max ${rtt.max_ms} ms`,
  ],
];

const elapsedRow = (elapsedMs: number, count: number): [string, string] => [
  'in',
  count > 1
    ? `${elapsedMs} ms, ${Math.round(count / (elapsedMs / 1000))} round trips a second`
    : `${elapsedMs} ms`,
];

export function madSendView(result: MadSendResult): Block[] {
  const { request, reply, rtt } = result;
  if (request === null) return [];
  const counts: [string, string][] = [
    ['target', targetText(result.target)],
    ['sent', String(result.sent)],
    ['answered', String(result.received)],
    ...(result.elapsed_ms === null ? [] : [elapsedRow(result.elapsed_ms, result.received)]),
  ];
  return [
    ...messageBlocks('Request', request),
    ...(reply === null ? [] : messageBlocks('Answer', reply)),
    ...(result.header === null
      ? []
      : [
          {
            type: 'heading' as const,
            text: result.reply === null ? 'Came back, not answered' : 'Came with',
            ...(result.returned_tid === null ? {} : { detail: `tid ${result.returned_tid}` }),
          },
          receivedHeaderBlock(result.header),
        ]),
    { type: 'heading', text: 'In all' },
    {
      type: 'pairs',
      indent: 2,
      rows: [...counts, ...(rtt === null ? [] : timesRows(rtt)), ...elapsedRows(result)],
    },
  ];
}

function elapsedRows({ elapsed_ms, received }: MadSendResult): [string, string][] {
  if (elapsed_ms === null || received < 2) return [];
  const rate = elapsed_ms === 0 ? '' : ` (${Math.round((received * 1000) / elapsed_ms)} answers a second)`;
  return [['took', `${elapsed_ms} ms${rate}`]];
}

/** Records of few fields as a table, of many a section each. */
export function madTableView(result: MadTableResult): Block[] {
  const { record, records } = result;
  if (record === null) return [];
  const [first] = records;
  const title: Block = {
    type: 'heading',
    text: record,
    detail: `${records.length} ${records.length === 1 ? 'record' : 'records'}`,
  };
  const held = result.records_held;
  const cut =
    held === null
      ? 'The answer was to come in several segments, and one came: there may be more records.'
      : held > records.length
        ? `The answer announces ${held} records, and ${records.length} came.`
        : null;
  const note: Block[] =
    cut === null
      ? []
      : [
          {
            type: 'text',
            tone: 'doubt',
            text: `${cut} Something on the way does not know RMPP (ibsim does not).`,
          },
        ];
  if (!first) return [title, ...note];
  const layout = layoutOf(record, first);
  const names = layout?.members.map(({ name }) => name) ?? Object.keys(first);
  const MOST_COLUMNS = 6;
  if (names.length <= MOST_COLUMNS) {
    const rows = records.map((each) => fieldRows(record, each).map(([, cell]) => cell));
    return [
      title,
      { type: 'table', indent: 2, columns: names.map((name) => name.toUpperCase()), rows },
      ...note,
    ];
  }
  return [
    title,
    ...records.flatMap((each, index): Block[] => [
      ...(records.length > 1 ? [{ type: 'heading' as const, indent: 2, text: `Record ${index + 1}` }] : []),
      { type: 'pairs', indent: 4, rows: fieldRows(record, each) },
    ]),
    ...note,
  ];
}

export function madPingView(result: MadPingResult): Block[] {
  const { rtt, sent, received } = result;
  return [
    {
      type: 'pairs',
      rows: [
        ['target', targetText(result.target)],
        ...(result.server === null ? [] : [['server', result.server] as [string, string]]),
        ['pings', `${sent} sent, ${received} answered`],
        ...(rtt === null ? [] : timesRows(rtt)),
      ],
    },
  ];
}

export function madResetView(result: MadResetResult): Block[] {
  return [
    {
      type: 'table',
      columns: ['PORT', 'ATTRIBUTE', ''],
      rows: result.ports.map(({ port_num, attribute, error }): Cell[] => [
        String(port_num),
        attribute,
        error === null ? { text: 'reset', tone: 'good' } : { text: error.message, tone: 'bad' },
      ]),
    },
  ];
}
