/** Data over a connection, as documents have it. */
import Type from 'typebox';
import { WcStatus } from '../abi/verbs-work.ts';
import { exact, nullable, ofEnumeration } from './parts.ts';

export const CmDurations = exact({
  min_us: Type.Number(),
  median_us: Type.Number(),
  p99_us: Type.Number(),
  max_us: Type.Number(),
});
export type CmDurations = Type.Static<typeof CmDurations>;

/** The completion that ended an exchange. */
export const CmCompletion = exact({
  status: ofEnumeration(WcStatus),
  vendor_err: Type.Integer({ description: 'What the device says besides' }),
});
export type CmCompletion = Type.Static<typeof CmCompletion>;

export const CmPing = exact({
  protocol: Type.Enum(['rping', 'datagrams'], {
    description: 'rping: RDMA reads and writes by the peer; datagrams: messages that are sent back',
  }),
  size: Type.Integer({ description: 'Bytes of each ping' }),
  count: Type.Integer({ description: 'Pings that were asked for' }),
  sent: Type.Integer(),
  received: Type.Integer({ description: 'Pings that came back' }),
  verified: Type.Integer({ description: 'Pings that came back with the bytes that were sent' }),
  round_trip: nullable(CmDurations),
  bytes_per_second: nullable(
    Type.Number({ description: 'Bytes of pings, to and fro, by the time that they took' }),
  ),
  completion: nullable(CmCompletion),
});
export type CmPing = Type.Static<typeof CmPing>;

export const CmEcho = exact({
  protocol: Type.Enum(['rping', 'datagrams']),
  served: Type.Integer({ description: 'Pings that were sent back' }),
  bytes: Type.Integer({ description: 'Their bytes, one way' }),
  completion: nullable(CmCompletion),
});
export type CmEcho = Type.Static<typeof CmEcho>;
