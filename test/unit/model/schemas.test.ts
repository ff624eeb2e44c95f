import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/commands/all.ts';
import { FAILURES, type FailureJson } from '../../../src/explain/failure.ts';
import { SCHEMA_IDS } from '../../../src/model/schema-ids.ts';
import { SCHEMAS } from '../../../src/model/schemas.ts';

const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });

describe('schemas', () => {
  it('are there for every command that prints a document of its own', () => {
    const commands = COMMANDS.filter(({ failed }) => failed !== undefined).map(({ path }) => path.join('-'));
    expect(Object.keys(SCHEMAS)).toEqual(commands);
    expect(new Set(Object.values(SCHEMA_IDS)).size).toBe(Object.keys(SCHEMA_IDS).length);
  });

  it.each(COMMANDS.flatMap((spec) => (spec.failed ? [[spec.path.join('-'), spec.failed] as const] : [])))(
    '%s: what is printed when the command never got to work fits',
    (name, failed) => {
      const validate = ajv.compile(SCHEMAS[name] ?? {});
      for (const code of Object.keys(FAILURES) as (keyof typeof FAILURES)[]) {
        const error: FailureJson = { code, errno: { value: 5, name: 'EIO' }, message: 'm', hint: '' };
        const document = failed(error);
        expect(validate(JSON.parse(JSON.stringify(document))), JSON.stringify(validate.errors)).toBe(true);
        expect(document.schema).toBe(`rdmatool/${name}/1`);
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
