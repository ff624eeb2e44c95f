import { SCHEMAS } from '../../../src/model/schemas.ts';

/** The schema that `rdmatool schema NAME` prints. */
export function buildSchema(name: string): object {
  const schema = SCHEMAS[name];
  if (!schema) throw new Error(`there is no schema ${name}`);
  return JSON.parse(JSON.stringify(schema));
}
