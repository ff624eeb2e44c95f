import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { IN_LAB, KEY_OPTION, PORT_OPTIONS, sessionOptions, targetOf } from './mad-options.ts';
import { defineCommand, flag, text } from './spec.ts';

export const madTableCommand = defineCommand({
  summary: 'Ask the subnet administration for records',
  arguments: [
    { usage: '<record>', description: 'which records; any spelling of upper and lower case' },
    { usage: '[field=value...]', description: 'only those with these values' },
  ],
  options: {
    ...PORT_OPTIONS,
    keyFile: KEY_OPTION,
    from: text('--from <target>', 'ask this port instead of the subnet manager: a LID, GUID or GID'),
    single: flag('--single', 'ask for the one record that fits (Get instead of GetTable)'),
  },
  details: [
    'Sends a GetTable to the subnet administration, with the component mask of the fields that are given. Values are typed as they are shown: decimal or 0x, names of enumerations and flags, GIDs as IPv6 addresses, bytes in hexadecimal.',
    'Where the answer announces more records than came, something on the way cuts long messages; it says so.',
  ],
  async reference() {
    const { RECORDS } = await import('../mad/table.ts');
    return [
      {
        title: 'Records',
        completes: 'record',
        rows: RECORDS.map(({ name, meaning, layout }) => [
          name,
          `${meaning}: ${layout.members.map((member) => member.name).join(', ')}`,
        ]),
      },
    ];
  },
  examples: [
    { command: `${IN_LAB} mad table NodeRecord lid=2`, does: 'the node of LID 2' },
    { command: `${IN_LAB} mad table LinkRecord from_lid=1`, does: 'the links of the switch' },
    { command: `${IN_LAB} mad table PathRecord slid=2 dlid=3 num_path=1 --single`, does: 'one path' },
    {
      command: `${IN_LAB} mad table NodeRecord --json | jq -r '.records[].node_description'`,
      does: 'names, for a script',
    },
  ],
  seeAlso: ['rdmatool-mad-get(1)', 'saquery(8)'],
  failed: (error) => ({
    schema: SCHEMA_IDS.madTable,
    error,
    device: null,
    port: null,
    record: null,
    component_mask: null,
    header: null,
    mad: null,
    records: [],
    records_held: null,
    rtt_ms: null,
    attempts: null,
  }),
  async run({ args, options, context }) {
    const [record = '', ...selection] = args;
    const { withSession } = await import('../mad/open.ts');
    const { getTable, tableQuery } = await import('../mad/table.ts');
    const from = options.from === null ? null : await targetOf(options.from);
    const query = tableQuery({ record, selection, single: options.single, from });
    const wanted = await sessionOptions(options);
    return withSession(wanted, options, context.interruption(), async (session) => {
      const result = await getTable(session, query);
      return context.conclude(result, async () =>
        (await import('../views/mad-message.ts')).madTableView(result),
      );
    });
  },
});
