/** Every JSON document of the tests, against the schema that rdmatool prints for it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { CountersResult } from '../../../src/model/counters.ts';
import type { DoctorResult } from '../../../src/model/doctor.ts';
import type { GidResult } from '../../../src/model/gid.ts';
import type { ListResult } from '../../../src/model/list.ts';
import type { PortResult } from '../../../src/model/port.ts';
import type { QueryDeviceResult } from '../../../src/model/query-device.ts';
import { foreign } from './json.ts';

const RDMATOOL = join(import.meta.dirname, '../../../bin/rdmatool.js');

interface SchemaDocument {
  readonly schema: 'rdmatool/schema/1';
  readonly error: QueryDeviceResult['error'];
  readonly commands: readonly string[];
}
export type AnyDocument =
  | QueryDeviceResult
  | ListResult
  | GidResult
  | PortResult
  | CountersResult
  | DoctorResult
  | SchemaDocument;

const validators = new Map<string, ValidateFunction>();

/** The validator of a command's documents. */
export function validatorOf(command: string): ValidateFunction {
  let validate = validators.get(command);
  if (validate === undefined) {
    const { stdout } = spawnSync(process.execPath, [RDMATOOL, 'schema', command], { encoding: 'utf8' });
    validate = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true }).compile(foreign(stdout));
    validators.set(command, validate);
  }
  return validate;
}

/** The document in the text: one, that fits the schema it names. Throws what is wrong with it. */
export function checkDocument(text: string): AnyDocument {
  const raw = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.exec(text);
  if (raw) throw new Error(`a control character stands raw in the JSON, at ${raw.index}`);
  const document: unknown = foreign(text);
  const id =
    typeof document === 'object' && document !== null && 'schema' in document ? String(document.schema) : '';
  const command = /^rdmatool\/([a-z-]+)\/\d+$/.exec(id)?.[1];
  if (command === undefined) throw new Error(`no schema: ${text.slice(0, 200)}`);
  const validate = validatorOf(command);
  if (!validate(document)) throw new Error(`${id}: ${JSON.stringify(validate.errors, null, 1)}`);
  const silent = unexplainedNulls(document);
  if (silent.length > 0) throw new Error(`null without a reason: ${silent.join(', ')}`);
  return document as AnyDocument;
}

/** Keys of which null says something by itself: no error, none there, no name for the number, a first reading. */
const SPEAKING_NULLS =
  /^(error|errno|name|ipv4|netdev|port|lifespan_ms|interval_ms|event|RDMA_READ|RNR_RETRY|CQ_\w+|RDMA_WRITE|UNSOLICITED_\w+|COMP_CNTR)$/;

/** The same of the paths of doctor: all purposes, no address; no subject but the machine, nothing to add or repair. */
const SPEAKING_PATHS =
  /^\.(for|address|root_cause)$|^\.(root_cause|checks\[\d+\])\.(subject|meaning|repair)$/;

/** Paths that are null and have no reason under `unavailable` of the same object. */
function unexplainedNulls(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => unexplainedNulls(one, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  const reasons: object =
    'unavailable' in value && typeof value.unavailable === 'object' && value.unavailable !== null
      ? value.unavailable
      : {};
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = `${path}.${key}`;
    // What sysfs does not show is not there; a short list has one word on it, its error.
    if (key === 'sysfs' || (path.startsWith('.devices') && !('unavailable' in value))) return [];
    if (inner === null)
      return key in reasons || SPEAKING_NULLS.test(key) || SPEAKING_PATHS.test(at) ? [] : [at];
    return unexplainedNulls(inner, at);
  });
}
