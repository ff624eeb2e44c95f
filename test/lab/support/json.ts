/** The only place where the lab tests parse JSON: what rdmatool prints is held against its schema. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { SCHEMAS } from '../../../src/model/schemas.ts';

const validators = new Map<string, ValidateFunction>();

/** A document that rdmatool printed, which fits the schema that its `schema` key names. */
export function product<D = Record<string, unknown>>(text: string): D {
  const document: D = JSON.parse(text);
  const id =
    typeof document === 'object' && document !== null && 'schema' in document ? String(document.schema) : '';
  const validate = validatorOf(id, text);
  expect(validate(document), `${id}: ${JSON.stringify(validate.errors?.slice(0, 3))}`).toBe(true);
  return document;
}

/** One document a line. */
export const products = <D = Record<string, unknown>>(text: string): D[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => product<D>(line));

/** JSON that is no document of rdmatool's: what a peer (`rdma -j`, `ip -j`), npm or a driver of the tests printed. */
export const foreign = <T>(text: string): T => JSON.parse(text);

function validatorOf(id: string, text: string): ValidateFunction {
  const name = /^rdmatool\/([a-z-]+)\/\d+$/.exec(id)?.[1];
  if (name === undefined) throw new Error(`no document of rdmatool's: ${text.slice(0, 200)}`);
  // Two commands print two kinds of documents, by one schema.
  const schema = SCHEMAS[name] ?? SCHEMAS[name.replace(/-(ports|summary)$/, '')];
  if (schema === undefined) throw new Error(`there is no schema ${name}`);
  const known =
    validators.get(name) ?? new Ajv2020({ strict: false }).compile(JSON.parse(JSON.stringify(schema)));
  validators.set(name, known);
  return known;
}
