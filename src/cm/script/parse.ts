/** A script into steps. Every mistake is found before the first step runs. */
import { constants } from 'node:os';
import { FAILURES } from '../../explain/failure.ts';
import { nearest } from '../../explain/nearest.ts';
import type { Operation } from './operation.ts';
import { type Parameter, type Scope, suggestion, WordError } from './parameters.ts';
import { DEFAULT_CHANNEL } from './stage.ts';
import { ScriptError, splitWords, type Word } from './words.ts';

/** Characters of a line, and lines of a script: what is longer is no script. */
const LONGEST_LINE = 4096;
const MOST_LINES = 100_000;

export interface Step {
  /** From 1. */
  readonly line: number;
  readonly text: string;
  readonly operation: Operation;
  readonly values: Readonly<Record<string, unknown>>;
  /** null: it is to succeed; a code of ours or an errno by name: so it is to fail; '' for any failure. */
  readonly failure: string | null;
  /** What it is about. */
  readonly subject: string | null;
}

/**
 * Reads a script.
 * @param presets values of variables, before those that the script gives
 * @returns the steps, and the mistakes, in the order of the lines; with mistakes the steps are not to be run
 */
export function parseScript(
  text: string,
  operations: readonly Operation[],
  presets: ReadonlyMap<string, string>,
): { steps: Step[]; mistakes: ScriptError[] } {
  const reader = new Reader(operations, presets);
  const lines = text.split('\n');
  if (lines.length > MOST_LINES) {
    const mistake = new ScriptError(1, 1, `the script has more than ${MOST_LINES} lines`, '');
    return { steps: [], mistakes: [mistake] };
  }
  for (const [index, line] of lines.entries()) reader.read(line.replace(/\r$/, ''), index + 1);
  const unused = [...presets.keys()].filter((name) => !reader.used.has(name));
  if (reader.mistakes.length === 0) {
    for (const name of unused) {
      const hint = suggestion(
        name,
        [...reader.variables.keys()].filter((known) => known !== name),
      );
      reader.mistakes.push(new ScriptError(1, 1, `the script has no variable ${name} (--set)`, hint));
    }
  }
  if (reader.mistakes.length === 0 && reader.steps.length === 0) {
    reader.mistakes.push(
      new ScriptError(1, 1, 'the script has no steps', 'rdmatool cm run --help shows the operations'),
    );
  }
  return { steps: reader.steps, mistakes: reader.mistakes };
}

class Reader {
  readonly steps: Step[] = [];
  readonly mistakes: ScriptError[] = [];
  readonly variables: Map<string, string>;
  /** Variables that the script knows of. */
  readonly used = new Set<string>();
  readonly #ids = new Set<string>();
  readonly #channels = new Set([DEFAULT_CHANNEL]);
  readonly #operations: ReadonlyMap<string, Operation>;

  constructor(
    operations: readonly Operation[],
    private readonly presets: ReadonlyMap<string, string>,
  ) {
    this.variables = new Map(presets);
    this.#operations = new Map(operations.map((operation) => [operation.name, operation]));
  }

  read(line: string, number: number): void {
    try {
      if (line.length > LONGEST_LINE) {
        throw new ScriptError(number, LONGEST_LINE, `the line has more than ${LONGEST_LINE} characters`, '');
      }
      const words = splitWords(line, number, (name, column) => this.#lookUp(name, number, column));
      const [first, ...others] = words;
      if (first === undefined) return;
      if (this.#assigns(first, others, line, number)) return;
      this.steps.push(this.#step(first, others, line.trim(), number));
    } catch (error) {
      if (!(error instanceof ScriptError)) throw error;
      this.mistakes.push(error);
    }
  }

  #lookUp(name: string, line: number, column: number): string {
    this.used.add(name);
    const value = this.variables.get(name);
    if (value !== undefined) return value;
    const known = [...this.variables.keys()];
    const hint = suggestion(
      name,
      known,
      `give it a value: ${name}=... on a line before, or --set ${name}=...`,
    );
    throw new ScriptError(line, column, `the variable ${name} has no value`, hint);
  }

  /** `NAME=VALUE`; what the command line gives comes first. */
  #assigns(first: Word, others: readonly Word[], line: string, number: number): boolean {
    const [, name, value = ''] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(first.text) ?? [];
    // The name itself stands bare, `"a"=b` is something else.
    if (name === undefined || !line.startsWith(`${name}=`, first.column - 1)) return false;
    const [extra] = others;
    if (extra) {
      const hint = `a value with spaces stands in quotes: ${name}='...'`;
      throw new ScriptError(number, extra.column, `nothing may stand after ${name}=${value}`, hint);
    }
    this.used.add(name);
    if (!this.presets.has(name)) this.variables.set(name, value);
    return true;
  }

  #step(first: Word, others: readonly Word[], text: string, line: number): Step {
    const { failure, head, words } = this.#expectation(first, others, line);
    const operation = this.#operations.get(head.text);
    if (!operation) {
      const names = [...this.#operations.keys()];
      const hint = suggestion(
        head.text.toLowerCase().replaceAll('_', '-'),
        names,
        'see rdmatool cm run --help',
      );
      throw new ScriptError(line, head.column, `there is no operation '${head.text}'`, hint);
    }
    const { values, changes } = this.#values(operation, head, words, line);
    if (failure === null) for (const change of changes) change({ ids: this.#ids, channels: this.#channels });
    const subject = values['id'] ?? values['channel'];
    return { line, text, operation, values, failure, subject: typeof subject === 'string' ? subject : null };
  }

  /** Takes a `!` or `!NAME` off the step. */
  #expectation(first: Word, others: readonly Word[], line: number) {
    if (!first.isBare || !first.text.startsWith('!')) return { failure: null, head: first, words: others };
    const name = first.text.slice(1);
    // Without a space, as in a shell that does not mind.
    if (this.#operations.has(name)) {
      return { failure: '', head: { ...first, text: name, column: first.column + 1 }, words: others };
    }
    const names = [...Object.keys(FAILURES), ...Object.keys(constants.errno)];
    if (name !== '' && !names.includes(name)) {
      const operations = nearest(name, [...this.#operations.keys()]).map((found) => `! ${found}`);
      const hint =
        operations.length > 0 ? `did you mean ${operations.join(' or ')}?` : suggestion(name, names);
      throw new ScriptError(line, first.column + 1, `'${name}' is neither an error code nor an errno`, hint);
    }
    const [head, ...words] = others;
    if (!head) throw new ScriptError(line, first.column, `${first.text} stands before no step`, '');
    return { failure: name, head, words };
  }

  #values(operation: Operation, head: Word, words: readonly Word[], line: number) {
    const values: Record<string, unknown> = {};
    const changes: Parameters<Scope['after']>[0][] = [];
    const scope: Scope = {
      ids: this.#ids,
      channels: this.#channels,
      after: (change) => changes.push(change),
    };
    const read = (parameter: Parameter<unknown>, word: Word): unknown => {
      try {
        return parameter.parse(word.text, scope, values);
      } catch (error) {
        if (error instanceof WordError) throw new ScriptError(line, word.column, error.message, error.hint);
        throw error;
      }
    };
    const fail = (column: number, message: string, hint = usage): never => {
      throw new ScriptError(line, column, `${operation.name}: ${message}`, hint);
    };
    const usage = `see rdmatool cm run --help for ${operation.name}`;
    const options = Object.entries(operation.options);
    const places = Object.entries(operation.positional);
    for (const [name, { initial }] of options) values[name] = initial;
    const given = new Set<string>();
    let place = 0;
    for (let at = 0; at < words.length; at++) {
      const word = words[at];
      if (!word) break;
      const [name, option] = options.find(([, { word: known }]) => word.isBare && known === word.text) ?? [];
      if (name !== undefined && option) {
        if (given.has(name)) fail(word.column, `${option.word} stands twice`);
        given.add(name);
        if (option.parameter === null) values[name] = true;
        else {
          const value = words[++at];
          if (!value) fail(word.column, `${option.word} needs a value: ${option.parameter.placeholder}`);
          else values[name] = read(option.parameter, value);
        }
        continue;
      }
      if (word.isBare && word.text.startsWith('--')) {
        fail(
          word.column,
          `there is no ${word.text}`,
          suggestion(
            word.text,
            options.map(([, { word: known }]) => known),
            usage,
          ),
        );
      }
      const [next, positional] = places[place] ?? [];
      if (next === undefined || !positional) {
        const known = options.map(([, { word: option }]) => option);
        fail(word.column, `'${word.text}' is one word too many`, suggestion(word.text, known, usage));
      } else if (positional.kind === 'rest') {
        const parsed = read(positional, word);
        const before = values[next];
        values[next] = [...(Array.isArray(before) ? before : []), ...(Array.isArray(parsed) ? parsed : [])];
      } else {
        values[next] = read(positional, word);
        place++;
      }
    }
    for (const [name, { kind, placeholder }] of places.slice(place)) {
      if (kind === 'optional') values[name] = null;
      else if (!(name in values)) fail(head.column + head.text.length, `${placeholder} is missing`);
    }
    return { values, changes };
  }
}
