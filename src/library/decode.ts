/** Bytes into fields. Needs neither a library nor a device, on any system. */
import type { DecodeResult } from '../model/decode.ts';
import { orThrow } from './outcome.ts';

/** How a command to /dev/infiniband/rdma_cm, or its answer, is read. */
export interface UcmaOptions {
  /** Whose interface: that of linux (unless given), or of the reference document. */
  readonly edition?: 'linux' | 'reference';
  /** The bytes are the answer to this command, by name or number; of QUERY also what was asked: `QUERY:PATH`. */
  readonly response?: string;
  /** How the parameters of an event are meant; both readings unless given. */
  readonly parameters?: 'conn' | 'ud';
}

/** How a user-MAD header is read. */
export interface UmadOptions {
  /** Which header stands before the datagram; told from the bytes unless given. */
  readonly header?: 'old' | 'new';
}

/** A management datagram: `rdmatool decode mad`. Throws Failure INCOMPLETE with what could be read. */
export async function decodeMad(bytes: Uint8Array): Promise<DecodeResult> {
  const { findMad } = await import('../decode/mad.ts');
  const { decodeResult } = await import('../decode/result.ts');
  return orThrow(decodeResult('mad', bytes.length, false, findMad(bytes)));
}

/** What /dev/infiniband/umadN carries: `rdmatool decode umad`. Throws Failure INCOMPLETE with what could be read. */
export async function decodeUmad(bytes: Uint8Array, options: UmadOptions = {}): Promise<DecodeResult> {
  const { findUmad } = await import('../decode/umad.ts');
  const { decodeResult } = await import('../decode/result.ts');
  return orThrow(decodeResult('umad', bytes.length, false, findUmad(bytes, options.header ?? 'auto')));
}

/** What /dev/infiniband/rdma_cm carries: `rdmatool decode ucma`. Throws Failure INCOMPLETE with what could be read. */
export async function decodeUcma(bytes: Uint8Array, options: UcmaOptions = {}): Promise<DecodeResult> {
  const { findResponse, findWrite } = await import('../decode/ucma.ts');
  const { decodeResult } = await import('../decode/result.ts');
  const { edition = 'linux', response, parameters = null } = options;
  const findings =
    response === undefined
      ? findWrite(bytes, edition)
      : findResponse(bytes, edition, { command: response, parameters });
  return orThrow(decodeResult('ucma', bytes.length, false, findings));
}
