import { meaningOfErrno } from '../explain/errno.ts';
import type { TraceEntry, TraceSummary } from '../model/trace.ts';
import type { Block, Cell } from '../output/blocks.ts';
import { valueText } from './decode.ts';

const TIME_WIDTH = 11;
/** Damaged lines that people see; the first tell what is wrong. */
const MOST_DAMAGED = 5;

/** One line: when, who, what, and what came of it. */
export function entryText(entry: TraceEntry): string {
  const { at_ms, pid, program, device, brief, result, duration_ms, cut, unseen, line } = entry;
  const when = at_ms === null ? `line ${line}` : `${at_ms.toFixed(3)} ms`;
  const who = `${program ?? ''}${pid === null ? '' : `[${pid}]`}`;
  const node = device.split('/').at(-1) ?? device;
  const outcome =
    result.errno !== null
      ? [result.errno, meaningOfErrno(result.errno)].filter((part) => part !== null).join(': ')
      : result.value === null
        ? 'unfinished'
        : 'ok';
  const duration = duration_ms === null ? '' : ` (${duration_ms} ms)`;
  const unsaid = [...(cut ? ['cut by strace -s'] : []), ...(unseen === null ? [] : [`unseen: ${unseen}`])];
  return [
    when.padStart(TIME_WIDTH),
    ...(who === '' ? [] : [who]),
    node,
    brief,
    `= ${outcome}${duration}`,
    ...(unsaid.length === 0 ? [] : [`[${unsaid.join('; ')}]`]),
  ].join('  ');
}

/** The fields of a call and what is odd about it, indented. */
export function entryDetails({ fields, notes }: TraceEntry): string[] {
  return [
    ...Object.entries(fields).map(([name, value]) => `${name} = ${valueText(value)}`),
    ...notes.map((note) => `note: ${note}`),
  ].map((text) => `${' '.repeat(TIME_WIDTH + 2)}${text}`);
}

/** A row a command. */
export function summaryView({ calls, damaged }: TraceSummary): Block[] {
  const ms = (value: number | undefined): string => (value === undefined ? '' : `${value}`);
  return [
    ...(calls.length === 0
      ? [{ type: 'text' as const, text: 'No call on an RDMA device.' }]
      : [
          { type: 'gap' as const },
          {
            type: 'table' as const,
            columns: ['DEVICE', 'COMMAND', 'CALLS', 'ERRORS', 'TOTAL MS', 'MIN', 'MEDIAN', 'MAX'],
            rows: calls.map(({ device, name, calls: count, errors, times }): Cell[] => [
              device,
              name,
              String(count),
              errors === 0 ? '0' : { text: String(errors), tone: 'bad' },
              ms(times?.total_ms),
              ms(times?.min_ms),
              ms(times?.median_ms),
              ms(times?.max_ms),
            ]),
          },
          {
            type: 'text' as const,
            tone: 'quiet' as const,
            text: "Answers and events that the kernel writes into the program's memory are not seen by strace.",
          },
        ]),
    ...damaged.slice(0, MOST_DAMAGED).map(
      ({ line, reason }): Block => ({
        type: 'text',
        tone: 'bad',
        text: `line ${line}: ${reason}`,
      }),
    ),
  ];
}
