import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { loadCommands } from '../../../src/commands/all.ts';
import { FAILURES, type FailureJson } from '../../../src/explain/failure.ts';
import { SCHEMA_IDS } from '../../../src/model/schema-ids.ts';
import { SCHEMAS } from '../../../src/model/schemas.ts';

const commands = await loadCommands();

const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });

/** `query-device` of `rdmatool/query-device/1`. */
const nameOf = (id: string): string => /^rdmatool\/([a-z-]+)\/[0-9]+$/.exec(id)?.[1] ?? `no name in ${id}`;

describe('schemas', () => {
  it('have an id of their own, under their name', () => {
    const names = Object.values(SCHEMA_IDS).map(nameOf);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(Object.keys(SCHEMAS)));
    // A command may print several documents, under one schema: mad-get-ports is one of mad-get.
    const alone = names.filter((name) => !Object.keys(SCHEMAS).some((key) => name.startsWith(key)));
    expect(alone).toEqual([]);
  });

  it.each(commands.flatMap((spec) => (spec.failed ? [[spec.path.join('-'), spec.failed] as const] : [])))(
    '%s: what is printed when the command never got to work fits',
    async (_name, failed) => {
      for (const code of Object.keys(FAILURES) as (keyof typeof FAILURES)[]) {
        const error: FailureJson = { code, errno: { value: 5, name: 'EIO' }, message: 'm', hint: '' };
        const document = await failed(error);
        const name = nameOf(document.schema);
        const schema = SCHEMAS[Object.keys(SCHEMAS).find((key) => name.startsWith(key)) ?? ''];
        expect(schema, document.schema).toBeDefined();
        const validate = ajv.getSchema(document.schema) ?? ajv.compile({ $id: document.schema, ...schema });
        expect(validate(JSON.parse(JSON.stringify(document))), JSON.stringify(validate.errors)).toBe(true);
      }
    },
    // Schemas that hold those of all attributes take a while to compile on a busy machine.
    30_000,
  );

  it.each(Object.entries(SCHEMAS))('%s: nothing unknown may stand in a document', (_name, schema) => {
    const open: string[] = [];
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const isObject = 'type' in value && value.type === 'object';
      const isMap =
        'patternProperties' in value ||
        ('additionalProperties' in value && value.additionalProperties !== false);
      if (isObject && !isMap && !('additionalProperties' in value)) open.push(path);
      for (const [key, inner] of Object.entries(value)) visit(inner, `${path}/${key}`);
    };
    visit(schema, '');
    expect(open).toEqual([]);
  });
});
