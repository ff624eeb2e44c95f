/** What cannot go well is refused before anything is opened: on a machine without a connection manager too. */
import { describe, expect, it } from 'vitest';
import { product } from './support/json.ts';
import { rdmatool } from './support/rdmatool.ts';

const LONG = 'x'.repeat(197);

describe('refused at once', () => {
  it.each([
    [['connect', '239.1.1.1'], 'USAGE', /multicast address.*/, 'cm-connect'],
    [['connect', 'ff0e::1', '--count', '2'], 'USAGE', /multicast address/, 'cm-connect-many'],
    [['init-qp-attr', '239.1.1.1'], 'USAGE', /multicast address/, 'cm-init-qp-attr'],
    [['connect', '10.9.1.1:7', '--port', '8'], 'USAGE', /says port 7 and --port 8/, 'cm-connect'],
    [['resolve', '[fd09::1]:7', '--port', '8'], 'USAGE', /says port 7 and --port 8/, 'cm-resolve'],
    [['bind', '10.9.1.1:7', '--port', '8'], 'USAGE', /says port 7 and --port 8/, 'cm-bind'],
    [['listen', '10.9.1.1:7', '--port', '8'], 'USAGE', /says port 7 and --port 8/, 'cm-listen'],
    [['connect', '10.9.1.1', '--private-data', LONG], 'PRIVATE_DATA_TOO_LONG', /at most 56/, 'cm-connect'],
    [['listen', '--private-data', LONG], 'PRIVATE_DATA_TOO_LONG', /at most 196/, 'cm-listen'],
    [['listen', '--reject', '--private-data', LONG], 'PRIVATE_DATA_TOO_LONG', /at most 148/, 'cm-listen'],
  ] as const)('cm %j', async (args, code, message, schema) => {
    const { status, stdout, stderr } = await rdmatool(['cm', ...args, '--json']);
    const document = product(stdout);
    expect(document).toHaveProperty('schema', `rdmatool/${schema}/1`);
    expect(document['error']).toMatchObject({ code, message: expect.stringMatching(message) });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/^rdmatool: .*\nnext: .*\n$/),
    });
  });

  it('a command that a group has not: where its commands stand', async () => {
    for (const group of ['cm', 'mad', 'decode', 'lab']) {
      const { status, stderr } = await rdmatool([group, 'nope']);
      expect({ status, stderr }).toEqual({
        status: 2,
        stderr: expect.stringContaining(`rdmatool ${group} --help`),
      });
    }
  });
});
