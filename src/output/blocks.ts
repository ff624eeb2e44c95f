import Table from 'cli-table3';
import { harmless } from './harmless.ts';
import type { Style, Tone } from './style.ts';

/** A cell, or a value beside its label. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

/**
 * A column of a table. On a terminal that is too narrow, one that folds becomes narrower first, and one with a rank is
 * then left out, the lowest rank first.
 */
export type Column = string | { readonly title: string; readonly rank?: number; readonly folds?: boolean };

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
      readonly columns: readonly Column[];
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

const textOf = (cell: Cell): string => harmless(typeof cell === 'string' ? cell : cell.text);
const toneOf = (cell: Cell): Tone => (typeof cell === 'string' ? 'plain' : cell.tone);
const titleOf = (column: Column): string => (typeof column === 'string' ? column : column.title);

/** Blocks as text for people, with a newline at the end of each line. */
export function renderBlocks(blocks: readonly Block[], options: RenderOptions): string {
  return blocks
    .flatMap((block) => renderBlock(block, options))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

function renderBlock(block: Block, { style, width }: RenderOptions): string[] {
  const indent = block.type === 'gap' ? 0 : (block.indent ?? 0);
  const room = width === null ? null : width - indent;
  const indented = (lines: readonly string[]): string[] => lines.map((line) => ' '.repeat(indent) + line);
  switch (block.type) {
    case 'gap':
      return [''];
    case 'heading': {
      const detail = block.detail ? `  ${style(harmless(block.detail), 'quiet')}` : '';
      return indented([`${style(harmless(block.text), 'title')}${detail}`]);
    }
    case 'text': {
      const lines = fold(harmless(block.text), room);
      return indented(lines.map((line) => style(line, block.tone ?? 'plain')));
    }
    case 'pairs': {
      const labels = block.rows.map(([label]) => harmless(label));
      const beside = Math.max(0, ...labels.map((label) => label.length)) + GAP;
      const rows = block.rows.map(([, value], index) => [
        style(labels[index] ?? '', 'label'),
        fold(textOf(value), room === null ? null : room - beside)
          .map((line) => style(line, toneOf(value)))
          .join('\n'),
      ]);
      return indented(grid(rows));
    }
    case 'table': {
      const rows = block.rows.map((row) => row.map((cell) => ({ text: textOf(cell), tone: toneOf(cell) })));
      const { kept, dropped, widthOf } = columnsThatFit(block.columns, rows, room);
      const cell = (row: (typeof rows)[number], column: number): string =>
        fold(row[column]?.text ?? '', widthOf(column))
          .map((line) => style(line, row[column]?.tone ?? 'plain'))
          .join('\n');
      const lines = grid([
        kept.map((column) => style(titleOf(block.columns[column] ?? ''), 'label')),
        ...rows.map((row) => kept.map((column) => cell(row, column))),
      ]);
      const note = `no room here for ${dropped.join(', ')}: a wider terminal or --json shows it`;
      return indented([...lines, ...(dropped.length > 0 ? [style(note, 'quiet')] : [])]);
    }
  }
}

/**
 * Which columns to show, by index, the titles of those left out, and how wide a column that folds may be. Without a
 * rank a column always stays.
 */
function columnsThatFit(
  columns: readonly Column[],
  rows: ReadonlyArray<ReadonlyArray<{ readonly text: string }>>,
  room: number | null,
): { kept: number[]; dropped: string[]; widthOf: (column: number) => number | null } {
  const widths = columns.map((column, index) =>
    Math.max(titleOf(column).length, ...rows.map((row) => row[index]?.text.length ?? 0)),
  );
  const folds = (index: number): boolean => {
    const column = columns[index];
    return typeof column === 'object' && column.folds === true;
  };
  let kept = columns.map((_, index) => index);
  const dropped: string[] = [];
  const ranked = columns
    .flatMap((column, index) =>
      typeof column === 'string' || column.rank === undefined
        ? []
        : [{ index, title: column.title, rank: column.rank }],
    )
    .sort((a, b) => a.rank - b.rank);
  const least = (index: number): number => {
    const width = widths[index] ?? 0;
    return folds(index) ? Math.min(width, NARROWEST) : width;
  };
  const sum = (of: (index: number) => number): number =>
    kept.reduce((total, index) => total + of(index) + GAP, -GAP);
  for (const { index, title } of ranked) {
    if (room === null || sum(least) <= room) break;
    kept = kept.filter((column) => column !== index);
    dropped.push(title);
  }
  const spare = room === null ? 0 : Math.max(0, room - sum(least));
  return {
    kept,
    dropped,
    widthOf: (index) => (room === null || !folds(index) ? null : least(index) + spare),
  };
}

/** Columns between two columns. */
const GAP = 2;
/** A column narrower than this is not folded into. */
const NARROWEST = 20;

/**
 * Lines of at most `width`, broken between words. A word that is longer, such as a path, stays whole: the terminal
 * breaks it, and it can be copied.
 */
export function fold(text: string, width: number | null): string[] {
  if (width === null || width < NARROWEST) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Rows in columns without lines, as lines of text. A cell may have several lines. */
function grid(rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const table = new Table({
    chars: NO_LINES,
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [], compact: true },
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString().split('\n');
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
