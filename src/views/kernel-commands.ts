/** Commands to the kernel, their bytes and the answers, for people. */
import { bytesText } from '../explain/quantities.ts';
import type { Json } from '../layout/codec.ts';
import type { KernelCommand } from '../model/kernel-commands.ts';
import { type Block, renderBlocks } from '../output/blocks.ts';
import { enumText, flagsText } from './values.ts';

export function kernelCommandBlocks(exchanges: readonly KernelCommand[] | null): Block[] {
  return (exchanges ?? []).flatMap((exchange): Block[] => {
    const { brief, command, bytes, fields, notes, answer, duration_ms } = exchange;
    return [
      { type: 'gap' },
      {
        type: 'heading',
        text: `${brief} (command ${command.value}) = ${resultText(exchange)}, ${duration_ms} ms`,
      },
      ...part(`written: ${bytesText(bytes.length / 2)}`, bytes, fields, notes),
      ...(answer
        ? part(`answered: ${bytesText(answer.bytes.length / 2)}`, answer.bytes, answer.fields, answer.notes)
        : []),
    ];
  });
}

/** The same as lines of text, each beginning with a newline: what follows the line of a step or of an event. */
export function kernelCommandText(commands: readonly KernelCommand[] | null): string {
  const text = renderBlocks(kernelCommandBlocks(commands), { style: (word) => word, width: null });
  return text === '' ? '' : `\n${text.replace(/^\n/, '').trimEnd()}`;
}

const resultText = ({ result, errno }: KernelCommand): string =>
  errno === null ? String(result) : `${result} ${errno.name ?? `errno ${errno.value}`}`;

function part(
  title: string,
  bytes: string,
  fields: KernelCommand['fields'],
  notes: readonly string[],
): Block[] {
  return [
    { type: 'text', text: title, indent: 2 },
    ...dumpLines(bytes).map((line): Block => ({ type: 'text', text: line, indent: 4 })),
    ...notes.map((note): Block => ({ type: 'text', text: `note: ${note}`, indent: 4 })),
    {
      type: 'table',
      indent: 4,
      columns: ['OFFSET', 'SIZE', 'FIELD', 'VALUE', 'MEANING'],
      rows: fields.map(({ offset, size, name, value, meaning }) => [
        String(offset),
        String(size),
        name,
        fieldText(value),
        meaning,
      ]),
    },
  ];
}

const BYTES_A_LINE = 16;

/** `0010  0a 09 00 01 …`, as hexdump(1): lines that repeat the one before are one `*`. */
export function dumpLines(hex: string): string[] {
  const rows = hex.match(new RegExp(`.{1,${2 * BYTES_A_LINE}}`, 'g')) ?? [];
  const lines: string[] = [];
  rows.forEach((row, index) => {
    const isLast = index === rows.length - 1;
    if (!isLast && index > 0 && row === rows[index - 1]) {
      if (lines.at(-1) !== '*') lines.push('*');
      return;
    }
    const offset = (index * BYTES_A_LINE).toString(16).padStart(4, '0');
    lines.push(`${offset}  ${(row.match(/../g) ?? []).join(' ')}`);
  });
  return lines;
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Long runs of hexadecimal digits without the zeros at their end. */
export function fieldText(value: Json): string {
  if (typeof value === 'string' && /^([0-9a-f]{2}){8,}$/.test(value)) {
    const shown = value.replace(/(00)+$/, '');
    const zeros = (value.length - shown.length) / 2;
    return zeros === 0 ? value : `${shown}${shown === '' ? '' : ' and '}${zeros} zeros`;
  }
  if (!isObject(value)) return String(value);
  const { value: number, name, flags, unknown, signed } = value;
  if (Array.isArray(flags)) {
    return flagsText({ value: String(number), flags: flags.map(String), unknown: String(unknown) });
  }
  if (typeof signed === 'number') return signed === number ? String(number) : `${number} (${signed})`;
  return enumText({ value: Number(number ?? 0), name: typeof name === 'string' ? name : null });
}
