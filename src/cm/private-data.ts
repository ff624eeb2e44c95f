/** Private data of the handshake: how much each message carries, and how it is written and shown. */
import type { PortSpaceName } from '../abi/rdmacm-codes.ts';
import { TransportType } from '../abi/verbs-codes.ts';
import { Failure } from '../explain/failure.ts';

export type CmMessage = 'connect' | 'accept' | 'reject';

/**
 * Room for private data, bytes. Of a request over IP addresses the CM takes 36 for its own header. (IBTA
 * messages REQ, REP, REJ, SIDR_REQ, SIDR_REP.)
 */
export function privateDataLimit(
  message: CmMessage,
  portSpace: PortSpaceName,
  family: 'ipv4' | 'ipv6' | 'ib',
): number {
  const ownHeader = message === 'connect' && family !== 'ib' ? 36 : 0;
  if (portSpace === 'UDP' || portSpace === 'IPOIB') return (message === 'connect' ? 216 : 136) - ownHeader;
  return { connect: 92, accept: 196, reject: 148 }[message] - ownHeader;
}

/** Throws Failure PRIVATE_DATA_TOO_LONG. */
export function checkPrivateData(
  data: Uint8Array,
  message: CmMessage,
  portSpace: PortSpaceName,
  family: 'ipv4' | 'ipv6' | 'ib',
): void {
  const limit = privateDataLimit(message, portSpace, family);
  if (data.length <= limit) return;
  throw new Failure(
    'PRIVATE_DATA_TOO_LONG',
    `the private data has ${data.length} bytes; ${message} in port space ${portSpace.toLowerCase()} carries at most ${limit}`,
    `shorten it by ${data.length - limit} ${data.length - limit === 1 ? 'byte' : 'bytes'}${message === 'connect' ? '; accept and reject carry more' : ''}`,
  );
}

/** Private data as documents have it. */
export interface PrivateDataJson {
  readonly private_data: string;
  readonly private_data_text: string | null;
  readonly private_data_len: number;
  readonly private_data_padded: boolean;
}

/**
 * Received private data: hexadecimal, and as text where all of it is printable. Over InfiniBand and RoCE the
 * receiver is told the room of the message, not the length that was sent: the rest is zeros.
 */
export function privateDataJson(data: Uint8Array, transport: number | null): PrivateDataJson {
  const padded = transport !== TransportType.valueOf('IWARP') && data.length > 0;
  const end = padded ? data.findLastIndex((byte) => byte !== 0) + 1 : data.length;
  const text = Buffer.from(data.subarray(0, end)).toString('utf8');
  const isText = text !== '' && !/[\p{Cc}\uFFFD]/u.test(text);
  return {
    private_data: `0x${Buffer.from(data).toString('hex')}`,
    private_data_text: isText ? text : null,
    private_data_len: data.length,
    private_data_padded: padded,
  };
}
