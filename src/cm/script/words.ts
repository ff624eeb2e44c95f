/** A line of a script into words: quoting as in a shell, comments, and variables. */

/** A mistake in a script, and where. Lines and columns count from 1. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError';
  constructor(
    readonly line: number,
    readonly column: number,
    message: string,
    /** What may have been meant; empty where nothing comes to mind. */
    readonly hint: string,
  ) {
    super(message);
  }
}

export interface Word {
  readonly text: string;
  readonly column: number;
  /** Whether no part of it was quoted: only then it can be a name of the language. */
  readonly isBare: boolean;
}

/** Gives the value of a variable, or throws ScriptError. */
export type Lookup = (name: string, column: number) => string;

const NAME = /^(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/;

/**
 * Splits a line. 'single' quotes keep everything, "double" quotes and bare words know $NAME, ${NAME} and \ before
 * the next character; # at the beginning of a word starts a comment. Throws ScriptError.
 */
export function splitWords(line: string, number: number, lookup: Lookup): Word[] {
  const words: Word[] = [];
  let at = 0;
  const fail = (index: number, message: string, hint = ''): never => {
    throw new ScriptError(number, index + 1, message, hint);
  };
  const variable = (): string => {
    const found = NAME.exec(line.slice(at + 1));
    if (!found) return fail(at, '$ stands before no name', "a $ itself is written \\$ or '$'");
    const value = lookup(found[1] ?? found[2] ?? '', at + 1);
    at += 1 + found[0].length;
    return value;
  };
  const escaped = (): string => {
    const character = line[at + 1];
    if (character === undefined) return fail(at, 'a \\ ends the line', 'a step stands on one line');
    at += 2;
    return character;
  };
  const single = (): string => {
    const end = line.indexOf("'", at + 1);
    if (end < 0) return fail(at, "the ' is not closed", "close it with another ' in the same line");
    const text = line.slice(at + 1, end);
    at = end + 1;
    return text;
  };
  const double = (): string => {
    const start = at;
    let text = '';
    for (at++; line[at] !== '"'; ) {
      const character = line[at];
      if (character === undefined) {
        return fail(start, 'the " is not closed', 'close it with another " in the same line');
      }
      if (character === '\\') text += escaped();
      else if (character === '$') text += variable();
      else {
        text += character;
        at++;
      }
    }
    at++;
    return text;
  };
  while (at < line.length) {
    if (/\s/.test(line[at] ?? '')) {
      at++;
      continue;
    }
    if (line[at] === '#') break;
    const column = at + 1;
    let text = '';
    let isBare = true;
    while (at < line.length && !/\s/.test(line[at] ?? '')) {
      const character = line[at] ?? '';
      if (character === "'" || character === '"' || character === '\\') {
        isBare = false;
        text += character === "'" ? single() : character === '"' ? double() : escaped();
      } else if (character === '$') text += variable();
      else {
        text += character;
        at++;
      }
    }
    words.push({ text, column, isBare });
  }
  return words;
}
