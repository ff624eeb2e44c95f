import Table from 'cli-table3';
import type { Style, Tone } from './style.ts';

/** A cell, or a value beside its label. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

/** What a view is made of; how it looks is decided here. */
export type Block =
  | { readonly type: 'heading'; readonly text: string; readonly detail?: string; readonly indent?: number }
  | {
      readonly type: 'pairs';
      readonly rows: ReadonlyArray<readonly [label: string, value: Cell]>;
      readonly indent?: number;
    }
  | {
      readonly type: 'table';
      readonly columns: readonly string[];
      readonly rows: ReadonlyArray<readonly Cell[]>;
      readonly indent?: number;
    }
  | { readonly type: 'text'; readonly text: string; readonly tone?: Tone; readonly indent?: number }
  | { readonly type: 'gap' };

export interface RenderOptions {
  readonly style: Style;
  /** Columns to fold at; null never folds, as for a pipe. */
  readonly width: number | null;
}

/** Texts from a fabric or from sysfs may carry escape codes; a terminal must not obey them. */
const textOf = (cell: Cell): string =>
  (typeof cell === 'string' ? cell : cell.text).replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    /[\u0000-\u001f\u007f-\u009f]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
const toneOf = (cell: Cell): Tone => (typeof cell === 'string' ? 'plain' : cell.tone);

/** Blocks as text for people, with a newline at the end of each line. */
export function renderBlocks(blocks: readonly Block[], options: RenderOptions): string {
  return blocks
    .flatMap((block) => renderBlock(block, options))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

function renderBlock(block: Block, { style, width }: RenderOptions): string[] {
  const shown = (cell: Cell): string => style(textOf(cell), toneOf(cell));
  const indent = block.type === 'gap' ? 0 : (block.indent ?? 0);
  const room = width === null ? null : width - indent;
  switch (block.type) {
    case 'gap':
      return [''];
    case 'heading': {
      const detail = block.detail ? `  ${style(block.detail, 'quiet')}` : '';
      return [`${' '.repeat(indent)}${style(block.text, 'title')}${detail}`];
    }
    case 'text':
      return grid([[shown({ text: block.text, tone: block.tone ?? 'plain' })]], indent, [room]);
    case 'pairs': {
      const labelWidth = Math.max(0, ...block.rows.map(([label]) => label.length)) + GAP;
      const rows = block.rows.map(([label, value]) => [style(label, 'label'), shown(value)]);
      return grid(rows, indent, [labelWidth, room === null ? null : room - labelWidth]);
    }
    case 'table':
      // Tables are not folded: a row that is too wide is better cut by the terminal than torn apart.
      return grid(
        [block.columns.map((column) => style(column, 'label')), ...block.rows.map((row) => row.map(shown))],
        indent,
        block.columns.map(() => null),
      );
  }
}

/** Columns between two columns. */
const GAP = 2;
/** A column narrower than this is not folded into. */
const NARROWEST = 20;

/** Rows in columns without lines, as lines of text. A width of null is as wide as it needs. */
function grid(
  rows: readonly (readonly string[])[],
  indent: number,
  widths: readonly (number | null)[],
): string[] {
  if (rows.length === 0) return [];
  const table = new Table({
    chars: NO_LINES,
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [], compact: true },
    colWidths: widths.map((width) => (width === null || width < NARROWEST ? null : width)),
    wordWrap: true,
  });
  table.push(...rows.map((row) => [...row]));
  return table
    .toString()
    .split('\n')
    .map((line) => ' '.repeat(indent) + line);
}

const NO_LINES = Object.fromEntries(
  [
    ['top', 'top-mid', 'top-left', 'top-right'],
    ['bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
    ['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'],
  ]
    .flat()
    .map((name) => [name, '']),
);
