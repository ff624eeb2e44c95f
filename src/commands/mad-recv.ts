import { isVendor2 } from '../datagram/classes.ts';
import { classVersion } from '../datagram/headers.ts';
import { emptyRecvObject } from '../model/mad-empty.ts';
import {
  classesOption,
  DEVICE_OPTIONS,
  IN_ROCE,
  methodNamed,
  ROCE_TARGET,
  sessionOptions,
  wholeNumber,
} from './mad-options.ts';
import { defineCommand, flag, milliseconds, type OptionSpec, positiveInteger, UsageError } from './spec.ts';

/** Bit 7 says that a method is a response: those come to who has asked. */
const MOST_METHOD = 0x7f;

const METHODS: OptionSpec<readonly number[] | null> = {
  flags: '--methods <list>',
  description:
    'methods to get unasked, by name or number with commas between them, or none; all that have a name if not given',
  initial: null,
  parse: (value) =>
    value === 'none' ? [] : value.split(',').map((word) => methodNamed('--methods', word, MOST_METHOD)),
};

export const madRecvCommand = defineCommand({
  summary: 'Show the management datagrams that come to a port',
  arguments: [],
  options: {
    ...DEVICE_OPTIONS,
    class: classesOption(
      '--class <class>',
      'class to receive, by name (PERF) or number; may be repeated: an agent for each',
    ),
    classVersion: wholeNumber('--class-version <N>', 'version of the class; 2 for SA and CM, else 1', 255),
    oui: wholeNumber('--oui <number>', 'vendor, for classes 0x30 to 0x4f; 0x001405 if not given', 0xffffffff),
    methods: METHODS,
    rmpp: flag('--rmpp', 'let the kernel join long messages; without it their segments come one by one'),
    flags: wholeNumber(
      '--flags <mask>',
      'flags of the registration; 1 leaves RMPP to the program',
      0xffffffff,
    ),
    qpn: wholeNumber('--qpn <N>', 'queue pair of the agents; 0 for subnet management, else 1', 0xffffffff),
    room: positiveInteger('--room <bytes>', 'room for a datagram at first; a longer one is read again'),
    count: positiveInteger('-c, --count <N>', 'end after N datagrams'),
    timeout: milliseconds('--timeout <ms>', 'end when nothing came for so long'),
  },
  details: [
    'Registers an agent for each class with the kernel, and shows what comes: the header of the umad device with all its fields, and the datagram field by field and in hexadecimal. Nothing is answered; who has asked is told nothing. --json prints one object a line, the first of them (event listening) with the agents as the kernel registered them.',
    'A field that the kernel documents as unset on receipt is shown as unset where it is zero, else with its value and a note.',
    'It goes on until Ctrl-C (which ends with 130), until --count is reached, or until nothing came for --timeout: that ends with 75 if nothing came at all, or --count was not reached.',
    'A method of a class goes to one agent of a port. 32 agents fit an open device.',
  ],
  examples: [
    {
      command: `${IN_ROCE} sh -c 'rdmatool mad recv --class PERF -d rxe1 -c 1 --timeout 20000 & sleep 4; rdmatool mad send PortCounters ${ROCE_TARGET} --class PERF -d rxe0; wait'`,
      does: 'a request as the other end sees it; nobody answers it',
    },
    {
      command: 'rdmatool mad recv --class 0x32 --methods Get,Set --header old --json',
      does: 'vendor datagrams over the old header, one JSON object a line',
    },
  ],
  seeAlso: ['rdmatool-mad-serve(1)', 'rdmatool-mad-send(1)', 'umad_register(3)', 'umad_recv(3)'],
  streams: true,
  failed: emptyRecvObject,
  async run({ options, context }) {
    if (options.class.length === 0) throw new UsageError('mad recv: say which --class');
    const { ALL_METHODS, maskOf } = await import('../mad/agents.ts');
    const { OPENIB_OUI } = await import('../mad/answer-file.ts');
    const { withSession } = await import('../mad/open.ts');
    const { receiveMads } = await import('../mad/receive.ts');
    const { streamed } = await import('./mad-stream.ts');
    const registrations = options.class.map((mgmtClass) => ({
      qpn: options.qpn,
      mgmtClass,
      version: options.classVersion ?? classVersion(mgmtClass),
      oui: isVendor2(mgmtClass) ? (options.oui ?? OPENIB_OUI) : options.oui,
      methods: options.methods === null ? ALL_METHODS : maskOf(options.methods),
      rmpp: options.rmpp ? 1 : 0,
      flags: options.flags ?? 0,
    }));
    const { room } = options;
    const wanted = { ...(await sessionOptions({ ...options, retries: null })), room: room ?? undefined };
    return streamed(context, emptyRecvObject, (tell) =>
      withSession(wanted, options, context.interruption(), (session, signal) =>
        receiveMads(
          session,
          { registrations, count: options.count, timeoutMs: options.timeout },
          signal,
          (object) => tell(object, async () => (await import('../views/mad-stream.ts')).madRecvView(object)),
        ),
      ),
    );
  },
});
