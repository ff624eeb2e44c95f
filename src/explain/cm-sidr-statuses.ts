/** Answers to a datagram service request: the status of the SIDR_REP message (IBTA, volume 1, chapter 12). */
import type { CodeExplanation } from './cm-reject-reasons.ts';

/** By number; UNREACHABLE carries them in the port spaces of datagrams. */
export const SIDR_STATUSES: ReadonlyMap<number, CodeExplanation> = new Map([
  [
    1,
    {
      name: 'UNSUPPORTED',
      meaning: 'nobody listens on that port at the peer, in that port space',
      cause: 'the server is not running, listens on another port or in another port space (--ps)',
      next: 'start the server, or look for its port there: rdma resource show cm_id',
    },
  ],
  [
    2,
    {
      name: 'REJECT',
      meaning: 'the application on the other side said no',
      cause: 'its own decision (see its private data), or its accept failed',
      next: 'read the log of the application on the peer',
    },
  ],
  [
    3,
    {
      name: 'NO_QP',
      meaning: 'the peer has no queue pair for the service',
      cause: 'the application listens, and has made no queue pair, or the limit of its device is reached',
      next: 'look at rdma resource show qp on the peer',
    },
  ],
  [
    4,
    {
      name: 'REDIRECT',
      meaning: 'the service is somewhere else',
      cause: 'the peer is a gateway',
      next: 'connect to the address that serves it',
    },
  ],
  [
    5,
    {
      name: 'UNSUPPORTED_VERSION',
      meaning: 'the peer speaks another version of the connection manager',
      cause: 'an old or foreign implementation on the other side',
      next: 'compare the kernels of both machines',
    },
  ],
]);
