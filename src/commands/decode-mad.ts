import { decodeInput, INPUT_ARGUMENT, INPUT_DETAILS } from './decode-input.ts';
import { defineCommand } from './spec.ts';

export const decodeMadCommand = defineCommand({
  summary: 'Decode a management datagram',
  arguments: [INPUT_ARGUMENT],
  options: {},
  details: [
    'Shows the common header, the section of the class (SMP, SA, RMPP, vendor), and the fields of the attribute where that is known.',
    ...INPUT_DETAILS,
  ],
  examples: [
    { command: 'rdmatool decode mad 01810101 00000000 00000000000000aa 00110000 00000000', does: 'a header' },
    {
      command:
        'rdmatool lab run ib -- rdmatool mad send NodeInfo 1 --json | jq -r .reply.hex | rdmatool decode mad',
      does: 'what has been received before',
    },
  ],
  seeAlso: ['rdmatool-decode-umad(1)', 'rdmatool-mad-send(1)'],
  async failed(error) {
    return (await import('../decode/result.ts')).emptyDecode('mad', error);
  },
  async run({ args, context }) {
    const { bytes, cut } = await decodeInput(args);
    const { findMad } = await import('../decode/mad.ts');
    const { decodeResult } = await import('../decode/result.ts');
    const result = decodeResult('mad', bytes.length, cut, findMad(bytes));
    return context.conclude(result, async () => (await import('../views/decode.ts')).decodeView(result));
  },
});
