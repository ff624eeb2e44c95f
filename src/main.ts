/** Builds the program, runs it, and turns errors into messages and exit statuses: the one place that does. */
import { CommanderError } from 'commander';
import { buildProgram, commandNamedBy } from './commands/program.ts';
import { type Context, type ResultDocument, UsageError } from './commands/spec.ts';
import { ExitStatus, FAILURES, Failure, type FailureJson } from './explain/failure.ts';
import { jsonDocument, jsonLine } from './output/json.ts';
import { processStreams, type Streams } from './output/streams.ts';
import type { ColorMode } from './output/style.ts';
import { packageVersion } from './package-root.ts';
import { abandonedOperations, DeadlineError } from './waiting/deadline.ts';

/**
 * Runs rdmatool and sets the exit status.
 * @param argv the arguments after the program's name
 */
export async function main(argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  const streams = processStreams();
  process.exitCode = await run(argv, streams);
  // A call that hangs inside C keeps the process alive; what was to be said has been said.
  if (abandonedOperations() > 0) process.exit();
}

async function run(argv: readonly string[], streams: Streams): Promise<number> {
  if (argv.length === 0) return overview(streams);
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    await streams.data(`rdmatool ${packageVersion()}\n`);
    return ExitStatus.DONE;
  }
  let status: number = ExitStatus.DONE;
  const wantsHelp = argv.some((word) => word === '-h' || word === '--help');
  const reference = wantsHelp ? await commandNamedBy(argv)?.reference?.() : undefined;
  const program = buildProgram(argv, reference ?? [], async (spec, args, options) => {
    const context = createContext(streams, options['json'] === true, options['color'] as ColorMode);
    status = await spec.run({ args, options, context });
  });
  let help = '';
  const messages: string[] = [];
  for (const command of [program, ...program.commands, ...program.commands.flatMap((sub) => sub.commands)]) {
    command.exitOverride().configureOutput({
      writeOut: (text) => {
        help += text;
      },
      writeErr: (text) => messages.push(text),
      getOutHelpWidth: () => streams.width ?? 100,
      getOutHasColors: () => false,
    });
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) {
      await streams.data(help);
      return ExitStatus.DONE;
    }
    const failure = asFailure(error, messages);
    await printFailedDocument(argv, failure.toJSON(), streams);
    sayFailure(streams, failure.toJSON(), true);
    return failure.exitStatus;
  }
}

/** `rdmatool` alone: what is here, and what to do next. */
async function overview(streams: Streams): Promise<number> {
  const { overviewText } = await import('./commands/overview.ts');
  await streams.data(overviewText());
  return ExitStatus.DONE;
}

function createContext(streams: Streams, json: boolean, color: ColorMode): Context {
  return {
    streams,
    json,
    color,
    emit: (object, line) => streams.data(json ? jsonLine(object) : `${line}\n`),
    fail(error) {
      if (error === null) return ExitStatus.DONE;
      sayFailure(streams, error, true);
      return FAILURES[error.code];
    },
    interruption,
    async conclude(document, view) {
      await streams.data(json ? jsonDocument(document) : await render(await view()));
      if (document.error === null) return ExitStatus.DONE;
      sayFailure(streams, document.error, true);
      return FAILURES[document.error.code];
    },
  };

  async function render(blocks: Awaited<ReturnType<Parameters<Context['conclude']>[1]>>): Promise<string> {
    const { renderBlocks } = await import('./output/blocks.ts');
    const { createStyle, wantsColor } = await import('./output/style.ts');
    const style = createStyle(wantsColor(color, streams.isTerminal));
    return renderBlocks(blocks, { style, width: streams.width });
  }
}

/** Aborts at the first SIGINT, SIGTERM or SIGHUP; at the second the process ends. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(ExitStatus.INTERRUPTED);
      controller.abort();
    });
  }
  return controller.signal;
}

function sayFailure(streams: Streams, failure: FailureJson, withHint: boolean): void {
  streams.message(`rdmatool: ${failure.message}`);
  if (withHint && failure.hint !== '') streams.message(`next: ${failure.hint}`);
}

/** stdout carries a document that fits the schema even where the command never got to work. */
async function printFailedDocument(
  argv: readonly string[],
  error: FailureJson,
  streams: Streams,
): Promise<void> {
  const ownArguments = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const spec = commandNamedBy(ownArguments);
  if (!spec?.failed || !ownArguments.includes('--json')) return;
  const document: ResultDocument = spec.failed(error);
  await streams.data(jsonDocument(document));
}

function asFailure(error: unknown, messages: readonly string[]): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof CommanderError || error instanceof UsageError) {
    const said = messages
      .join('')
      .replace(/^error: /, '')
      .trim();
    return new Failure('USAGE', said || error.message, 'rdmatool --help, or rdmatool COMMAND --help', {
      cause: error,
    });
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
