/** What stands under commander's help: tables of words, and examples, folded so that they can still be copied. */
import type { Example, ReferenceTable } from './spec.ts';

/** A phrase with its full stop, unless it ends by itself. */
export const sentence = (phrase: string): string => (/[.?!]$/.test(phrase) ? phrase : `${phrase}.`);

/** A text in lines of at most `width`, broken between words. */
function fold(text: string, width: number): string[] {
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

/** A meaning narrower than this goes below its word. */
const NARROWEST = 30;

/** A long usage on lines of its own. */
const folded = (word: string, width: number): string[] =>
  fold(word, width - 4).map((line, index) => `${index === 0 ? '  ' : '    '}${line}`);

export function referenceText({ title, rows }: ReferenceTable, width: number): string {
  const column = Math.max(...rows.map(([word]) => word.length)) + 4;
  const isBeside = width - column >= NARROWEST;
  const indent = isBeside ? column : 6;
  const lines = rows.flatMap(([word, meaning]) => {
    const [first = '', ...more] = fold(meaning, width - indent);
    const rest = more.map((line) => ' '.repeat(indent) + line);
    return isBeside
      ? [`  ${word}`.padEnd(column) + first, ...rest]
      : [...folded(word, width), ' '.repeat(indent) + first, ...rest];
  });
  return `\n${title}:\n${lines.join('\n')}\n`;
}

export function examplesText(examples: readonly Example[], width: number): string {
  if (examples.length === 0) return '';
  const lines = examples.flatMap(({ command, does }) => [
    ...fold(does, width - 4).map((line) => `  # ${line}`),
    ...foldCommand(command, width - 2).map((line) => `  ${line}`),
  ]);
  return `\nExamples:\n${lines.join('\n')}`;
}

const CONTINUATION = '  ';

/**
 * A command line in lines of at most `width`, which a shell reads as the same: between words with a backslash, inside
 * quotes only where a separator of commands lets a new line stand.
 */
export function foldCommand(command: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const { text, isQuoted } of pieces(command)) {
    const room = width - (isQuoted ? 0 : 2);
    if (line !== '' && line.length + text.trimEnd().length > room) {
      lines.push(isQuoted ? line.trimEnd() : `${line.trimEnd()} \\`);
      line = CONTINUATION + text;
    } else line += text;
  }
  return [...lines, line];
}

/** The parts of a command between which it may be broken; `isQuoted` where the break before lies inside quotes. */
function pieces(command: string): { text: string; isQuoted: boolean }[] {
  const found: { text: string; isQuoted: boolean }[] = [];
  let quote: string | null = null;
  let text = '';
  let isQuoted = false;
  for (const [index, character] of [...command].entries()) {
    text += character;
    if (quote === null && (character === "'" || character === '"')) quote = character;
    else if (character === quote) quote = null;
    const mayBreak = character === ' ' && (quote === null || /[;&|]/.test(command.charAt(index - 1)));
    if (!mayBreak) continue;
    found.push({ text, isQuoted });
    text = '';
    isQuoted = quote !== null;
  }
  return [...found, { text, isQuoted }];
}
