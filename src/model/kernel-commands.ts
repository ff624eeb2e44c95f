/** Commands to the kernel's user CM, with their bytes and answers. */
import Type from 'typebox';
import type { Json } from '../layout/codec.ts';
import { exact, nullable } from './parts.ts';

/** A field of a structure, with its place. */
export const KernelField = exact({
  offset: Type.Integer({ description: 'Bytes from the start of the write, or of the answer' }),
  size: Type.Integer(),
  name: Type.String({ description: 'Path for members of nested structures; `hdr.` for the header' }),
  value: Type.Unsafe<Json>({ description: 'As the type of the field has it' }),
  meaning: Type.String(),
});

export type KernelField = Type.Static<typeof KernelField>;

/** A command written to /dev/infiniband/rdma_cm, and its answer. */
export const KernelCommand = exact({
  time: Type.String({ description: 'RFC 3339' }),
  command: exact({ value: Type.Integer(), name: nullable(Type.String()) }),
  brief: Type.String({ description: 'The command in one line' }),
  bytes: Type.String({ description: 'The whole write, hexadecimal', pattern: '^([0-9a-f]{2})*$' }),
  fields: Type.Array(KernelField),
  notes: Type.Array(Type.String(), { description: 'What is odd about the bytes' }),
  result: Type.Integer({ description: 'What write(2) returned' }),
  errno: nullable(exact({ value: Type.Integer(), name: nullable(Type.String()) })),
  duration_ms: Type.Number(),
  answer: nullable(
    exact({
      bytes: Type.String({
        description: 'The room for the answer after the call, hexadecimal',
        pattern: '^([0-9a-f]{2})*$',
      }),
      fields: Type.Array(KernelField),
      notes: Type.Array(Type.String()),
    }),
  ),
});
export type KernelCommand = Type.Static<typeof KernelCommand>;

export const kernelCommands = nullable(
  Type.Array(KernelCommand, {
    description: 'With --backend kernel --show-bytes: what went to the kernel, in turn',
  }),
);
