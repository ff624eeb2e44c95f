/** The library on a simulated fabric, with smpquery, saquery and ibping as peers. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestFabric } from '../mad/fabric.ts';
import { foreign } from '../support/json.ts';
import { type CallOutcome, consumer } from './consumer.ts';

let fabric: TestFabric;
beforeAll(async () => {
  fabric = await TestFabric.start({ fabric: 'pair' });
});
afterAll(() => fabric.stop());

const REPOSITORY = new URL('../../..', import.meta.url).pathname;
const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** The command of a program, run where the package is found by its name. */
const program = (body: string): string => `cd ${REPOSITORY} && ${consumer(body).map(quoted).join(' ')}`;

async function said(body: string): Promise<Record<string, CallOutcome>> {
  const { status, stdout, stderr } = await fabric.shell(program(body));
  expect(status, stderr).toBe(0);
  return foreign(stdout);
}

it('madGet tells what smpquery tells', async () => {
  const outcomes = await said(`
    for (const lid of [1, 2, 3]) said[lid] = await outcome(() => rdmatool.madGet('NodeInfo', String(lid)));
    said.nobody = await outcome(() => rdmatool.madGet('NodeInfo', '99', { timeoutMs: 100, retries: 0 }));
    said.aborted = await outcome(() => rdmatool.madGet('NodeInfo', '3', { signal: AbortSignal.abort() }));
    said.attribute = await outcome(() => rdmatool.madGet('NodeInf', '3'));
    said.class = await outcome(() => rdmatool.madGet('NodeInfo', '3', { mgmtClass: 'NOPE' }));
    said.time = await outcome(() => rdmatool.madGet('NodeInfo', '3', { timeoutMs: Number.NaN }));
  `);
  for (const lid of [1, 2, 3]) {
    const { stdout } = await fabric.shell(`smpquery nodeinfo ${lid}`);
    const value = (name: string): string => new RegExp(`^${name}:\\.+(.*)$`, 'm').exec(stdout)?.[1] ?? name;
    const guid = (name: string): string =>
      value(name).replace('0x', '').match(/.{4}/g)?.join(':') ?? `no ${name}`;
    expect(outcomes[lid]?.gave).toMatchObject({
      fields: {
        num_ports: Number(value('NumPorts')),
        node_guid: guid('Guid'),
        port_guid: guid('PortGuid'),
      },
    });
  }
  expect(outcomes['nobody']).toMatchObject({ code: 'TIMED_OUT', errno: 'ETIMEDOUT' });
  expect(outcomes['aborted']).toMatchObject({ code: 'INTERRUPTED' });
  for (const wrong of ['attribute', 'class', 'time']) {
    expect(outcomes[wrong], wrong).toMatchObject({ code: 'USAGE' });
  }
});

it('madTable tells the nodes of saquery', async () => {
  const { all, one, wrong, aborted } = await said(`
    const lids = async (options) => (await rdmatool.madTable('NodeRecord', options)).records.map(({ lid }) => lid).sort();
    said.all = await outcome(() => lids({}));
    said.one = await outcome(() => lids({ selection: { lid: 3 } }));
    said.wrong = await outcome(() => lids({ selection: { nope: 3 } }));
    said.aborted = await outcome(() => lids({ signal: AbortSignal.abort() }));
  `);
  const peerLids = async (query: string): Promise<number[]> => {
    const { stdout } = await fabric.shell(`saquery ${query}`);
    const found = [...stdout.matchAll(/^\s*lid\.+(0x)?([0-9A-Fa-f]+)/gim)];
    expect(found, stdout).not.toEqual([]);
    return found.map(([, hex, lid = '']) => Number.parseInt(lid, hex ? 16 : 10)).sort();
  };
  expect(all?.gave).toEqual(await peerLids('NR'));
  expect(one?.gave).toEqual(await peerLids('NR 3'));
  expect(wrong).toMatchObject({ code: 'USAGE' });
  expect(aborted).toMatchObject({ code: 'INTERRUPTED' });
});

it('madPing is answered by ibping -S, and by nobody without it', async () => {
  const { nobody, aborted } = await said(`
    said.nobody = await outcome(() => rdmatool.madPing('3', { count: 2, timeoutMs: 100, retries: 0 }));
    said.aborted = await outcome(() => rdmatool.madPing('3', { count: 1000, signal: abortedAfter(500) }));
  `);
  expect(nobody).toMatchObject({ code: 'TIMED_OUT', result: { sent: 2, received: 0 } });
  expect(aborted).toMatchObject({
    code: 'INTERRUPTED',
    result: { error: { code: 'INTERRUPTED' }, received: 0 },
  });
  // The simulator ends a server that is asked something that it has not registered: nobody asks meanwhile.
  const manager = fabric.lab.running.servers[1]?.pid ?? 0;
  const { stdout, stderr } = await fabric.shell(
    `kill -STOP ${manager}
     SIM_HOST=H2 SIM_SET_ISSM=1 timeout 30 ibping -S & server=$!
     for tenth in $(seq 50); do rdmatool mad ping 3 -c 1 --timeout 200 --retries 0 > /dev/null 2>&1 && break; done
     ${program(`said.pinged = await outcome(() => rdmatool.madPing('3', { count: 3 }));`)}
     kill $server; kill -CONT ${manager}`,
    'H1',
  );
  expect(foreign(stdout), stderr).toMatchObject({
    pinged: { gave: { error: null, sent: 3, received: 3 } },
  });
});

it('madSend carries what smpquery is told, and asks before it changes the fabric', async () => {
  const { asked, nobody, set, method, aborted } = await said(`
    said.asked = await outcome(() => rdmatool.madSend('NodeInfo', '3'));
    said.nobody = await outcome(() => rdmatool.madSend('NodeInfo', '99', { timeoutMs: 100, retries: 0 }));
    said.set = await outcome(() => rdmatool.madSend('PortInfo', '3', { method: 'Set' }));
    said.method = await outcome(() => rdmatool.madSend('NodeInfo', '3', { method: 'Nope' }));
    said.aborted = await outcome(() => rdmatool.madSend('NodeInfo', '3', { signal: AbortSignal.abort() }));
  `);
  const { stdout } = await fabric.shell('smpquery nodeinfo 3');
  const guid = /^PortGuid:\.+0x(.*)$/m.exec(stdout)?.[1]?.match(/.{4}/g)?.join(':');
  expect(guid).toBeDefined();
  expect(JSON.stringify(asked?.gave)).toContain(`"${guid}"`);
  expect(nobody).toMatchObject({ code: 'TIMED_OUT', result: { target: { lid: 99 } } });
  expect(set).toMatchObject({ code: 'USAGE', result: null });
  expect(method).toMatchObject({ code: 'USAGE', result: null });
  expect(aborted).toMatchObject({ code: 'INTERRUPTED' });
});
