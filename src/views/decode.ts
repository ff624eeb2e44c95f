import { bytesText } from '../explain/quantities.ts';
import type { Json } from '../layout/codec.ts';
import type { EnumJson } from '../layout/enumeration.ts';
import type { FlagsJson } from '../layout/flags.ts';
import type { DecodedField, DecodeResult } from '../model/decode.ts';
import type { Block, Column } from '../output/blocks.ts';
import { enumText, flagsText, hexText } from './values.ts';

const COLUMNS: readonly Column[] = ['OFFSET', 'SIZE', 'NAME', 'VALUE', { title: 'MEANING', rank: 1 }];

/** A table a structure, then what is missing, left over or odd. */
export function decodeView(result: DecodeResult): Block[] {
  const { parts, missing, older, extra, notes } = result;
  if (result.length === 0) return [];
  const title = result.brief ?? result.name ?? 'not known';
  const kind = [result.interface, result.edition, result.header && `${result.header} header`];
  const detail = `${kind.filter((part) => part !== null).join(', ')}; ${bytesText(result.length)}${result.cut ? ' and more, left out' : ''}`;
  return [
    { type: 'heading', text: title, detail },
    ...parts.flatMap((part): Block[] => [
      { type: 'gap' },
      { type: 'heading', indent: 2, text: part.title },
      { type: 'table', indent: 4, columns: COLUMNS, rows: part.fields.map(fieldRow) },
    ]),
    ...listed('Missing', missing, 'bad'),
    ...listed('In newer editions also', older, 'plain'),
    ...(extra === null
      ? []
      : [
          { type: 'gap' as const },
          {
            type: 'text' as const,
            indent: 2,
            tone: 'doubt' as const,
            text: `Left over: ${bytesText(extra.hex.length / 2)} from ${extra.offset} on: ${hexText(extra.hex)}`,
          },
        ]),
    ...(notes.length === 0 ? [] : [{ type: 'gap' as const }]),
    ...notes.map((text): Block => ({ type: 'text', indent: 2, tone: 'doubt', text })),
  ];
}

function fieldRow({ offset, size, bit_offset, bit_width, name, value, meaning }: DecodedField): string[] {
  return [
    bit_offset === null ? String(offset) : `${Math.floor(bit_offset / 8)}.${bit_offset % 8}`,
    bit_width === null ? String(size) : `${bit_width} bits`,
    name,
    valueText(value),
    meaning,
  ];
}

function listed(title: string, fields: DecodeResult['missing'], tone: 'bad' | 'plain'): Block[] {
  if (fields.length === 0) return [];
  const names = fields.map(({ name, offset }) => `${name} (${offset})`).join(', ');
  return [{ type: 'gap' }, { type: 'text', indent: 2, tone, text: `${title}: ${names}` }];
}

/** A value of any kind: enumerations and masks by name and number. */
export function valueText(value: Json): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.map(valueText).join(' ');
  if (typeof value === 'string') return /^([0-9a-f]{2}){9,}$/.test(value) ? hexText(value) : value;
  if (typeof value !== 'object') return String(value);
  if (isFlags(value)) return flagsText(value);
  if (isEnum(value)) return enumText(value);
  return Object.entries(value)
    .map(([name, part]) => `${name} ${valueText(part)}`)
    .join(', ');
}

const isFlags = (value: object): value is FlagsJson => 'flags' in value && 'unknown' in value;
const isEnum = (value: object): value is EnumJson =>
  'value' in value && 'name' in value && Object.keys(value).length === 2;
