import type { JsonSchema } from '../layout/codec.ts';
import {
  CmBindResult,
  CmConnectResult,
  CmCreateIdResult,
  CmGetaddrinfoResult,
  CmInitQpAttrResult,
  CmListenObject,
  CmResolveResult,
} from './cm.ts';
import { CmConnectManyResult } from './cm-connect-many.ts';
import { CmJoinResult } from './cm-join.ts';
import { CmRunObject } from './cm-run.ts';
import { CompletionResult } from './completion.ts';
import { CountersResult } from './counters.ts';
import { DecodeResult } from './decode.ts';
import { DoctorResult } from './doctor.ts';
import { GidResult } from './gid.ts';
import { LabStatusResult } from './lab-status.ts';
import { ListResult } from './list.ts';
import {
  MadGetDocument,
  MadPingResult,
  MadRecvObject,
  MadResetResult,
  MadSendResult,
  MadServeObject,
  MadTableResult,
} from './mad.ts';
import { PortResult } from './port.ts';
import { QueryDeviceResult } from './query-device.ts';
import { SchemaResult } from './schema.ts';
import { TraceObject } from './trace.ts';

/** The JSON Schema of each command's output, by command. */
export const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  'query-device': QueryDeviceResult as object as JsonSchema,
  list: ListResult as object as JsonSchema,
  gid: GidResult as object as JsonSchema,
  port: PortResult as object as JsonSchema,
  counters: CountersResult as object as JsonSchema,
  doctor: DoctorResult as object as JsonSchema,
  completion: CompletionResult as object as JsonSchema,
  'lab-status': LabStatusResult as object as JsonSchema,
  'mad-get': MadGetDocument as object as JsonSchema,
  'mad-table': MadTableResult as object as JsonSchema,
  'mad-ping': MadPingResult as object as JsonSchema,
  'mad-reset-counters': MadResetResult as object as JsonSchema,
  'mad-send': MadSendResult as object as JsonSchema,
  'mad-recv': MadRecvObject as object as JsonSchema,
  'mad-serve': MadServeObject as object as JsonSchema,
  decode: DecodeResult as object as JsonSchema,
  trace: TraceObject as object as JsonSchema,
  schema: SchemaResult as object as JsonSchema,
  'cm-create-id': CmCreateIdResult as object as JsonSchema,
  'cm-bind': CmBindResult as object as JsonSchema,
  'cm-resolve': CmResolveResult as object as JsonSchema,
  'cm-connect': CmConnectResult as object as JsonSchema,
  'cm-connect-many': CmConnectManyResult as object as JsonSchema,
  'cm-listen': CmListenObject as object as JsonSchema,
  'cm-run': CmRunObject as object as JsonSchema,
  'cm-init-qp-attr': CmInitQpAttrResult as object as JsonSchema,
  'cm-join': CmJoinResult as object as JsonSchema,
  'cm-getaddrinfo': CmGetaddrinfoResult as object as JsonSchema,
};
