/** Builds the program, runs it, and turns errors into messages and exit statuses: the one place that does. */
import { CommanderError } from 'commander';
import { COMMAND_NAMES, commandNamedBy, GROUPS, loadCommand, loadCommands } from './commands/all.ts';
import { endDespiteHangingCalls } from './commands/end.ts';
import { Interruption } from './commands/interruption.ts';
import { buildProgram } from './commands/program.ts';
import { type CommandSpec, type Context, type ResultDocument, UsageError } from './commands/spec.ts';
import { loadUnreadCheck } from './commands/unread.ts';
import { errnoText, errnoValue } from './explain/errno.ts';
import { ExitStatus, FAILURES, Failure, type FailureJson } from './explain/failure.ts';
import { jsonDocument, jsonLine } from './output/json.ts';
import { OutputError, processStreams, type Streams } from './output/streams.ts';
import type { ColorMode } from './output/style.ts';
import { packageVersion } from './package-root.ts';
import { abandonedOperations, DeadlineError } from './waiting/deadline.ts';
import { reserveThreads } from './waiting/side-by-side.ts';

/** What the completion scripts of the shells call; no command. */
const COMPLETE_WORD = '__complete';

/**
 * Runs rdmatool and sets the exit status.
 * @param argv the arguments after the program's name
 */
export async function main(argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  const streams = processStreams(loadUnreadCheck);
  const status = await run(argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv, streams);
  process.exitCode = status;
  // A call that hangs inside C keeps the process alive.
  const isCutShort = status === ExitStatus.INTERRUPTED || streams.readerGone.aborted;
  if (abandonedOperations() > 0 || isCutShort) {
    await endDespiteHangingCalls(status);
    process.exit(status);
  }
}

/** Nobody reads what the command has to say: it was ended for that, and not for a failure. */
const isUnread = (status: number, streams: Streams): boolean =>
  status === ExitStatus.INTERRUPTED && streams.readerGone.aborted;

async function run(argv: readonly string[], streams: Streams): Promise<number> {
  const messages: string[] = [];
  try {
    const status = await runCommand(argv, streams, messages);
    return isUnread(status, streams) ? ExitStatus.DONE : status;
  } catch (error) {
    const failure = asFailure(error, argv, messages);
    if (isUnread(failure.exitStatus, streams)) return ExitStatus.DONE;
    if (!(error instanceof OutputError)) await printFailedDocument(argv, failure.toJSON(), streams);
    sayFailure(streams, failure.toJSON());
    return failure.exitStatus;
  }
}

async function runCommand(argv: readonly string[], streams: Streams, messages: string[]): Promise<number> {
  if (argv.length === 0) {
    const { overviewText } = await import('./commands/overview.ts');
    await streams.data(await overviewText());
    return ExitStatus.DONE;
  }
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    await streams.data(`rdmatool ${packageVersion()}\n`);
    return ExitStatus.DONE;
  }
  if (argv[0] === COMPLETE_WORD) {
    const { completionAnswer } = await import('./commands/completion-protocol.ts');
    // A shell shows nothing of a failure, and has no completions then.
    await streams.data(await completionAnswer(argv.slice(1)));
    return ExitStatus.DONE;
  }
  let status: number = ExitStatus.DONE;
  const wantsHelp = argv.some((word) => word === '-h' || word === '--help');
  const named = await commandIn(argv);
  const reference = wantsHelp ? await named?.reference?.() : undefined;
  const commands = named === null ? await loadCommands() : [named];
  const program = buildProgram(commands, reference ?? [], async (spec, args, options) => {
    const interruption = new Interruption();
    const context: Context = {
      ...createContext(streams, options['json'] === true, options['color'] as ColorMode),
      interruption: () => AbortSignal.any([interruption.awaited(), streams.readerGone]),
    };
    // A program that a command runs is to find its environment as the user made it.
    if (!spec.commandAfterDashes) reserveThreads();
    const work = spec.run({ args, options, context });
    // A command that runs another program leaves Ctrl-C to that one.
    status = await (spec.commandAfterDashes ? work : interruption.orResult(work));
  });
  let help = '';
  for (const command of [program, ...program.commands, ...program.commands.flatMap((sub) => sub.commands)]) {
    command.exitOverride().configureOutput({
      writeOut: (text) => {
        help += text;
      },
      writeErr: (text) => messages.push(text),
      getOutHelpWidth: () => streams.width ?? columnsWished() ?? 80,
      getOutHasColors: () => false,
    });
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError && error.exitCode === 0)) throw error;
    await streams.data(help);
  }
  return status;
}

/** The command that the arguments name, null where they name none. */
async function commandIn(argv: readonly string[]): Promise<CommandSpec | null> {
  const name = commandNamedBy(argv);
  return name === undefined ? null : await loadCommand(name);
}

/** COLUMNS, as a user sets it for programs that do not write to a terminal. */
function columnsWished(environment: NodeJS.ProcessEnv = process.env): number | null {
  const columns = Number(environment['COLUMNS']);
  return Number.isInteger(columns) && columns >= 40 ? columns : null;
}

function createContext(streams: Streams, json: boolean, color: ColorMode): Omit<Context, 'interruption'> {
  const fail = (error: FailureJson | null): number => {
    if (error === null || isUnread(FAILURES[error.code], streams)) return ExitStatus.DONE;
    sayFailure(streams, error);
    return FAILURES[error.code];
  };
  const show =
    (toJson: (value: object) => string, write = streams.data): Context['conclude'] =>
    async (document, view) => {
      if (json) await streams.data(toJson(document));
      else await write(await render(await view()));
      return fail(document.error);
    };
  return {
    streams,
    json,
    color,
    emit: (object, line) => streams.data(json ? jsonLine(object) : `${line}\n`),
    fail,
    conclude: show(jsonDocument),
    event: show(jsonLine),
    frame: show(jsonLine, streams.frame),
  };

  async function render(blocks: Awaited<ReturnType<Parameters<Context['conclude']>[1]>>): Promise<string> {
    const { renderBlocks } = await import('./output/blocks.ts');
    const { createStyle, wantsColor } = await import('./output/style.ts');
    const style = createStyle(wantsColor(color, streams.isTerminal));
    return renderBlocks(blocks, { style, width: streams.width });
  }
}

function sayFailure(streams: Streams, failure: FailureJson): void {
  streams.message(`rdmatool: ${failure.message}`);
  if (failure.hint !== '') streams.message(`next: ${failure.hint}`);
}

/** stdout carries a document that fits the schema even where the command never got to work. */
async function printFailedDocument(
  argv: readonly string[],
  error: FailureJson,
  streams: Streams,
): Promise<void> {
  const ownArguments = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const spec = await commandIn(ownArguments);
  // An interruption may come when the document, or a part of it, is out.
  if (!spec?.failed || !ownArguments.includes('--json') || streams.hasData) return;
  const document: ResultDocument = await spec.failed(error);
  await streams
    .data(doesStream(spec, ownArguments) ? jsonLine(document) : jsonDocument(document))
    .catch(() => {});
}

/** Whether the arguments, which may be wrong, ask for an object a line. */
function doesStream({ streams, options }: CommandSpec, words: readonly string[]): boolean {
  if (streams === undefined || streams === true) return streams === true;
  const flags = options[streams.with]?.flags.split(/[ ,]+/).filter((word) => word.startsWith('-')) ?? [];
  return words.some((word) =>
    flags.some((flag) => (flag.startsWith('--') ? word.split('=')[0] === flag : word.startsWith(flag))),
  );
}

function asFailure(error: unknown, argv: readonly string[], messages: readonly string[]): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof CommanderError || error instanceof UsageError) {
    return usageFailure(error, argv, messages);
  }
  if (error instanceof OutputError) {
    return new Failure(
      'OUTPUT_FAILED',
      `stdout cannot be written: ${errnoText(error.errno)}`,
      'what was printed is not complete',
      { errno: errnoValue(error.errno), cause: error },
    );
  }
  if (error instanceof DeadlineError) {
    return new Failure('TIMED_OUT', error.message, 'the driver or its firmware does not answer: see dmesg', {
      cause: error,
    });
  }
  const cause = error instanceof Error ? error : new Error(String(error));
  if (cause.name === 'UnsupportedPlatformError' || /koffi/i.test(cause.message)) {
    return new Failure(
      'UNSUPPORTED_PLATFORM',
      cause.message,
      'run rdmatool on Linux, x86-64 or arm64, with the optional packages of koffi installed (npm ci)',
      { cause },
    );
  }
  const detail = process.env['RDMATOOL_DEBUG'] ? `\n${cause.stack}` : '';
  return new Failure(
    'INTERNAL',
    `a fault of rdmatool itself: ${cause.message}${detail}`,
    'set RDMATOOL_DEBUG=1 for the place, and report it',
    { cause },
  );
}

/** A message that quotes a very long word of the command line, with a part of it left out. */
const shortened = (message: string): string =>
  message.length <= 600 ? message : `${message.slice(0, 300)} ... ${message.slice(-200)}`;

/** commander says `error: unknown option '--jsn'`, and on a second line `(Did you mean --json?)`. */
function usageFailure(error: Error, argv: readonly string[], messages: readonly string[]): Failure {
  const [said, suggestion] = (messages.join('') || error.message).replace(/^error: /, '').split('\n');
  const meant = /^\((Did you mean .*)\)$/.exec(suggestion ?? '')?.[1];
  const name = commandNamedBy(argv);
  if (error instanceof CommanderError && error.code === 'commander.help') {
    const group = argv.find((word) => Object.hasOwn(GROUPS, word)) ?? '';
    const commands = COMMAND_NAMES.filter((one) => one.startsWith(`${group} `)).map(
      (one) => one.split(' ')[1],
    );
    return new Failure(
      'USAGE',
      `${group}: which command? There is ${commands.join(', ')}`,
      `rdmatool ${group} --help`,
      { cause: error },
    );
  }
  const asked = name ?? argv.find((word) => Object.hasOwn(GROUPS, word));
  const help = `rdmatool ${asked === undefined ? '' : `${asked} `}--help`;
  const isBefore = name !== undefined && argv[0]?.startsWith('-') === true;
  const hints = [
    ...(meant === undefined ? [] : [`d${meant.slice(1)}`]),
    ...(isBefore ? ['options stand after the command'] : []),
    help,
  ];
  return new Failure('USAGE', shortened(said ?? error.message), hints.join(' '), { cause: error });
}
