/** Documents of the `cm` commands in which nothing has happened yet. */
import type { FailureJson } from '../explain/failure.ts';
import type { CmListenObject } from './cm.ts';
import type { CmRunObject } from './cm-run.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

/** What every one-shot command has, before its first step. */
export const emptyOutcome = (portSpace: 'tcp' | 'udp' | 'ib' | 'ipoib', error: FailureJson | null) => ({
  error,
  port_space: portSpace,
  local: null,
  peer: null,
  device: null,
  ib_port: null,
  steps: [],
  kernel_commands: null,
});

/** An object of the stream of `cm listen`, of this moment. */
export const emptyListenObject = (error: FailureJson | null): CmListenObject => ({
  schema: SCHEMA_IDS.cmListen,
  time: new Date().toISOString(),
  error,
  event: null,
  status: 0,
  status_name: null,
  id: null,
  meaning: null,
  action: null,
  local: null,
  peer: null,
  device: null,
  ib_port: null,
  connection: null,
  echo: null,
  kernel_commands: null,
});

/** An object of the stream of `cm run`, of this moment. */
export const emptyRunObject = (error: FailureJson | null): CmRunObject => ({
  schema: SCHEMA_IDS.cmRun,
  time: new Date().toISOString(),
  error,
  line: null,
  column: null,
  step: null,
  operation: null,
  id: null,
  state: null,
  duration_ms: null,
  failure_expected: false,
  ok: error === null,
  result: null,
  kernel_commands: null,
});
