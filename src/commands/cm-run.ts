import type { Operation } from '../cm/script/operation.ts';
import { emptyRunObject } from '../model/cm-empty.ts';
import { BACKEND_OPTIONS, backendOf } from './cm-options.ts';
import { defineCommand, type ReferenceTable, texts, UsageError } from './spec.ts';

export const cmRunCommand = defineCommand({
  summary: 'Run a script of steps of the connection manager',
  arguments: [{ usage: '[file]', description: 'the script; - or nothing reads it from stdin' }],
  options: {
    set: texts(
      '--set <name=value>',
      'value of a variable of the script, in place of its own; may be repeated',
    ),
    ...BACKEND_OPTIONS,
  },
  details: [
    'Every operation of the user connection manager by its own name (see OPERATIONS), one a line, on ids that the script names. An operation does what its call does and no more: resolve-addr starts a resolution, and get-event waits for its end. Both sides of a connection can stand in one script, or in two, each in a process of its own.',
    'Words are quoted as in a shell: \'as it is\', "with $NAME", and \\ before a character. # starts a comment. NAME=VALUE gives a variable its value, unless --set does; $NAME stands for it, with braces around NAME where a letter follows.',
    'get-event ID EVENT within 2s waits for the next event of an id, or of any id on a channel, and fails where another one comes, or none. status N and data TEXT say what it is to carry. get-event LISTENER CONNECT_REQUEST as NAME names the new id of a request.',
    'A step that fails ends the script with the number of its line, and with the exit status of the failure. A step with ! before it is to fail: ! for any failure, !NAME for an errno (!EADDRINUSE) or a code of the JSON (!REJECTED, !TIMED_OUT). Where it does not, that ends the script.',
    'Mistakes in the script are found, all of them, before the first step runs; the exit status is then 2. At the end, on a failure and on Ctrl-C too, ids are destroyed, the youngest first, and channels closed.',
    'Each step is shown with its line, its duration and its result; --json prints one object a line. Examples lie in the folder examples/cm of the package, one a situation; each runs in lab roce as it is, and elsewhere with --set left=ADDR --set right=ADDR.',
  ],
  examples: [
    {
      command: 'rdmatool lab run roce -- rdmatool cm run examples/cm/reject-with-data.rdmacm',
      does: 'an example in the lab',
    },
    {
      command: "echo 'create-id a' | rdmatool lab run roce -- rdmatool cm run -",
      does: 'a script from stdin',
    },
    {
      command: 'rdmatool cm run examples/cm/connect.rdmacm --set left=192.0.2.1 --set right=192.0.2.2 --json',
      does: 'with other addresses, and as JSON',
    },
  ],
  seeAlso: ['rdmatool-cm-connect(1)', 'rdmatool-cm-listen(1)', 'rdma_cm(7)'],
  reference,
  streams: true,
  failed: emptyRunObject,
  async run({ args, options, context }) {
    if (args.length > 1) throw new UsageError('one script at a time');
    const [file = '-'] = args;
    const variables = variablesOf(options.set);
    const chosen = backendOf(options);
    const signal = context.interruption();
    const { scriptText } = await import('./script-text.ts');
    const text = await scriptText(file, signal);
    const { SCRIPT_OPERATIONS } = await import('../cm/script/backends.ts');
    const { runScript } = await import('../cm/script/run.ts');
    const { thisEnvironment } = await import('../cm/session.ts');
    const { cmRunLine } = await import('../views/cm-run.ts');
    const operations = SCRIPT_OPERATIONS[options.backend];
    const failures = await runScript(
      { name: file === '-' ? 'stdin' : file, text, variables, operations },
      thisEnvironment(signal, chosen),
      async (object) => {
        const line = cmRunLine(object);
        if (context.json || line !== null) await context.emit(object, line ?? '');
      },
    );
    return failures.map((failure) => context.fail(failure)).at(-1) ?? 0;
  },
});

async function reference(): Promise<readonly ReferenceTable[]> {
  const { KERNEL_OPERATIONS } = await import('../cm/script/kernel-operations.ts');
  const { usageOf } = await import('../cm/script/operation.ts');
  const { OPERATIONS } = await import('../cm/script/operations.ts');
  const table = (title: string, operations: readonly Operation[]): ReferenceTable => ({
    title,
    rows: operations.map((operation) => [usageOf(operation), operation.does]),
  });
  return [
    table('Operations', OPERATIONS),
    table("With --backend kernel, by the kernel's names", KERNEL_OPERATIONS),
  ];
}

/** Throws UsageError. */
function variablesOf(settings: readonly string[]): Map<string, string> {
  const pairs = settings.map((setting): [string, string] => {
    const [, name, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(setting) ?? [];
    if (name === undefined || value === undefined) {
      throw new UsageError(`--set: '${setting}' is not NAME=VALUE`);
    }
    return [name, value];
  });
  return new Map(pairs);
}
