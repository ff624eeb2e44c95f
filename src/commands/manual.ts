/** Manual pages, in man(7) macros, from the declared commands. */
import { EXIT_MEANINGS } from '../explain/failure.ts';
import { abiPage } from '../views/abi-page.ts';
import { bold, escapeRoff, header, page, section } from '../views/roff.ts';
import { loadCommands } from './all.ts';
import { sentence } from './help-text.ts';
import { allOptionsOf, COMMON_OPTIONS } from './program.ts';
import type { CommandSpec, OptionSpec, ReferenceTable } from './spec.ts';

const PROGRAM_SUMMARY = 'diagnostics for RDMA devices, connections and management datagrams';

/** File name to contents of every manual page. */
export async function manualPages(version: string): Promise<ReadonlyMap<string, string>> {
  const commands = await loadCommands();
  return new Map([
    ['rdmatool.1', programPage(commands, version)],
    ['rdmatool-abi.7', abiPage(version)],
    ...(await Promise.all(
      commands.map(
        async (spec): Promise<[string, string]> => [
          `${pageName(spec)}.1`,
          commandPage(spec, (await spec.reference?.()) ?? [], version),
        ],
      ),
    )),
  ]);
}

const pageName = (spec: CommandSpec): string => `rdmatool-${spec.path.join('-')}`;

function programPage(commands: readonly CommandSpec[], version: string): string {
  return page([
    header('rdmatool', version),
    ...section('NAME', `rdmatool \\- ${escapeRoff(PROGRAM_SUMMARY)}`),
    ...section('SYNOPSIS', `${bold('rdmatool')} \\fIcommand\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]`),
    ...section(
      'DESCRIPTION',
      escapeRoff(
        'rdmatool asks the RDMA libraries and the kernel of the machine, prints tables for people and JSON for scripts, and explains every failure: what failed, by name and number, what that means, and what to do next. It needs no privileges beyond those of the device nodes.',
      ),
      '.PP',
      'Without arguments it says what it finds on this machine and what to do next.',
    ),
    ...section(
      'COMMANDS',
      ...commands.flatMap((spec) => [
        '.TP',
        `${bold(pageName(spec))}(1)`,
        escapeRoff(sentence(spec.summary)),
      ]),
    ),
    ...section(
      'OPTIONS',
      'Every command has these:',
      ...optionLines(Object.values(COMMON_OPTIONS)),
      '.TP',
      `${bold('-h')}, ${bold('--help')}`,
      'show the help of the command, with examples.',
      '.TP',
      `${bold('-V')}, ${bold('--version')}`,
      'print the version.',
    ),
    ...section(
      'OUTPUT',
      escapeRoff(
        'Data goes to stdout, messages to stderr. With --json, stdout carries one document that fits its schema, on failure too: its key error is null exactly when all that was asked for was done. What could not be had is null, with the reason under unavailable of the same object. Nothing is coloured in a pipe, with NO_COLOR set, or with TERM=dumb.',
      ),
    ),
    ...exitSection(),
    ...section(
      'ENVIRONMENT',
      '.TP',
      bold('SYSFS_PATH'),
      'the root of sysfs, as for libibverbs.',
      '.TP',
      bold('NO_COLOR'),
      'no colour.',
      '.TP',
      bold('XDG_CACHE_HOME'),
      escapeRoff('where labs keep what they fetch and compile; ~/.cache without it.'),
      '.TP',
      bold('RDMATOOL_DEBUG'),
      'show where a fault of rdmatool itself happened.',
    ),
    ...section(
      'SEE ALSO',
      escapeRoff([...commands.map((spec) => `${pageName(spec)}(1)`), 'rdmatool-abi(7)'].join(', ')),
    ),
  ]);
}

function commandPage(spec: CommandSpec, reference: readonly ReferenceTable[], version: string): string {
  const usages = spec.arguments.map(({ usage }) => argumentUsage(usage));
  const dashes = spec.commandAfterDashes ? [...usages.slice(0, -1), bold('--'), ...usages.slice(-1)] : usages;
  return page([
    header(pageName(spec), version),
    ...section('NAME', `${escapeRoff(pageName(spec))} \\- ${escapeRoff(spec.summary)}`),
    ...section(
      'SYNOPSIS',
      [bold(`rdmatool ${spec.path.join(' ')}`), '[\\fIoptions\\fR]', ...dashes].join(' '),
    ),
    ...section(
      'DESCRIPTION',
      ...spec.details.flatMap((paragraph, index) => [...(index === 0 ? [] : ['.PP']), escapeRoff(paragraph)]),
    ),
    ...section(
      'ARGUMENTS',
      ...spec.arguments.flatMap(({ usage, description }) => [
        '.TP',
        argumentUsage(usage),
        escapeRoff(sentence(description)),
      ]),
    ).slice(spec.arguments.length === 0 ? 1 : 0),
    ...section('OPTIONS', ...optionLines(Object.values(allOptionsOf(spec)))),
    ...reference.flatMap(({ title, rows }) =>
      section(
        title.toUpperCase(),
        ...rows.flatMap(([word, meaning]) => ['.TP', bold(word), escapeRoff(sentence(meaning))]),
      ),
    ),
    ...exitSection(),
    ...section(
      'EXAMPLES',
      ...spec.examples.flatMap(({ command, does }) => ['.TP', bold(command), escapeRoff(sentence(does))]),
    ),
    ...section('SEE ALSO', escapeRoff(['rdmatool(1)', ...spec.seeAlso].join(', '))),
  ]);
}

/** `[device...]` with the name in italics. */
const argumentUsage = (usage: string): string =>
  usage.replace(/[\w-]+/, (name) => `\\fI${escapeRoff(name)}\\fR`).replace(/[<>]/g, '');

function optionLines(options: readonly OptionSpec<unknown>[]): string[] {
  return options.flatMap(({ flags, description, choices, initial }) => [
    '.TP',
    flags
      .split(', ')
      .map((part) => {
        const [flag = '', value] = part.split(' ');
        return value === undefined
          ? bold(flag)
          : `${bold(flag)} \\fI${escapeRoff(value.replace(/[<>]/g, ''))}\\fR`;
      })
      .join(', '),
    `${escapeRoff(description)}${choices && initial !== null ? ` (default: ${initial})` : ''}.`,
  ]);
}

const exitSection = (): string[] =>
  section(
    'EXIT STATUS',
    ...EXIT_MEANINGS.flatMap(([status, meaning]) => [
      '.TP',
      bold(String(status)),
      escapeRoff(sentence(meaning)),
    ]),
  );
