import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { jsonDocument } from '../output/json.ts';
import { defineCommand, UsageError } from './spec.ts';

export const schemaCommand = defineCommand({
  summary: "Print the JSON Schema of a command's output",
  arguments: [
    {
      usage: '[command]',
      description: 'the command; without one, their names',
      complete: async () => Object.keys((await import('../model/schemas.ts')).SCHEMAS),
    },
  ],
  options: {},
  details: [
    'The schemas are JSON Schema, draft 2020-12. Every document that --json prints carries in its key schema the name and the version of its form; a change that could break a script raises the version.',
    'In all documents: 64-bit quantities are decimal strings; an enumeration is {value, name} with name null where the value is not known; a mask is {value, flags, unknown}; what could not be had is null, with the reason under unavailable; error is null exactly when all that was asked for was done.',
  ],
  examples: [{ command: 'rdmatool schema query-device', does: 'the schema of query-device --json' }],
  seeAlso: [],
  failed: (error) => ({ schema: SCHEMA_IDS.schema, error, commands: [] }),
  async run({ args, context }) {
    const { SCHEMAS } = await import('../model/schemas.ts');
    const [name] = args;
    const names = Object.keys(SCHEMAS);
    if (name === undefined) {
      const result = { schema: SCHEMA_IDS.schema, error: null, commands: names };
      return context.conclude(result, async () => names.map((text) => ({ type: 'text', text })));
    }
    const schema = names.includes(name) ? SCHEMAS[name] : undefined;
    if (!schema)
      throw new UsageError(`schema: there is none for '${name}'; there is for ${names.join(', ')}`);
    await context.streams.data(
      jsonDocument({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }),
    );
    return 0;
  },
});
