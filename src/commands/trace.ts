import { ExitStatus, Failure } from '../explain/failure.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import type { TraceEntry } from '../model/trace.ts';
import { type Context, defineCommand, flag, text, UsageError } from './spec.ts';
import { openSink } from './trace-sink.ts';

export const traceCommand = defineCommand({
  summary: 'Show what a program asks of the RDMA devices, call by call',
  arguments: [{ usage: '[command...]', description: 'the program and its arguments, after --' }],
  options: {
    read: text('--read <log>', 'read a log that strace has written (- for stdin), and run nothing'),
    output: text('-o, --output <file>', "write the trace to a file; the program's stdout stays what it is"),
    verbose: flag('-v, --verbose', 'show every field of each command and datagram'),
  },
  details: [
    "Runs the program under the system's strace(1) and shows each open, write, read, ioctl, poll and close on /dev/infiniband/rdma_cm, umadN and issmN as it comes: when, which program and thread, what it asks by name and values, what came of it and how long it took. Threads and children are followed. At the end stands a table of all commands: how often, errors, times.",
    'Without -o the trace is stdout, and what the program writes to stdout goes to stderr.',
    "strace sees what goes through the calls, not what the kernel writes into the program's memory: the answers to commands of the connection manager, and its events. Where something is unseen, the line says so.",
    '--read takes the log of an strace that was run elsewhere, by anybody: with or without -f, -t, -tt, -ttt, -r, -T, -x, -xx, -y, -Y. To record one that has all: strace -f -ttt -T -xx -y -s 65536 -o LOG PROGRAM. Where strings are cut (-s), what is left of them is shown. Needs no RDMA, and no library.',
    "The exit status is the program's; 1 where lines of a log are damaged, or none is about an RDMA device.",
  ],
  examples: [
    {
      command: 'rdmatool lab run roce -- rdmatool trace -- rdmatool cm bind 10.9.0.1',
      does: 'what binding an id asks of the kernel',
    },
    { command: 'rdmatool trace --read strace.log', does: 'what a program did elsewhere' },
  ],
  seeAlso: ['strace(1)', 'rdmatool-decode-ucma(1)', 'rdmatool-decode-umad(1)', 'rdmatool-abi(7)'],
  commandAfterDashes: true,
  streams: true,
  failed: (error) => ({
    schema: SCHEMA_IDS.traceSummary,
    error,
    exit_status: null,
    lines: 0,
    calls: [],
    damaged: [],
  }),
  async run({ args, options, context }) {
    const { read, output, verbose } = options;
    if ((read === null) === (args.length === 0)) {
      throw new UsageError('trace: either a program after --, or --read LOG');
    }
    const { LogReader } = await import('../trace/read-log.ts');
    const view = await import('../views/trace.ts');
    const sink = openSink(context, output);
    const reader = new LogReader();
    const show = async (entry: TraceEntry | null): Promise<void> => {
      if (entry === null) return;
      const details = verbose ? view.entryDetails(entry) : [];
      await sink.line(entry, [view.entryText(entry), ...details]);
    };
    const line = async (each: string): Promise<void> => show(reader.line(each));
    const status = read === null ? await runProgram(args, output, context, line) : await readLog(read, line);
    for (const entry of reader.rest()) await show(entry);
    const summary = reader.summary(status);
    await sink.end(summary, view.summaryView(summary));
    if (context.streams.readerGone.aborted) return ExitStatus.DONE;
    const failed = context.fail(summary.error);
    return status === null || status === 0 ? failed : status;
  },
});

async function runProgram(
  command: readonly string[],
  output: string | null,
  context: Context,
  line: (text: string) => Promise<void>,
): Promise<number> {
  const { runStrace } = await import('../trace/run-strace.ts');
  return runStrace({
    command,
    osIds: async () => (await import('../system/this-machine.ts')).thisMachine().osIds(),
    programOutput: output === null ? 'stderr' : 'stdout',
    complain: (message) => context.streams.message(message),
    line,
    unread: context.streams.readerGone,
  });
}

async function readLog(path: string, line: (text: string) => Promise<void>): Promise<null> {
  const { createReadStream } = await import('node:fs');
  const { linesOf } = await import('../trace/lines.ts');
  const input = path === '-' ? process.stdin : createReadStream(path);
  try {
    for await (const each of linesOf(input)) await line(each);
    return null;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure('USAGE', `the log cannot be read: ${reason}`, 'check the path', { cause: error });
  }
}
