/** The package as a library: a project of somebody else's that imports it, compiled strictly and run in lab efa. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseDevinfo } from '../support/devinfo.ts';
import { foreign } from '../support/json.ts';
import { lab, testFolder } from '../support/labs.ts';
import { REPOSITORY, run } from '../support/rdmatool.ts';
import { demand, pack } from './packed.ts';

const project = (): string => join(testFolder(), 'consumer');
const TSC = join(REPOSITORY, 'node_modules/typescript/bin/tsc');

/** The compiler's complaints about a file of the project. */
async function compile(name: string, text: string): Promise<string> {
  writeFileSync(join(project(), name), text);
  const strict =
    '--strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --target es2022 --module nodenext';
  const { stdout } = await run([process.execPath, TSC, ...strict.split(' '), '--types', 'node', name], {
    cwd: project(),
  });
  return stdout;
}

interface Said {
  readonly error: unknown;
  readonly devices: readonly { readonly name: string }[];
  readonly ports: unknown;
  readonly refused: { readonly message: string; readonly hint: string };
}

const CONSUMER = `
import { Failure, OperationFailure, connect, decodeMad, listPorts, queryDevices, type Device } from 'rdmatool';

const { error, devices } = await queryDevices();
const line = (device: Device) => ({
  name: device.name,
  fw_ver: device.attributes?.fw_ver ?? null,
  max_qp: device.attributes?.max_qp ?? null,
  max_mr_size: device.attributes?.max_mr_size ?? null,
  ports: device.ports.map(({ port, state, max_msg_sz }) => ({ port, state: state?.name ?? null, max_msg_sz })),
});
const { ports } = await listPorts(devices.map(({ name }) => name));
const datagram = await decodeMad(new Uint8Array(256).fill(1, 0, 4));

let refused: unknown = null;
try {
  await connect('10.9.1.1:7', { bind: '10.9.0.1', timeoutMs: 500, privateData: 'hello' });
} catch (thrown) {
  if (!(thrown instanceof Failure)) throw thrown;
  const { code, message, hint } = thrown;
  refused = { code, message, hint, hasResult: thrown instanceof OperationFailure };
}
const shown = { error, devices: devices.map(line), ports: ports.map(({ device, port }) => [device, port]) };
console.log(JSON.stringify({ ...shown, mad: datagram.brief, refused }));
`;

beforeAll(async () => {
  mkdirSync(project());
  writeFileSync(
    join(project(), 'package.json'),
    JSON.stringify({ name: 'consumer', private: true, type: 'module' }),
  );
  await demand(
    [
      'npm',
      'install',
      '--ignore-scripts',
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      await pack(testFolder()),
    ],
    project(),
  );
  mkdirSync(join(project(), 'node_modules/@types'));
  for (const name of ['@types/node', 'undici-types']) {
    symlinkSync(join(REPOSITORY, 'node_modules', name), join(project(), 'node_modules', name));
  }
});

describe('the library', () => {
  it('compiles strictly, and tells in lab efa what ibv_devinfo tells', async () => {
    expect(await compile('consumer.ts', CONSUMER)).toBe('');
    const place = await lab({ devices: ['rdmap0s6:efa2', 'rdmap16s27:efa1'] });
    const own = await run([process.execPath, 'consumer.js'], { cwd: project(), lab: place });
    expect(own, own.stderr).toMatchObject({ status: 0, stderr: '' });
    const said = foreign<Said>(own.stdout);
    const { stdout } = await run(['ibv_devinfo', '-v'], { lab: place });
    const devinfo = parseDevinfo(stdout);
    expect(devinfo.length).toBe(2);
    const text = (entries: (typeof devinfo)[number]['entries'], key: string): string =>
      entries.find((entry) => entry.key === key)?.text ?? `no ${key}`;
    expect(said.devices).toEqual(
      devinfo
        .map(({ name, entries, ports }) => ({
          name,
          fw_ver: text(entries, 'fw_ver'),
          max_qp: Number(text(entries, 'max_qp')),
          max_mr_size: BigInt(text(entries, 'max_mr_size')).toString(),
          ports: ports.map((port) => ({
            port: port.port,
            state: /^PORT_(\w+) /.exec(text(port.entries, 'state'))?.[1],
            max_msg_sz: Number(text(port.entries, 'max_msg_sz')),
          })),
        }))
        .sort(
          (a, b) =>
            said.devices.findIndex((one) => one.name === a.name) -
            said.devices.findIndex((one) => one.name === b.name),
        ),
    );
    expect(said.error).toBeNull();
    expect(said.ports).toEqual(said.devices.flatMap(({ name }) => [[name, 1]]));
    // The lab has no connection manager: the failure says so, in the same words as the command.
    expect(said.refused).toMatchObject({ code: expect.stringMatching(/^NO_/), hasResult: true });
    expect(said.refused.message).not.toBe('');
    expect(said.refused.hint).not.toBe('');
  });

  it.each([
    ['an option that there is not', "await queryDevices({ nmaes: ['a'] });", 'nmaes'],
    ['a value of another type', "await connect('10.0.0.1', { holdMs: '3' });", "'string' is not assignable"],
    ['a port space that there is not', "await connect('10.0.0.1', { portSpace: 'sctp' });", 'sctp'],
    ['a key that the document has not', 'console.log((await queryDevices()).devces);', 'devces'],
    ['a key that may be null', "console.log((await madGet('NodeInfo')).fields.guid);", 'null'],
    ['a code of failures that there is not', "if (new Failure('USAGE', '', '').code === 'NOPE') {}", 'NOPE'],
  ])('%s does not compile', async (_what, statement, complaint) => {
    const said = await compile(
      'wrong.ts',
      `import { connect, Failure, madGet, queryDevices } from 'rdmatool';\nexport { connect, Failure, madGet, queryDevices };\n${statement}\n`,
    );
    expect(said).toMatch(/^wrong\.ts\(3,/);
    expect(said).toContain(complaint);
    expect(said.match(/error TS/g)?.length).toBe(1);
  });

  it('serves require too', async () => {
    const { status, stdout, stderr } = await run(
      [
        process.execPath,
        '--input-type=commonjs',
        '--eval',
        "console.log(typeof require('rdmatool').queryDevices)",
      ],
      { cwd: project() },
    );
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'function\n', stderr: '' });
  });
});
