/**
 * Between a shell's script and rdmatool: `rdmatool __complete SHELL ...` answers with one line that says what follows
 * (`:words`, `:files`, `:directories`, `:command N`), and a word a line, for zsh and fish with a tab and its meaning.
 * bash hands over its line and the cursor, the others whole words, the last of which is the one at the cursor.
 */
import { harmless } from '../output/harmless.ts';
import { type Candidate, type Completions, complete } from './complete.ts';

/** The answer to a shell. What cannot be understood has no completions. */
export async function completionAnswer(args: readonly string[]): Promise<string> {
  const [shell = '', ...rest] = args;
  if (shell === 'bash') {
    const [line = '', point = String(line.length)] = rest;
    const { words, current, cut } = splitLine(textBefore(line, Number(point)));
    return answer(await complete(words.slice(1), current), ({ word }) => word.slice(cut));
  }
  const words = rest[0] === '--' ? rest.slice(1) : rest;
  const completions = await complete(words.slice(0, -1), words.at(-1) ?? '');
  return answer(completions, ({ word, meaning }) => (meaning === '' ? word : `${word}\t${meaning}`));
}

function answer(completions: Completions, line: (candidate: Candidate) => string): string {
  switch (completions.kind) {
    case 'words': {
      const safe = completions.words.filter(({ word }) => harmless(word) === word);
      const lines = safe.map(({ word, meaning }) => line({ word, meaning: harmless(meaning) }));
      return `${[':words', ...lines].join('\n')}\n`;
    }
    case 'command':
      return `:command ${completions.from}\n`;
    default:
      return `:${completions.kind}\n`;
  }
}

/** bash counts the cursor in bytes or characters, by its locale; what is beyond the end is the end. */
const textBefore = (line: string, point: number): string =>
  Number.isInteger(point) && point >= 0 ? line.slice(0, point) : line;

/** A command line up to the cursor. */
interface SplitLine {
  readonly words: readonly string[];
  readonly current: string;
  /** bash replaces only what stands after the last of its word breaks: so much of the word stays. */
  readonly cut: number;
}

/** Splits as a shell does: quotes, backslashes, and only the last command of a list or pipe. */
export function splitLine(text: string): SplitLine {
  let words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (quote !== null) {
      if (character === quote) quote = null;
      else if (character === '\\' && quote === '"') word = (word ?? '') + text.charAt(++index);
      else word = (word ?? '') + character;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= '';
    } else if (character === '\\') word = (word ?? '') + text.charAt(++index);
    else if (/[;&|(){}\n]/.test(character)) {
      words = [];
      word = null;
    } else if (/\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + character;
  }
  const current = word ?? '';
  // COMP_WORDBREAKS has more, which stand in none of our words.
  return {
    words: withoutPrefix(words),
    current,
    cut: Math.max(current.lastIndexOf('='), current.lastIndexOf(':')) + 1,
  };
}

/** Variables before the command, and sudo and the like, are not its words. */
function withoutPrefix(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => /(^|\/)rdmatool(\.js)?$/.test(word));
  return start < 0 ? words : words.slice(start);
}
