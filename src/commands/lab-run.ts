import { labFailure } from './lab-failure.ts';
import { mergedOptions, ownOptions } from './lab-kind.ts';
import { aboutLabs, LABS, labNamed, labReference, labWords } from './labs.ts';
import { defineCommand } from './spec.ts';

const OPTIONS = mergedOptions(LABS, (kind) => kind.options);

export const labRunCommand = defineCommand({
  summary: 'Run a command on simulated RDMA devices',
  arguments: [
    { usage: '<lab>', description: aboutLabs(LABS), complete: labWords(LABS) },
    { usage: '<command...>', description: 'the program and its arguments, after --' },
  ],
  options: OPTIONS,
  details: [
    ...LABS.flatMap((kind) => kind.details),
    "The exit status is the program's, or 128 and the signal's number, 126 or 127 where it cannot be started.",
  ],
  reference: labReference(LABS, (kind) => kind.options),
  examples: LABS.flatMap((kind) => kind.examples),
  seeAlso: ['rdmatool-lab-up(1)', 'rdmatool-query-device(1)', 'ibv_devinfo(1)', 'rping(1)'],
  commandAfterDashes: true,
  async run({ args, options, context }) {
    const [name, ...command] = args;
    const kind = labNamed('run', name);
    const own = ownOptions('run', kind, kind.options, OPTIONS, options);
    const { streams } = context;
    const unread = (): AbortSignal => {
      streams.watchReader();
      return streams.readerGone;
    };
    return kind
      .run(command, own, (line) => streams.message(line), unread)
      .catch((error: unknown) => {
        throw labFailure(error);
      });
  },
});
