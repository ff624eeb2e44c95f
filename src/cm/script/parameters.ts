/** What the words of a step stand for: each kind reads its text before anything runs. */
import { nearest } from '../../explain/nearest.ts';
import type { Enumeration } from '../../layout/enumeration.ts';
import { type Endpoint, EndpointError, parseEndpoint } from '../address.ts';
import { DataTextError, dataOf } from '../data-text.ts';

/** A word that cannot stand where it stands. */
export class WordError extends Error {
  override readonly name = 'WordError';
  constructor(
    message: string,
    /** What may have been meant. */
    readonly hint = '',
  ) {
    super(message);
  }
}

/** The names that a script has made up to a step. */
export interface Scope {
  readonly ids: ReadonlySet<string>;
  readonly channels: ReadonlySet<string>;
  /** Adds or removes a name once the step has been read, unless it is to fail. */
  after(change: (names: { ids: Set<string>; channels: Set<string> }) => void): void;
}

export interface Parameter<T> {
  /** As the help has it: `ID`, `ADDR`, `N`. */
  readonly placeholder: string;
  /**
   * Reads a word; throws WordError.
   * @param earlier values of the parameters before it
   */
  parse(text: string, scope: Scope, earlier: Readonly<Record<string, unknown>>): T;
}

/** A parameter by its place. */
export interface Positional<T> extends Parameter<T> {
  readonly kind: 'one' | 'optional' | 'rest';
}

/** A parameter by a word before it, `--ps tcp` or `within 2s`; without a parameter the word alone is a switch. */
export interface Option<T> {
  readonly word: string;
  readonly parameter: Parameter<T> | null;
  readonly initial: T;
}

export const one = <T>(parameter: Parameter<T>): Positional<T> => ({ ...parameter, kind: 'one' });

export const optional = <T>(parameter: Parameter<T>): Positional<T | null> => ({
  ...parameter,
  kind: 'optional',
});

/** One word or more, to the end of the step; only as the last. */
export const rest = <T>({ placeholder, parse }: Parameter<T>): Positional<readonly T[]> => ({
  placeholder,
  kind: 'rest',
  parse: (text, scope, earlier) => [parse(text, scope, earlier)],
});

export const option = <T>(word: string, parameter: Parameter<T>): Option<T | null> => ({
  word,
  parameter,
  initial: null,
});

export const optionOr = <T>(word: string, parameter: Parameter<T>, initial: T): Option<T> => ({
  word,
  parameter,
  initial,
});

export const toggle = (word: string): Option<boolean> => ({ word, parameter: null, initial: false });

/** `; did you mean connect?` and the like. */
export function suggestion(text: string, candidates: readonly string[], otherwise = ''): string {
  const found = nearest(text, candidates);
  return found.length === 0 ? otherwise : `did you mean ${found.join(' or ')}?`;
}

const list = (names: Iterable<string>): string => [...names].join(', ');

function known(what: string, text: string, names: ReadonlySet<string>, hint: string): string {
  if (names.has(text)) return text;
  const all = names.size === 0 ? hint : `there is ${list(names)}`;
  throw new WordError(`there is no ${what} '${text}' here`, suggestion(text, [...names], all));
}

/** An id that an earlier step has made. */
export const ID: Parameter<string> = {
  placeholder: 'ID',
  parse: (text, { ids }) => known('id', text, ids, `make one: create-id ${text}`),
};

/** An id that is gone after the step. */
export const LAST_OF_ID: Parameter<string> = {
  placeholder: 'ID',
  parse(text, scope) {
    const name = ID.parse(text, scope, {});
    scope.after(({ ids }) => ids.delete(name));
    return name;
  },
};

function freeName(text: string, { ids, channels }: Scope): string {
  if (!/^[A-Za-z_][\w.-]{0,31}$/.test(text)) {
    throw new WordError(
      `'${text}' cannot be a name`,
      'a name begins with a letter and has at most 32 letters, digits, dots, dashes and underscores',
    );
  }
  if (ids.has(text)) throw new WordError(`the id ${text} is there already`, 'choose another name');
  if (channels.has(text)) throw new WordError(`${text} is a channel already`, 'choose another name');
  return text;
}

/** A name for a new id. */
export const NEW_ID: Parameter<string> = {
  placeholder: 'ID',
  parse(text, scope) {
    const name = freeName(text, scope);
    scope.after(({ ids }) => ids.add(name));
    return name;
  },
};

export const CHANNEL: Parameter<string> = {
  placeholder: 'CHANNEL',
  parse: (text, { channels }) => known('channel', text, channels, `make one: create-event-channel ${text}`),
};

export const LAST_OF_CHANNEL: Parameter<string> = {
  placeholder: 'CHANNEL',
  parse(text, scope) {
    const name = CHANNEL.parse(text, scope, {});
    scope.after(({ channels }) => channels.delete(name));
    return name;
  },
};

export const NEW_CHANNEL: Parameter<string> = {
  placeholder: 'CHANNEL',
  parse(text, scope) {
    const name = freeName(text, scope);
    scope.after(({ channels }) => channels.add(name));
    return name;
  },
};

export const ID_OR_CHANNEL: Parameter<string> = {
  placeholder: 'ID|CHANNEL',
  parse: (text, { ids, channels }) =>
    known('id or channel', text, new Set([...ids, ...channels]), `make one: create-id ${text}`),
};

/** A whole number, decimal or 0x…, from minimum to maximum. */
export const integer = (minimum: number, maximum: number, placeholder = 'N'): Parameter<number> => ({
  placeholder,
  parse(text) {
    const value = Number(text);
    if (!/^-?(\d+|0x[0-9a-f]+)$/i.test(text) || value < minimum || value > maximum) {
      throw new WordError(`'${text}' is not a whole number from ${minimum} to ${maximum}`);
    }
    return value;
  },
});

/** As integer, for 64 bits. */
export const INTEGER_64: Parameter<bigint> = {
  placeholder: 'N',
  parse(text) {
    if (!/^(\d+|0x[0-9a-f]+)$/i.test(text) || BigInt(text) >= 1n << 64n) {
      throw new WordError(`'${text}' is not a whole number below 2^64`);
    }
    return BigInt(text);
  },
};

/** One of some words, in any case. */
export const choice = <const W extends string>(
  words: readonly W[],
  placeholder: string = words.join('|'),
): Parameter<W> => ({
  placeholder,
  parse(text) {
    const found = words.find((word) => word.toLowerCase() === text.toLowerCase());
    if (found === undefined) {
      throw new WordError(`'${text}' is none of ${list(words)}`, suggestion(text, words));
    }
    return found;
  },
});

/** A name of an enumeration, with or without its prefix, or its number. */
export const enumerated = (table: Enumeration, placeholder: string): Parameter<number> => ({
  placeholder,
  parse(text) {
    const name = text.toUpperCase();
    const bare = name.startsWith(table.prefix) ? name.slice(table.prefix.length) : name;
    const found = table.entries.find(([known]) => known === bare);
    if (found) return found[1];
    if (/^\d{1,4}$/.test(text)) return Number(text);
    const names = table.entries.map(([known]) => known);
    throw new WordError(`there is no ${placeholder} ${text}`, suggestion(bare, names, list(names)));
  },
});

export const ADDRESS: Parameter<Endpoint> = {
  placeholder: 'ADDR[:PORT]',
  parse(text) {
    try {
      return parseEndpoint(text);
    } catch (error) {
      if (error instanceof EndpointError) throw new WordError(error.message);
      throw error;
    }
  },
};

const UNITS = { ms: 1, s: 1000, m: 60_000 } as const;
const LONGEST_MS = 86_400_000;

/** A time with its unit, in milliseconds. */
export const DURATION: Parameter<number> = {
  placeholder: 'TIME',
  parse(text) {
    const [, number = '', unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
    const value = Math.ceil(Number(number) * UNITS[unit === 'ms' || unit === 'm' ? unit : 's']);
    if (unit === undefined || value > LONGEST_MS) {
      const hint = /^\d+$/.test(text) ? `did you mean ${text}s or ${text}ms?` : 'at most 1440m';
      throw new WordError(`'${text}' is not a time like 500ms, 2s or 1m`, hint);
    }
    return value;
  },
};

export const DATA: Parameter<Uint8Array> = {
  placeholder: 'TEXT|0xHEX|@FILE',
  parse(text) {
    try {
      return dataOf(text);
    } catch (error) {
      if (error instanceof DataTextError) throw new WordError(error.message);
      throw error;
    }
  },
};

/** Bytes in hexadecimal, with or without 0x and spaces (in quotes). */
export const HEX_BYTES: Parameter<Uint8Array> = {
  placeholder: 'HEX',
  parse(word) {
    const digits = word.replace(/^0x/i, '').replaceAll(/\s/g, '');
    if (!/^([0-9a-f]{2})*$/i.test(digits)) {
      throw new WordError(`'${word}' is not bytes in hexadecimal`, 'two digits a byte, as 0a090001');
    }
    return Buffer.from(digits, 'hex');
  },
};

export const text = (placeholder: string): Parameter<string> => ({ placeholder, parse: (word) => word });
