import { decodeInput, INPUT_ARGUMENT, INPUT_DETAILS } from './decode-input.ts';
import { choice, defineCommand, text } from './spec.ts';

export const decodeUcmaCommand = defineCommand({
  summary: 'Decode commands to /dev/infiniband/rdma_cm, and answers',
  arguments: [INPUT_ARGUMENT],
  options: {
    edition: choice(
      '--edition <name>',
      'whose interface: that of linux, or of the reference document (packed; illumos)',
      ['linux', 'reference'],
      'linux',
    ),
    response: text(
      '--response <command>',
      'the bytes are the answer to this command, by name or number; of QUERY also what was asked: QUERY:PATH',
    ),
    parameters: choice(
      '--parameters <kind>',
      'how the parameters of an event are meant: conn (TCP, IB), ud (UDP, IPOIB), or both readings',
      ['both', 'conn', 'ud'],
      'both',
    ),
  },
  details: [
    'Shows the header of the write, and the structure of its command; with --response the structure of the answer. Both editions have the same numbers for different structures: see rdmatool-abi(7). Shorter structures of older programs and kernels are accepted, and what newer ones have is listed.',
    ...INPUT_DETAILS,
  ],
  examples: [
    {
      command: 'rdmatool decode ucma 04000000 0800 0000 01000000 d0070000',
      does: 'RESOLVE_ROUTE of id 1',
    },
    {
      command: `rdmatool decode ucma '"\\4\\0\\0\\0\\10\\0\\0\\0\\1\\0\\0\\0\\320\\7\\0\\0"'`,
      does: 'the same as strace shows it',
    },
    {
      command: 'rdmatool decode ucma --response CREATE_ID 01000000',
      does: 'what the kernel has answered',
    },
  ],
  seeAlso: ['rdmatool-abi(7)', 'rdmatool-trace(1)'],
  async failed(error) {
    return (await import('../decode/result.ts')).emptyDecode('ucma', error);
  },
  async run({ args, options: { edition, response, parameters }, context }) {
    const { bytes, cut } = await decodeInput(args);
    const { findResponse, findWrite } = await import('../decode/ucma.ts');
    const { decodeResult } = await import('../decode/result.ts');
    const findings =
      response === null
        ? findWrite(bytes, edition)
        : findResponse(bytes, edition, {
            command: response,
            parameters: parameters === 'both' ? null : parameters,
          });
    const result = decodeResult('ucma', bytes.length, cut, findings);
    return context.conclude(result, async () => (await import('../views/decode.ts')).decodeView(result));
  },
});
