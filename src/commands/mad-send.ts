import { Method, MgmtClass } from '../datagram/classes.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import {
  CLASS_OPTION,
  hexText,
  IN_LAB,
  KEY_OPTION,
  methodNamed,
  PORT_OPTIONS,
  readBytes,
  readKey,
  requireWrite,
  sessionOptions,
  TARGET_ARGUMENT,
  targetOf,
  WRITE_FLAG,
  wholeNumber,
} from './mad-options.ts';
import { defineCommand, flag, type OptionSpec, positiveInteger, text, texts } from './spec.ts';

const METHOD_OPTION: OptionSpec<number> = {
  flags: '--method <method>',
  description: 'method, by name (GetTable) or number (0x12); Get if not given',
  complete: async () => Method.entries.map(([name]) => name),
  initial: Method.valueOf('Get'),
  parse: (value) => methodNamed('--method', value),
};

export const madSendCommand = defineCommand({
  summary: 'Send any management datagram by hand, and show the answer',
  arguments: [
    { usage: '<attribute>', description: 'name of an attribute of the class, or its number' },
    { usage: '<target>', description: TARGET_ARGUMENT },
    { usage: '[field=value...]', description: 'the fields of a known attribute; those left out are zero' },
  ],
  options: {
    ...PORT_OPTIONS,
    write: WRITE_FLAG,
    class: CLASS_OPTION,
    classVersion: wholeNumber('--class-version <N>', 'version of the class; 2 for SA and CM, else 1', 255),
    method: METHOD_OPTION,
    mod: wholeNumber('--mod <number>', 'attribute modifier', 0xffffffff),
    tid: hexText('--tid <number>', 'transaction id; the kernel puts its own into the upper half', 64),
    mask: hexText('--mask <number>', 'component mask of SA; from the fields if not given', 64),
    data: text('--data <hex>', 'the data in hexadecimal, from its place in the class'),
    dataFile: text('--data-file <file>', 'the data, as the bytes of a file'),
    keyFile: KEY_OPTION,
    oui: wholeNumber('--oui <number>', 'vendor, for classes 0x30 to 0x4f', 0xffffff),
    sl: wholeNumber('--sl <N>', 'service level; 0 if not given', 15),
    pathBits: wholeNumber('--path-bits <N>', 'low bits of the own LID', 127),
    qpn: wholeNumber('--qpn <number>', 'queue pair; 0 for subnet management, else 1', 0xffffff),
    qkey: wholeNumber('--qkey <number>', 'Q_Key; 0x80010000 if not given', 0xffffffff),
    pkeyIndex: wholeNumber('--pkey-index <N>', 'place in the P_Key table of the port', 0xffff),
    grh: flag(
      '--grh',
      'with a global route header, to the GID that is the target, or --grh-gid; over Ethernet (RoCE) always',
    ),
    grhGid: text('--grh-gid <gid>', 'GID of the global route header'),
    gidIndex: wholeNumber(
      '--gid-index <N>',
      'place in the GID table of the port, to send from; one that can reach the GID if not given',
      255,
    ),
    hopLimit: wholeNumber('--hop-limit <N>', 'hop limit; 64 if not given', 255),
    trafficClass: wholeNumber('--traffic-class <N>', 'traffic class', 255),
    flowLabel: wholeNumber('--flow-label <number>', 'flow label', 0xfffff),
    headerField: texts(
      '--header-field <field=value>',
      'a member of the user-MAD header as it is handed to the kernel, over all other options; may be repeated',
    ),
    length: wholeNumber('--length <N>', 'hand only so many bytes of the datagram to the kernel', 0xffffff),
    rmpp: flag('--rmpp', 'long messages: the kernel splits what is sent and joins what comes'),
    count: positiveInteger('-c, --count <N>', 'send it so often; once if not given'),
    window: positiveInteger('--window <N>', 'so many at a time; 8 if not given', 65_535),
  },
  details: [
    'Builds a datagram of any class, sends it, and shows the answer field by field and in hexadecimal, with its header and the round-trip time; the minimum, median, 99th percentile and maximum of several.',
    'Without --class it is SUBN_DIRECTED_ROUTE along a path and SUBN_LID_ROUTED to anything else.',
    'Every method that is not Get, GetTable, GetMulti or a response can change the fabric: it needs --write. For a response, or what nobody answers (Send, Trap), it does not wait.',
    'With --count, Ctrl-C ends it with what has come. When as many in a row have no answer as the window holds, and sixteen at least, the rest is not sent.',
  ],
  async reference() {
    const { ATTRIBUTES, FAMILIES } = await import('../datagram/attributes.ts');
    const { HEADER_FIELDS } = await import('../mad/user-header.ts');
    const familyNames = Object.entries(FAMILIES);
    return [
      { title: 'Fields of the user-MAD header', rows: HEADER_FIELDS },
      {
        title: 'Classes',
        completes: 'class',
        rows: MgmtClass.entries.map(([name, value]) => [name, `0x${value.toString(16).padStart(2, '0')}`]),
      },
      ...familyNames.map(([family, title]) => ({
        title: `Attributes: ${title}`,
        completes: 'attribute',
        rows: ATTRIBUTES.filter((each) => each.family === family).map(
          ({ name, id, meaning }): [string, string] => [
            name,
            `0x${id.toString(16).padStart(4, '0')}, ${meaning}`,
          ],
        ),
      })),
    ];
  },
  examples: [
    { command: `${IN_LAB} mad send NodeInfo 0,1`, does: 'a directed Get NodeInfo' },
    {
      command: `${IN_LAB} mad send PortCounters 2 port_select=1 --class PERF --count 1000 --window 16`,
      does: 'a thousand requests, sixteen at a time',
    },
    {
      command: `${IN_LAB} mad send PortCounters 2 port_select=1 counter_select=0xffff --class PERF --method Set --write`,
      does: 'the counters of a port set to zero',
    },
  ],
  seeAlso: ['rdmatool-mad-get(1)', 'rdmatool-decode-mad(1)', 'umad_send(3)'],
  failed: (error) => ({
    schema: SCHEMA_IDS.madSend,
    error,
    device: null,
    port: null,
    target: null,
    request: null,
    sent: 0,
    received: 0,
    header: null,
    reply: null,
    returned_tid: null,
    rtt: null,
    elapsed_ms: null,
    attempts: null,
  }),
  async run({ args, options, context }) {
    const [attribute = '', targetArgument = '', ...fields] = args;
    const { buildMad, needsWrite, sendMad } = await import('../mad/send.ts');
    const { parseGid } = await import('../datagram/field.ts');
    const { usageFailure } = await import('../mad/failures.ts');
    const { withSession } = await import('../mad/open.ts');
    const target = await targetOf(targetArgument);
    if (needsWrite(options.method)) {
      requireWrite(options.write, `mad send --method ${Method.nameOf(options.method) ?? options.method}`);
    }
    let grhGid: Uint8Array | null = null;
    try {
      grhGid = options.grhGid === null ? null : parseGid(options.grhGid);
    } catch (error) {
      throw usageFailure(error);
    }
    const usualClass = target.kind === 'path' ? 'SUBN_DIRECTED_ROUTE' : 'SUBN_LID_ROUTED';
    const datagram = {
      target,
      mgmtClass: options.class ?? MgmtClass.valueOf(usualClass),
      classVersion: options.classVersion,
      method: options.method,
      attribute,
      modifier: options.mod ?? 0,
      tid: options.tid,
      sl: options.sl ?? 0,
      pathBits: options.pathBits ?? 0,
      qpn: options.qpn,
      qkey: options.qkey,
      pkeyIndex: options.pkeyIndex ?? 0,
      withGrh: options.grh || grhGid !== null,
      grh: {
        gid: grhGid,
        gidIndex: options.gidIndex,
        hopLimit: options.hopLimit ?? 64,
        trafficClass: options.trafficClass ?? 0,
        flowLabel: options.flowLabel ?? 0,
      },
      headerFields: options.headerField,
      length: options.length,
      data: options.data,
      dataBytes: options.dataFile === null ? null : readBytes(options.dataFile, 'the data'),
      fields,
      componentMask: options.mask,
      key: readKey(options.keyFile),
      oui: options.oui,
      rmpp: options.rmpp,
      count: options.count ?? 1,
    };
    // What cannot be sent is told before any device is looked at.
    const bytes = buildMad(datagram);
    const wanted = await sessionOptions(options, options.window);
    return withSession(wanted, options, context.interruption(), async (session, signal) => {
      const result = await sendMad(session, datagram, bytes, signal);
      return context.conclude(result, async () =>
        (await import('../views/mad-message.ts')).madSendView(result),
      );
    });
  },
});
