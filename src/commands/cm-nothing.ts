/** What a `cm` command has to show when it fails before it has begun. */
import type { FailureJson } from '../explain/failure.ts';

export const nothingDone = (error: FailureJson) =>
  ({ error, port_space: 'tcp', local: null, peer: null, device: null, ib_port: null, steps: [] }) as const;
