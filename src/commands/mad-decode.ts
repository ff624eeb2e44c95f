import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { readFile } from './read-file.ts';
import { choice, defineCommand, text } from './spec.ts';

export const madDecodeCommand = defineCommand({
  summary: 'Decode a management datagram, without any device',
  arguments: [
    { usage: '[hex...]', description: 'the bytes; from stdin if neither they nor --file are given' },
  ],
  options: {
    file: text('--file <file>', 'a file of the bytes themselves'),
    userHeader: choice(
      '--user-header <kind>',
      'header of the umad device before it: of 64 bytes (new), of 56 (old), none, or by the length (auto)',
      ['auto', 'none', 'new', 'old'],
      'auto',
    ),
  },
  details: [
    'Shows the header of the umad device if there is one, the header of the datagram, the section of its class, and the fields of its attribute where that is known. It needs no device and no library.',
    'Ends with 2 where the bytes are too few for what they say they are.',
  ],
  examples: [
    {
      command:
        'rdmatool mad decode 01 01 01 01 0000 0000 00000000 00000001 0011 0000 00000000 $(printf "%0464d" 0)',
      does: 'a Get NodeInfo',
    },
    {
      command:
        'rdmatool lab run ib -- rdmatool mad send NodeInfo 2 --json | jq -r .reply.hex | rdmatool mad decode',
      does: 'what has been received before',
    },
  ],
  seeAlso: ['rdmatool-mad-send(1)'],
  failed: (error) => ({ schema: SCHEMA_IDS.madDecode, error, header: null, mad: null }),
  async run({ args, options, context }) {
    const { decodeBytes, decodeText } = await import('../mad/decode.ts');
    const header = options.userHeader;
    const result =
      options.file !== null
        ? decodeBytes(read(options.file), header)
        : decodeText(args.length > 0 ? args.join(' ') : Buffer.from(read(0)).toString('utf8'), header);
    return context.conclude(result, async () =>
      (await import('../views/mad-message.ts')).madDecodeView(result),
    );
  },
});

/** More than a message that RMPP has joined, in hexadecimal with blanks. */
const MOST_BYTES = 64 * 1024 * 1024;

const read = (source: string | number): Uint8Array => readFile(source, 'the bytes', MOST_BYTES);
