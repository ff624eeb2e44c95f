import type { JsonSchema } from '../layout/codec.ts';
import { LabStatusResult } from './lab-status.ts';
import { ListResult } from './list.ts';
import { QueryDeviceResult } from './query-device.ts';
import { SchemaResult } from './schema.ts';

/** The JSON Schema of each command's output, by command. */
export const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  'query-device': QueryDeviceResult as object as JsonSchema,
  list: ListResult as object as JsonSchema,
  'lab-status': LabStatusResult as object as JsonSchema,
  schema: SchemaResult as object as JsonSchema,
};
