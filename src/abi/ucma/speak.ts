/** A command as the bytes of one write(2). */

import type { Decoded } from '../../layout/codec.ts';
import type { Encodable, Fields, Struct } from '../../layout/struct.ts';
import type { UcmaForm } from './command.ts';
import { rdmaUcmCmdHdr } from './shared.ts';

/** What encodeCommand needs of a command. */
export interface Speakable<F extends Fields> {
  readonly number: number;
  readonly request: UcmaForm<F> | null;
}

/**
 * Header and request. Members left out are zero.
 * @param out bytes of room for the answer
 */
export function encodeCommand<F extends Fields>(
  command: Speakable<F>,
  values: Encodable<Decoded<Struct<F>>>,
  out: number,
): Uint8Array {
  const body = command.request === null ? new Uint8Array() : command.request.layout.encode(values);
  return encodeWrite(command.number, body, out);
}

/** Any number with any bytes behind it; the header says what is there unless `declared` says otherwise. */
export function encodeWrite(
  number: number,
  body: Uint8Array,
  out: number,
  declared: number = body.length,
): Uint8Array {
  const bytes = new Uint8Array(rdmaUcmCmdHdr.size + body.length);
  bytes.set(rdmaUcmCmdHdr.encode({ cmd: number, in: declared, out }));
  bytes.set(body, rdmaUcmCmdHdr.size);
  return bytes;
}
