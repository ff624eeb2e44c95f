/** The file of answers of `mad serve`: JSON, {"answers": [...]}, the first that fits a request wins. */
import { type Attribute, componentBits } from '../datagram/attributes.ts';
import { isVendor2, Method, MgmtClass } from '../datagram/classes.ts';
import { FieldValueError, parseHexBytes, parseInteger } from '../datagram/field.ts';
import { classVersion, isDirected } from '../datagram/headers.ts';
import { type FieldValues, isResponse, parseFields } from '../datagram/message.ts';
import { Failure } from '../explain/failure.ts';
import { findAttribute } from './attribute-name.ts';
import { usageFailure } from './failures.ts';

/** An answer, and what it answers. */
export interface AnswerRule {
  readonly mgmtClass: number;
  readonly classVersion: number;
  readonly oui: number | null;
  /** null for every method that asks for an answer. */
  readonly method: number | null;
  /** null for all. */
  readonly attributeId: number | null;
  /** null for all. */
  readonly modifier: number | null;
  readonly status: number;
  /** One record after another, or what else stands in the place of the data. */
  readonly data: Uint8Array;
  /** Bytes from one record to the next, for subnet administration; 0 for none. */
  readonly distance: number;
  /** What the data is records of, for subnet administration; null for other data. */
  readonly record: Attribute | null;
}

/** What an answer in the file may say: key to meaning, for the manual. */
export const ANSWER_KEYS: Readonly<Record<string, string>> = {
  class: 'management class, by name ("PERF") or number; required',
  attribute: 'attribute, by name ("PortCounters") or number; required, "any" for all',
  modifier: 'attribute modifier, a number; any unless given',
  method: 'method of the request, by name ("GetTable") or number; any that asks unless given',
  class_version: 'version of the class; 2 for SA and CM, else 1, unless given',
  oui: 'vendor, for classes 0x30 to 0x4f: 0x001405 unless given',
  status: 'status of the answer, a number (as text, "0x000c", too); 0 unless given',
  fields: 'values by field name, as mad send takes and mad get shows them; those left out are zero',
  records: 'for subnet administration: an array of such objects, one a record',
  repeat: 'with fields, records or data: so many times one after the other, for long answers',
  data: 'instead of fields: the bytes of the data in hexadecimal, as many as RMPP can send',
};

/** The vendor of ibping(8), and of whoever names none. */
export const OPENIB_OUI = 0x001405;
const MOST_DATA = 1 << 24;

type JsonObject = { readonly [key: string]: unknown };

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * @param text of the file
 * @param name of the file, for messages
 * @throws Failure that names the answer and the key that is wrong
 */
export function parseAnswers(text: string, name: string): AnswerRule[] {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw wrong(name, error instanceof Error ? error.message : String(error));
  }
  if (!isObject(file) || !Array.isArray(file['answers']) || Object.keys(file).length !== 1) {
    throw wrong(name, 'it is not an object with one key, "answers", and an array in it');
  }
  const answers: unknown[] = file['answers'];
  if (answers.length === 0) throw wrong(name, 'there is no answer in it');
  return answers.map((answer, index) => {
    const where = `answer ${index + 1}`;
    if (!isObject(answer)) throw wrong(name, `${where} is not an object`);
    try {
      return parseRule(answer);
    } catch (error) {
      const failure = error instanceof Failure ? error : usageFailure(error);
      throw wrong(
        name,
        `${where}: ${failure.message}`,
        error instanceof FieldValueError ? undefined : failure.hint,
      );
    }
  });
}

const wrong = (
  name: string,
  what: string,
  hint = 'rdmatool mad serve --help shows what may stand in it',
): Failure => new Failure('USAGE', `${name}: ${what}`, hint);

/** Throws FieldValueError or Failure. */
function parseRule(answer: JsonObject): AnswerRule {
  const unknown = Object.keys(answer).find((key) => !Object.hasOwn(ANSWER_KEYS, key));
  if (unknown !== undefined) {
    throw new FieldValueError(
      `there is no key "${unknown}"; there are: ${Object.keys(ANSWER_KEYS).join(', ')}`,
    );
  }
  const mgmtClass = numberOf(answer, 'class', 8, MgmtClass.entries);
  if (mgmtClass === null) throw new FieldValueError('"class" is missing');
  if (isDirected(mgmtClass)) {
    throw new FieldValueError('"class": a port answers directed subnet management by itself');
  }
  const method = numberOf(answer, 'method', 8, Method.entries);
  if (method !== null && isResponse(method)) {
    throw new FieldValueError('"method": a response is not answered');
  }
  const { id, attribute } = attributeIn(answer, mgmtClass);
  const payload = payloadOf(answer, attribute);
  return {
    mgmtClass,
    classVersion: numberOf(answer, 'class_version', 8) ?? classVersion(mgmtClass),
    oui: isVendor2(mgmtClass) ? (numberOf(answer, 'oui', 24) ?? OPENIB_OUI) : null,
    method,
    attributeId: id,
    modifier: numberOf(answer, 'modifier', 32),
    status: numberOf(answer, 'status', 16) ?? 0,
    ...payload,
  };
}

function attributeIn(
  answer: JsonObject,
  mgmtClass: number,
): { id: number | null; attribute: Attribute | null } {
  const value = answer['attribute'];
  if (value === undefined) throw new FieldValueError('"attribute" is missing');
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw new FieldValueError('"attribute" is neither a name nor a number');
  }
  if (value === 'any') return { id: null, attribute: null };
  return findAttribute(mgmtClass, String(value));
}

function payloadOf(
  answer: JsonObject,
  attribute: Attribute | null,
): Pick<AnswerRule, 'data' | 'distance' | 'record'> {
  const given = ['fields', 'records', 'data'].filter((key) => answer[key] !== undefined);
  if (given.length > 1) throw new FieldValueError(`${given.join(' and ')}: one of them`);
  const repeat = numberOf(answer, 'repeat', 24) ?? 1;
  const pieces = piecesOf(answer, attribute);
  const [first] = pieces;
  const isRecord = attribute !== null && componentBits(attribute) !== null && answer['data'] === undefined;
  // Records lie at multiples of eight bytes.
  const distance = isRecord ? Math.ceil(attribute.layout.size / 8) * 8 : (first?.length ?? 0);
  const length = distance * pieces.length * repeat;
  if (length > MOST_DATA) throw new FieldValueError(`${length} bytes of data are more than ${MOST_DATA}`);
  const data = new Uint8Array(length);
  for (let index = 0; index < pieces.length * repeat; index++) {
    data.set(pieces[index % pieces.length] ?? new Uint8Array(), index * distance);
  }
  return { data, distance: isRecord && length > 0 ? distance : 0, record: isRecord ? attribute : null };
}

function piecesOf(answer: JsonObject, attribute: Attribute | null): Uint8Array[] {
  const { fields, records, data } = answer;
  if (data !== undefined) {
    if (typeof data !== 'string') throw new FieldValueError('"data" is not a text of hexadecimal digits');
    return [parseHexBytes(data)];
  }
  const all = records ?? (fields === undefined ? [] : [fields]);
  if (!Array.isArray(all)) throw new FieldValueError('"records" is not an array');
  if (all.length === 0) return [];
  if (attribute === null) {
    throw new FieldValueError('the fields of the attribute are not known; give "data"');
  }
  if (records !== undefined && componentBits(attribute) === null) {
    throw new FieldValueError(
      `"records": ${attribute.name} is no record of subnet administration; give "fields"`,
    );
  }
  return all.map((record: unknown) => attribute.layout.encode(fieldsOf(record, attribute)));
}

function fieldsOf(record: unknown, attribute: Attribute): FieldValues {
  if (!isObject(record)) throw new FieldValueError('the fields are not an object');
  return parseFields(
    attribute.layout,
    Object.entries(record).map(([name, value]) => `${name}=${textOf(name, value)}`),
  );
}

/** As mad send takes a value: enumerations and flags also as mad get shows them, lists with commas. */
function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return String(value);
  }
  if (Array.isArray(value)) return value.map((each: unknown) => textOf(name, each)).join(',');
  if (isObject(value) && 'value' in value) return textOf(name, value['value']);
  throw new FieldValueError(`${name}: ${JSON.stringify(value)} is no value of a field`);
}

/** A number of so many bits, or a name for it; null where the key is missing. */
function numberOf(
  answer: JsonObject,
  key: string,
  bits: number,
  names: ReadonlyArray<readonly [string, number]> = [],
): number | null {
  const value = answer[key];
  if (value === undefined) return null;
  const named = names.find(([name]) => name.toLowerCase() === String(value).toLowerCase());
  if (named) return named[1];
  if (typeof value !== 'number' && typeof value !== 'string') {
    throw new FieldValueError(`"${key}" is not a number`);
  }
  try {
    return Number(parseInteger(String(value), bits));
  } catch (error) {
    if (!(error instanceof FieldValueError)) throw error;
    const known = names.length === 0 ? '' : `; the names are: ${names.map(([name]) => name).join(', ')}`;
    throw new FieldValueError(`"${key}": ${error.message}${known}`);
  }
}
