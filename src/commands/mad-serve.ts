import { emptyServeObject } from '../model/mad-empty.ts';
import {
  classesOption,
  DEVICE_OPTIONS,
  IN_ROCE,
  ROCE_TARGET,
  readBytes,
  sessionOptions,
  wholeNumber,
} from './mad-options.ts';
import { defineCommand, flag, milliseconds, positiveInteger, text } from './spec.ts';

export const madServeCommand = defineCommand({
  summary: 'Answer management datagrams: pings, or what a file says',
  arguments: [],
  options: {
    ...DEVICE_OPTIONS,
    retries: wholeNumber(
      '--retries <N>',
      'send the segments of a long answer again so often when they are not acknowledged; 3 if not given',
      1000,
    ),
    answers: text('--answers <file>', 'answer as this file says, in place of pings'),
    ping: flag('--ping', 'answer pings beside what --answers says'),
    also: classesOption(
      '--also <class>',
      'register that class too, and answer nothing; may be repeated (lab ib ends a program that gets a class which it has not registered)',
    ),
    quiet: flag('-q, --quiet', 'answer, and print nothing'),
    count: positiveInteger('-c, --count <N>', 'end after N requests'),
    idle: milliseconds('--idle <ms>', 'end when nothing came for so long'),
  },
  details: [
    'Without --answers it answers vendor pings as the server of ibping(8) does: a Get of class 0x32 and OUI 0x001405, with the name and domain of the host. rdmatool mad ping and ibping(8) ask it.',
    'The file of --answers is JSON: {"answers": [ANSWER, ...]}. The first ANSWER whose class, attribute, modifier and method are those of the request is sent; where none is, the answer has status 0x000c, as the kernel answers for a class that nobody serves. Get and Set are answered with GetResp, other methods with their response, Trap with TrapRepress; Send is not answered. Of records of subnet administration a GetTable gets those that its component mask chooses, none of them too, as an SA answers; a Get gets the one that it chooses, or status 0x0300 where there is none and 0x0400 where there are several. num_path limits their number; a value with a selector other than exactly is passed over.',
    'An answer longer than a datagram goes in segments (RMPP), in the classes that have them: SUBN_ADM, DEV_MGMT, DEV_ADM, BIS and 0x30 to 0x4f. In these long requests come joined, too. An answer whose segments were not acknowledged comes back, and is shown as returned.',
    '--json prints one object a line; the first (event listening) has the agents. It goes on until Ctrl-C (which ends with 130), until --count is reached, or until nothing came for --idle.',
  ],
  async reference() {
    const { ANSWER_KEYS } = await import('../mad/answer-file.ts');
    return [{ title: 'Keys of an answer', rows: Object.entries(ANSWER_KEYS) }];
  },
  examples: [
    {
      command: `${IN_ROCE} sh -c 'rdmatool mad serve -d rxe1 -c 3 & sleep 4; rdmatool mad ping ${ROCE_TARGET} -d rxe0 -c 3; wait'`,
      does: 'pings between two devices of the lab',
    },
    {
      command: `echo '{"answers": [{"class": "SUBN_ADM", "attribute": "NodeRecord",' '"fields": {"lid": 7}, "repeat": 100}]}' > answers.json; ${IN_ROCE} sh -c 'rdmatool mad serve -d rxe1 --answers answers.json -q -c 1 & sleep 4; rdmatool mad table NodeRecord --from ${ROCE_TARGET} -d rxe0; wait'`,
      does: 'a hundred records in one answer, in segments',
    },
    {
      command: 'rdmatool mad serve --answers counters.json --header old --json',
      does: 'over the old header; counters.json may hold {"answers": [{"class": "PERF", "attribute": "PortCounters", "fields": {"symbol_error_counter": 7}}]}',
    },
  ],
  seeAlso: ['rdmatool-mad-recv(1)', 'rdmatool-mad-ping(1)', 'rdmatool-mad-table(1)', 'ibping(8)'],
  streams: true,
  failed: emptyServeObject,
  async run({ options, context }) {
    const { parseAnswers } = await import('../mad/answer-file.ts');
    const { withSession } = await import('../mad/open.ts');
    const { bystander, pingRule, serveMads } = await import('../mad/serve.ts');
    const { streamed } = await import('./mad-stream.ts');
    const file = options.answers;
    const rules = [
      ...(file === null
        ? []
        : parseAnswers(Buffer.from(readBytes(file, 'the file of answers')).toString('utf8'), file)),
      ...(file === null || options.ping ? [pingRule()] : []),
    ];
    const serve = {
      rules,
      others: options.also.map(bystander),
      count: options.count,
      timeoutMs: options.idle,
    };
    const wanted = await sessionOptions({ ...options, timeout: null });
    return streamed(context, emptyServeObject, (tell) =>
      withSession(wanted, options, context.interruption(), (session, signal) =>
        serveMads(
          session,
          serve,
          signal,
          options.quiet
            ? null
            : (object) =>
                tell(object, async () => (await import('../views/mad-stream.ts')).madServeView(object)),
        ),
      ),
    );
  },
});
