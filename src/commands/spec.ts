/**
 * How a command is declared: once, as data. The parser, the help, the manual page and the types of the options
 * all come from it.
 */
import type { FailureJson } from '../explain/failure.ts';
import type { Block } from '../output/blocks.ts';
import type { Streams } from '../output/streams.ts';
import type { ColorMode } from '../output/style.ts';

/** One option. `parse` turns the text of its value into T, or throws a UsageError. */
export interface OptionSpec<T> {
  /** As commander takes them: `-i, --ib-port <N>`. */
  readonly flags: string;
  /** What it does, one sentence without a full stop. */
  readonly description: string;
  parse?(text: string, previous: T): T;
  readonly initial: T;
  readonly choices?: readonly string[];
  readonly complete?: Completion;
}

/** A word that a shell may complete to, alone or with its meaning. */
export type CompletionWord = string | readonly [word: string, meaning: string];

/** Words that the machine knows: completion-words.ts finds them. */
export type WordKind = 'device' | 'port' | 'port-number' | 'address' | 'file' | 'directory';

/**
 * What a shell completes a value to. Without it: the choices, the table of the command's reference that names the
 * option or argument in `completes`, or what the name of the value says (`<file>`, `[device...]`, `--ib-dev`).
 */
export type Completion = WordKind | (() => Promise<readonly CompletionWord[]>);

export type OptionSpecs = { readonly [name: string]: OptionSpec<unknown> };
export type OptionValues<O extends OptionSpecs> = {
  readonly [K in keyof O]: O[K] extends OptionSpec<infer T> ? T : never;
};

/** A mistake in what the user typed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A switch: present or not. */
export function flag(flags: string, description: string): OptionSpec<boolean> {
  return { flags, description, initial: false };
}

/** A whole number within a range, both ends included. */
export function integerBetween(
  flags: string,
  description: string,
  minimum: number,
  maximum: number,
): OptionSpec<number | null> {
  return {
    flags,
    description,
    initial: null,
    parse(text) {
      const value = Number(text);
      if (!/^[0-9]+$/.test(text) || value < minimum || value > maximum) {
        throw new UsageError(`${flags}: '${text}' is not a whole number from ${minimum} to ${maximum}`);
      }
      return value;
    },
  };
}

/** A C int, and the longest time in ms that a timer waits. */
const MOST = 2 ** 31 - 1;

/** A positive whole number. */
export function positiveInteger(flags: string, description: string, most = MOST): OptionSpec<number | null> {
  return {
    flags,
    description,
    initial: null,
    parse(text) {
      const value = Number(text);
      if (!/^[0-9]+$/.test(text) || value === 0 || value > most) {
        throw new UsageError(`${flags}: '${text}' is not a whole number above 0 and up to ${most}`);
      }
      return value;
    },
  };
}

/** A day: what waits longer is a mistake, and Node's timers end at 2^31 ms. */
const LONGEST_WAIT_MS = 86_400_000;

/** A time to wait, milliseconds. */
export const milliseconds = (flags: string, description: string): OptionSpec<number | null> =>
  integerBetween(flags, description, 1, LONGEST_WAIT_MS);

/** A time in seconds, as `1` or `0.5`. */
export function seconds(flags: string, description: string): OptionSpec<number | null> {
  return {
    flags,
    description,
    initial: null,
    parse(text) {
      const value = Number(text);
      if (!/^[0-9]{0,5}(\.[0-9]{1,3})?$/.test(text) || value < SHORTEST_S || value > LONGEST_S) {
        throw new UsageError(
          `${flags}: '${text}' is not a number of seconds from ${SHORTEST_S} to ${LONGEST_S}`,
        );
      }
      return value;
    },
  };
}

const SHORTEST_S = 0.1;
const LONGEST_S = 86_400;

/** A text, once. */
export function text(flags: string, description: string): OptionSpec<string | null> {
  return { flags, description, initial: null, parse: (value) => value };
}

/** A text that may be given several times. */
export function texts(flags: string, description: string): OptionSpec<readonly string[]> {
  return { flags, description, initial: [], parse: (value, previous) => [...previous, value] };
}

/** One of some words. */
export function choice<const W extends string>(
  flags: string,
  description: string,
  words: readonly W[],
  initial: W,
): OptionSpec<W> {
  return { flags, description, initial, choices: words, parse: (value) => wordAmong(flags, words, value) };
}

/** One of some words, or none of them. */
export function optionalChoice<const W extends string>(
  flags: string,
  description: string,
  words: readonly W[],
): OptionSpec<W | null> {
  return {
    flags,
    description,
    initial: null,
    choices: words,
    parse: (value) => wordAmong(flags, words, value),
  };
}

function wordAmong<W extends string>(flags: string, words: readonly W[], value: string): W {
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) throw new UsageError(`${flags}: '${value}' is none of ${words.join(', ')}`);
  return word;
}

export interface ArgumentSpec {
  /** As commander takes it: `[device...]`. */
  readonly usage: string;
  readonly description: string;
  readonly complete?: Completion;
}

export interface Example {
  readonly command: string;
  readonly does: string;
}

/** Words that an option takes, each with what it stands for. */
export interface ReferenceTable {
  readonly title: string;
  readonly rows: ReadonlyArray<readonly [word: string, meaning: string]>;
  /** Names of values, as in `<attribute>`, that a shell completes to these words. */
  readonly completes?: string;
}

/** What a command's action gets. */
export interface Invocation<O extends OptionSpecs> {
  /** Positional arguments; a variadic one is spread. */
  readonly args: readonly string[];
  readonly options: OptionValues<O>;
  readonly context: Context;
}

/** What every command may use. */
export interface Context {
  readonly streams: Streams;
  readonly json: boolean;
  readonly color: ColorMode;
  /**
   * Shows a result, as the blocks of a view or as the JSON document, says on stderr what failed, and gives the
   * exit status.
   */
  conclude(document: ResultDocument, view: () => Promise<readonly Block[]>): Promise<number>;
  /**
   * Shows one object of a stream: a line of JSON, or a line for people.
   */
  emit(object: object, line: string): Promise<void>;
  /** Says on stderr what failed, and gives the exit status; 0 for null. */
  fail(error: FailureJson | null): number;
  /**
   * From now on Ctrl-C (and SIGTERM) aborts this signal in place of ending the process at once, so that what was
   * set up is taken down. A second one ends the process. It aborts too when nobody reads stdout any more: what ends
   * as interrupted then has the exit status 0, and no message.
   */
  interruption(): AbortSignal;
  /** As conclude, for one of a stream of results: JSON on one line. */
  event(document: ResultDocument, view: () => Promise<readonly Block[]>): Promise<number>;
  /** As event; on a terminal it takes the place of the one before. */
  frame(document: ResultDocument, view: () => Promise<readonly Block[]>): Promise<number>;
}

/** A result: `error` is null exactly when all that was asked for was done. */
export interface ResultDocument {
  readonly schema: string;
  readonly error: FailureJson | null;
}

export interface CommandSpec<O extends OptionSpecs = OptionSpecs> {
  /** Words after `rdmatool`. */
  readonly path: readonly string[];
  /** One line for the overview, without a full stop. */
  readonly summary: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly options: O;
  /** Paragraphs of the manual page. */
  readonly details: readonly string[];
  readonly examples: readonly Example[];
  /** Manual pages to read on, as `ibv_devinfo(1)`. */
  readonly seeAlso: readonly string[];
  /** Tables of words that the options take, for help and manual; loaded only for them. */
  readonly reference?: () => Promise<readonly ReferenceTable[]>;
  /** The last argument is another program's command line, and stands after `--`. */
  readonly commandAfterDashes?: boolean;
  /** `--json` prints an object a line, a failure before the first one too: always, or with one of the options. */
  readonly streams?: true | { readonly with: string };
  /** What `--json` prints when the command fails before it has a result. */
  readonly failed?: (error: FailureJson) => ResultDocument | Promise<ResultDocument>;
  /** Returns the exit status. */
  run(invocation: Invocation<O>): Promise<number>;
}

/** What a command's file declares; all.ts gives it its words. */
export type CommandDeclaration<O extends OptionSpecs = OptionSpecs> = Omit<CommandSpec<O>, 'path'>;

/** Keeps the types of the options with the action. */
export const defineCommand = <O extends OptionSpecs>(spec: CommandDeclaration<O>): CommandDeclaration<O> =>
  spec;

export const COLOR = choice(
  '--color <when>',
  'colour: auto, always or never',
  ['auto', 'always', 'never'],
  'auto',
);
export const JSON_FLAG = flag('--json', 'print one JSON document (see rdmatool-schema(1))');
/** The same option of a command that streams. */
export const JSON_LINES_FLAG = flag('--json', 'print JSON, one object a line (see rdmatool-schema(1))');
