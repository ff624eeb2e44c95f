/** From the declared commands to a parser: commander's part of the command line. */
import { Command, Option } from 'commander';
import { GROUPS } from './all.ts';
import { examplesText, referenceText, sentence } from './help-text.ts';
import {
  COLOR,
  type CommandSpec,
  JSON_FLAG,
  JSON_LINES_FLAG,
  type OptionSpecs,
  type OptionValues,
  type ReferenceTable,
} from './spec.ts';

/** What is done with a command once the command line has been understood. */
export type Dispatch = (
  spec: CommandSpec,
  args: readonly string[],
  options: OptionValues<OptionSpecs>,
) => Promise<void>;

/** Options that every command has. */
export const COMMON_OPTIONS = { json: JSON_FLAG, color: COLOR } as const;

/** The options of a command, the common ones last. */
export const allOptionsOf = (spec: CommandSpec): OptionSpecs => ({
  ...spec.options,
  ...COMMON_OPTIONS,
  ...(spec.streams === true ? { json: JSON_LINES_FLAG } : {}),
});

/**
 * The parser for some commands, all or one: declaring a command that is not named would cost the start.
 */
export function buildProgram(
  commands: readonly CommandSpec[],
  reference: readonly ReferenceTable[],
  dispatch: Dispatch,
): Command {
  const program = new Command('rdmatool')
    .description('Diagnostics for RDMA: devices, connections and management datagrams')
    .helpCommand(false)
    .option('-V, --version', 'print the version')
    .showSuggestionAfterError(true)
    .enablePositionalOptions()
    // A group lists its commands by name; their arguments stand in their own help.
    .configureHelp({ subcommandTerm: (command) => command.name(), minWidthToWrap: 24 });
  const groups = new Map<string, Command>();
  for (const spec of commands) {
    const [first, second] = spec.path;
    let parent = program;
    if (first !== undefined && second !== undefined) {
      parent =
        groups.get(first) ??
        program
          .command(first)
          .description(GROUPS[first] ?? '')
          .helpCommand(false);
      groups.set(first, parent);
    }
    declare(parent.command(spec.path.at(-1) ?? '').summary(spec.summary), spec, reference, dispatch);
  }
  return program;
}

function declare(
  command: Command,
  spec: CommandSpec,
  reference: readonly ReferenceTable[],
  dispatch: Dispatch,
): void {
  command.description(sentence(spec.summary));
  for (const argument of spec.arguments) command.argument(argument.usage, argument.description);
  const options = Object.entries(allOptionsOf(spec));
  const initials = Object.fromEntries(options.map(([name, option]) => [name, option.initial]));
  for (const [, option] of options) {
    const declared = new Option(option.flags, option.description);
    if (option.choices) declared.choices([...option.choices]);
    const { parse } = option;
    if (parse) declared.argParser<unknown>((value, previous) => parse(value, previous ?? option.initial));
    // A default that says nothing (off, none) is left out of the help.
    if (option.choices && option.initial !== null) declared.default(option.initial);
    command.addOption(declared);
  }
  command.addHelpText('after', () => {
    const width = command.configureOutput().getOutHelpWidth?.() ?? 80;
    const tables = reference.map((table) => referenceText(table, width));
    return `${tables.join('')}${examplesText(spec.examples, width)}`;
  });
  command.action(async () => {
    // commander names options after their long flag; the specs' keys are the same names.
    await dispatch(spec, command.args, { ...initials, ...command.opts<OptionValues<OptionSpecs>>() });
  });
}
