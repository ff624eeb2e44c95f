/** What a shell may put in place of the word at its cursor: from the declared commands, and from the machine. */
import { basename } from 'node:path';
import { COMMAND_NAMES, commandNamedBy, GROUPS, loadCommand, loadCommands } from './all.ts';
import { liveWords } from './completion-words.ts';
import { allOptionsOf } from './program.ts';
import type {
  ArgumentSpec,
  CommandSpec,
  Completion,
  CompletionWord,
  OptionSpec,
  ReferenceTable,
  WordKind,
} from './spec.ts';

export interface Candidate {
  readonly word: string;
  readonly meaning: string;
}

/** Words of ours, or what the shell is to complete by itself. */
export type Completions =
  | { readonly kind: 'words'; readonly words: readonly Candidate[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'directories' }
  /** Another program's command line, which begins with that word; 0 is the program's own name. */
  | { readonly kind: 'command'; readonly from: number };

/**
 * Completes a command line.
 * @param words whole words before the cursor, without the name of the program
 * @param current the word at the cursor up to it
 */
export async function complete(words: readonly string[], current: string): Promise<Completions> {
  const own = words[0] === 'help' ? words.slice(1) : words;
  const name = commandNamedBy(own.includes('--') ? own.slice(0, own.indexOf('--')) : own);
  const spec = name === undefined ? null : await loadCommand(name);
  if (spec === null) return matching(await nextWords(own, current, words.length > own.length), current);
  const dashes = own.indexOf('--');
  if (dashes >= 0 && spec.commandAfterDashes) {
    const [program, ...rest] = own.slice(dashes + 1);
    if (program !== undefined && basename(program) === 'rdmatool') return complete(rest, current);
    return { kind: 'command', from: words.length - own.length + dashes + 2 };
  }
  return new Line(spec, own, current).completions();
}

const matching = (words: readonly CompletionWord[], current: string): Completions => ({
  kind: 'words',
  words: words
    .map(
      (word): Candidate =>
        typeof word === 'string' ? { word, meaning: '' } : { word: word[0], meaning: word[1] },
    )
    .filter(({ word }) => word.startsWith(current)),
});

/** Commands, or those of a group. */
async function nextWords(
  words: readonly string[],
  current: string,
  isHelp: boolean,
): Promise<readonly CompletionWord[]> {
  if (current.startsWith('-')) {
    return words.length > 0 || isHelp
      ? [['--help', 'show the help']]
      : [
          ['--help', 'show the help'],
          ['--version', 'print the version'],
        ];
  }
  const [group, ...more] = words;
  if (more.length > 0) return [];
  if (group !== undefined) {
    const names = COMMAND_NAMES.filter((name) => name.startsWith(`${group} `));
    const specs = await Promise.all(names.map(loadCommand));
    return specs.flatMap((spec): CompletionWord[] => (spec ? [[spec.path.at(-1) ?? '', spec.summary]] : []));
  }
  const specs = await loadCommands();
  const firsts = new Map(
    specs.map(({ path: [first = '', second], summary }) => [
      first,
      second === undefined ? summary : (GROUPS[first] ?? ''),
    ]),
  );
  return [...firsts, ...(isHelp ? [] : [['help', 'show the help of a command'] as const])];
}

/** The words after those of a command. */
class Line {
  readonly #options: readonly (readonly [name: string, spec: OptionSpec<unknown>])[];
  readonly #typed: readonly string[];

  constructor(
    private readonly spec: CommandSpec,
    words: readonly string[],
    private readonly current: string,
  ) {
    this.#options = Object.entries(allOptionsOf(spec));
    this.#typed = words.slice(spec.path.length);
  }

  async completions(): Promise<Completions> {
    const { spec, current } = this;
    const given = new Set<OptionSpec<unknown>>();
    let waiting: OptionSpec<unknown> | null = null;
    let position = 0;
    let isOver = false;
    let device: string | null = null;
    for (const word of this.#typed) {
      if (waiting !== null) {
        if (/--ib-dev\b/.test(waiting.flags)) device = word;
        waiting = null;
      } else if (!isOver && word === '--') isOver = true;
      else if (!isOver && /^-./.test(word)) {
        const [flag = '', value] = word.split(/=(.*)/s);
        const option = this.#option(flag);
        if (option === null) continue;
        given.add(option);
        if (valueName(option) !== null && value === undefined && !isAttached(word, option)) waiting = option;
      } else position++;
    }
    if (waiting !== null) return this.#value(waiting, current, '', device);
    if (!isOver && current.startsWith('-')) {
      const [, flag = '', value = ''] = /^(--[\w-]+=)(.*)$/s.exec(current) ?? [];
      const option = flag === '' ? null : this.#option(flag.slice(0, -1));
      if (option !== null) return this.#value(option, value, flag, device);
      return matching(this.#flags(given), current);
    }
    const argument = spec.arguments[position] ?? variadic(spec.arguments);
    if (argument === undefined) return matching([], current);
    if (spec.commandAfterDashes && argument === spec.arguments.at(-1)) {
      return matching([['--', 'the program follows']], current);
    }
    return this.#words(argument, nameOf(argument.usage), current, '', device);
  }

  #option(flag: string): OptionSpec<unknown> | null {
    return this.#options.find(([, { flags }]) => flagsOf(flags).includes(flag))?.[1] ?? null;
  }

  /** Long flags that are not given yet, or may be repeated. */
  #flags(given: ReadonlySet<OptionSpec<unknown>>): CompletionWord[] {
    const left = this.#options.filter(([, option]) => Array.isArray(option.initial) || !given.has(option));
    return [
      ...left.map(([, { flags, description }]) => [flagsOf(flags).at(-1) ?? '', description] as const),
      ['--help', 'show the help'],
    ];
  }

  #value(
    option: OptionSpec<unknown>,
    current: string,
    prefix: string,
    device: string | null,
  ): Promise<Completions> {
    const flag = flagsOf(option.flags).at(-1) ?? '';
    return this.#words(option, valueName(option) ?? '', current, prefix, device, flag);
  }

  /** What a value is completed to. `prefix` stands before it in the word at the cursor. */
  async #words(
    declared: Pick<OptionSpec<unknown>, 'choices' | 'complete'> | ArgumentSpec,
    name: string,
    current: string,
    prefix: string,
    device: string | null,
    flag = '',
  ): Promise<Completions> {
    const how = declared.complete ?? BY_FLAG[flag] ?? BY_NAME[name];
    if ('choices' in declared && declared.choices)
      return prefixed(matching(declared.choices, current), prefix);
    if (how === 'file') return { kind: 'files' };
    if (how === 'directory') return { kind: 'directories' };
    const words = how === undefined ? await this.#reference(name) : await wordsOf(how, device);
    return prefixed(matching(words, current), prefix);
  }

  /** The words of the command's tables that are meant for this value. */
  async #reference(name: string): Promise<CompletionWord[]> {
    const tables: readonly ReferenceTable[] = (await this.spec.reference?.()) ?? [];
    return tables
      .filter(({ completes }) => completes === name)
      .flatMap(({ rows }) => rows)
      .map(([word, meaning]) => [literalPart(word), meaning] as const)
      .filter(([word]) => word !== '');
  }
}

/** By the long flag: the same in every command. */
const BY_FLAG: Readonly<Record<string, WordKind>> = { '--ib-dev': 'device', '--ib-port': 'port-number' };

/** By the name of the value. */
const BY_NAME: Readonly<Record<string, WordKind>> = {
  device: 'device',
  dev: 'device',
  'device/port': 'port',
  file: 'file',
  directory: 'directory',
  addr: 'address',
};

const wordsOf = async (how: Completion, device: string | null): Promise<readonly CompletionWord[]> => {
  if (typeof how === 'function') return how();
  return how === 'file' || how === 'directory' ? [] : liveWords(how, device);
};

function prefixed(completions: Completions, prefix: string): Completions {
  if (completions.kind !== 'words' || prefix === '') return completions;
  return {
    kind: 'words',
    words: completions.words.map(({ word, meaning }) => ({ word: prefix + word, meaning })),
  };
}

/** `-i, --ib-port <N>` as its flags, the long one last. */
const flagsOf = (flags: string): string[] => flags.split(/[ ,]+/).filter((part) => part.startsWith('-'));

/** `N` of `-i, --ib-port <N>`; null for a switch. */
const valueName = ({ flags }: OptionSpec<unknown>): string | null =>
  /[<[]([^>\].]+)/.exec(flags)?.[1] ?? null;

/** `device` of `[device...]`. */
const nameOf = (usage: string): string => usage.replace(/[<>[\].]/g, '');

const variadic = (declared: readonly ArgumentSpec[]): ArgumentSpec | undefined => {
  const last = declared.at(-1);
  return last?.usage.includes('...') ? last : undefined;
};

/** `-i2`: the value follows without a blank. */
const isAttached = (word: string, option: OptionSpec<unknown>): boolean =>
  !word.startsWith('--') && word.length > 2 && flagsOf(option.flags).includes(word.slice(0, 2));

/** `hide-library=` of `hide-library=FILE`: what comes after it is for the user to say. */
const literalPart = (word: string): string => (/[:=]/.test(word) ? word.replace(/[A-Z]{2,}.*$/s, '') : word);
