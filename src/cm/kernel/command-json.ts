/** An exchange with the kernel as documents have it: bytes, and what they say field by field. */

import { UCMA_EDITIONS } from '../../abi/ucma/editions.ts';
import { briefText, readResponse, readWrite, type UcmaReading } from '../../abi/ucma/read.ts';
import { rdmaUcmCmdHdr } from '../../abi/ucma/shared.ts';
import { errnoValue } from '../../explain/errno.ts';
import type { KernelCommand } from '../../model/kernel-commands.ts';
import type { Exchange } from './exchange.ts';

export function kernelCommandJson({
  message,
  answer,
  result,
  errno,
  durationMs,
  datagram,
}: Exchange): KernelCommand {
  const written = readWrite(UCMA_EDITIONS.linux, message);
  const { command } = written;
  const number = message.length < 4 ? 0 : new DataView(message.buffer, message.byteOffset).getUint32(0, true);
  const isAnswered = answer !== null && result >= 0 && command !== null;
  const parameters = datagram === null ? null : datagram ? 'ud' : 'conn';
  const read = isAnswered
    ? readResponse(command, answer, message.subarray(rdmaUcmCmdHdr.size), parameters)
    : null;
  return {
    time: new Date().toISOString(),
    command: { value: number, name: command?.name ?? null },
    brief: briefText(written),
    bytes: Buffer.from(message).toString('hex'),
    fields: fieldsOf(written),
    notes: [...written.notes],
    result,
    errno: result < 0 ? errnoValue(errno) : null,
    duration_ms: durationMs,
    answer:
      read && answer
        ? { bytes: Buffer.from(answer).toString('hex'), fields: fieldsOf(read), notes: [...read.notes] }
        : null,
  };
}

const fieldsOf = ({ fields }: UcmaReading): KernelCommand['fields'] =>
  fields.map(({ offset, size, name, value, meaning }) => ({ offset, size, name, value, meaning }));
