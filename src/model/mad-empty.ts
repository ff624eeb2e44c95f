/** The objects of the streams `mad …` with nothing in them yet. */
import type { FailureJson } from '../explain/failure.ts';
import type { MadRecvObject, MadServeObject } from './mad.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

const nothing = (error: FailureJson | null) => ({
  event: null,
  error,
  time: new Date().toISOString(),
  device: null,
  port: null,
  transport: null,
  header_kind: null,
  agents: [],
  header: null,
});

export const emptyRecvObject = (error: FailureJson | null): MadRecvObject => ({
  schema: SCHEMA_IDS.madRecv,
  ...nothing(error),
  message: null,
});

export const emptyServeObject = (error: FailureJson | null): MadServeObject => ({
  schema: SCHEMA_IDS.madServe,
  ...nothing(error),
  request: null,
  answer: null,
});
