/** What a script can speak through. */
import { Librdmacm } from '../../native/librdmacm.ts';
import type { Backend } from '../backend.ts';
import { librdmacmBackend } from '../librdmacm-backend.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';

export interface ScriptBackend {
  readonly open: () => Backend;
  /** Those that every backend has, and its own. */
  readonly operations: readonly Operation[];
}

export const SCRIPT_BACKENDS = {
  librdmacm: { open: () => librdmacmBackend(new Librdmacm()), operations: OPERATIONS },
} as const satisfies Readonly<Record<string, ScriptBackend>>;
