import { decodeInput, INPUT_ARGUMENT, INPUT_DETAILS } from './decode-input.ts';
import { choice, defineCommand } from './spec.ts';

export const decodeUmadCommand = defineCommand({
  summary: 'Decode bytes of /dev/infiniband/umadN',
  arguments: [INPUT_ARGUMENT],
  options: {
    header: choice(
      '--header <kind>',
      'the user-MAD header: old (56 bytes), new (64 bytes, with the P_Key index), or what the bytes tell (auto)',
      ['auto', 'old', 'new'],
      'auto',
    ),
  },
  details: [
    'Shows the user-MAD header and the datagram behind it. A request that nobody answered comes back with status ETIMEDOUT and the first 24 bytes of its datagram.',
    ...INPUT_DETAILS,
  ],
  examples: [
    {
      command: `grep 'write.*umad' strace.log | head -1 | rdmatool decode umad`,
      does: 'a datagram that strace has seen',
    },
  ],
  seeAlso: ['rdmatool-decode-mad(1)', 'rdmatool-trace(1)'],
  async failed(error) {
    return (await import('../decode/result.ts')).emptyDecode('umad', error);
  },
  async run({ args, options, context }) {
    const { bytes, cut } = await decodeInput(args);
    const { findUmad } = await import('../decode/umad.ts');
    const { decodeResult } = await import('../decode/result.ts');
    const result = decodeResult('umad', bytes.length, cut, findUmad(bytes, options.header));
    return context.conclude(result, async () => (await import('../views/decode.ts')).decodeView(result));
  },
});
