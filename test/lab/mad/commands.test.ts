/** The mad commands on a simulated fabric: what they do when all is well, and when it is not. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tellSimulator } from '../../../src/lab/ib/fabric-servers.ts';
import type { DecodeResult } from '../../../src/model/decode.ts';
import type { MadSendResult } from '../../../src/model/mad.ts';
import { product, products } from '../support/json.ts';
import { TestFabric } from './fabric.ts';

const folder = mkdtempSync(join(tmpdir(), 'rdmatool-responder-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('on a healthy fabric', () => {
  let fabric: TestFabric;
  beforeAll(async () => {
    fabric = await TestFabric.start({ fabric: 'pair', partitions: ['storage=0x0123'] });
    const source = resolveHere('responder.c');
    execFileSync('cc', ['-w', '-o', join(folder, 'responder'), source, '-libumad'], { stdio: 'pipe' });
  });
  afterAll(() => fabric.stop());

  it('mad ping times the answers of a server, and names it', async () => {
    // The simulator ends a server that is asked something that it has not registered: nobody asks meanwhile.
    const manager = fabric.lab.running.servers[1]?.pid ?? 0;
    const { status, stdout, stderr } = await fabric.shell(
      `kill -STOP ${manager}; rm -f ready
       env -u SYSFS_PATH SIM_HOST=H1 SIM_SET_ISSM=1 ${folder}/responder > ready & server=$!
       for tenth in 1 2 3 4 5 6 7 8 9 10; do grep -q ready ready && break; sleep 0.1; done
       rdmatool mad ping 2 -c 5 --interval 1 --json; status=$?; kill $server; kill -CONT ${manager}; exit $status`,
      'H2',
    );
    expect(status, stderr).toBe(0);
    const result = product(stdout);
    expect(result).toMatchObject({
      error: null,
      server: 'responder.test',
      sent: 5,
      received: 5,
      target: { lid: 2 },
    });
    const { min_ms, median_ms, p99_ms, max_ms } = result['rtt'] as Record<string, number>;
    expect([min_ms, median_ms, p99_ms, max_ms]).toEqual(
      [min_ms, median_ms, p99_ms, max_ms].sort((a, b) => (a ?? 0) - (b ?? 0)),
    );
  });

  it('mad ping without a server ends with 75', async () => {
    const { status, stderr } = await fabric.shell(
      'rdmatool mad ping 2 -c 2 --timeout 50 --retries 0 --interval 1',
    );
    expect([status, stderr]).toEqual([75, expect.stringContaining('ibping -S')]);
  });

  it.each(['--transport libibumad', '--header old'])(
    'mad send --header-field: the simulator goes by the LID, gives back the id, and carries nothing else: %s',
    async (options) => {
      const send = (field: string) =>
        fabric.json(
          `mad send NodeInfo 1 --class SUBN_LID_ROUTED ${options} --timeout 100 --retries 0 --header-field ${field}`,
        );
      expect(await send('id=5')).toMatchObject({ error: null, received: 1, header: { id: 5 } });
      expect(await send('sl=3')).toMatchObject({ error: null, received: 1, header: { sl: 0 } });
      // Nobody has that LID.
      expect(await send('lid=99')).toMatchObject({ error: { code: 'TIMED_OUT' }, received: 0 });
    },
  );

  it('mad send answers with fields, header, bytes and times', async () => {
    const one = await fabric.json('mad send NodeInfo 0,1');
    expect(one).toMatchObject({
      error: null,
      sent: 1,
      received: 1,
      reply: { attribute: 'NodeInfo', undecoded: null },
    });
    const many = await fabric.json('mad send PortCounters 2 port_select=1 --class PERF -c 500 --window 16');
    expect(many).toMatchObject({ error: null, sent: 500, received: 500 });
    const hex = String((one['reply'] as Record<string, unknown>)['hex']);
    const { stdout } = await fabric.shell(`rdmatool decode mad --json ${hex}`);
    const fields = product<DecodeResult>(stdout).parts.flatMap((part) => part.fields);
    const values = new Map(fields.map(({ name, value }) => [name, value]));
    for (const [name, value] of Object.entries((one['reply'] as { records: object[] }).records[0] ?? {}))
      expect(values.get(name)).toEqual(value);
  });

  it('mad send gives raw data and numbers as they are', async () => {
    const raw = `0001ffff${'00'.repeat(10)}`;
    const document = await fabric.json(`mad send 0x12 2 --class 0x04 --data ${raw} --tid 0x1234 --mod 0`);
    expect(document).toMatchObject({ error: null, reply: { attribute: 'PortCounters' } });
    const reply = document['reply'] as { mad: { tid: string } };
    expect(reply.mad.tid.slice(-4)).toBe('1234');
  });

  it('a key opens records that are kept from others', async () => {
    const closed = await fabric.json('mad table P_KeyTableRecord lid=2');
    expect(closed['error']).toMatchObject({
      code: 'MAD_STATUS',
      hint: expect.stringContaining('--key-file'),
    });
    const { stdout } = await fabric.shell(
      'RDMATOOL_MAD_KEY=0x1 rdmatool mad table P_KeyTableRecord lid=2 --json',
    );
    const [record] = product<{ records: { p_keys: string[] }[] }>(stdout).records;
    expect(record?.p_keys.slice(0, 2)).toEqual(['0xffff', '0x8123']);
  });

  it('a table that the simulator cuts says so', async () => {
    const document = await fabric.json('mad table NodeRecord');
    expect((document['records'] as unknown[]).length).toBe(1);
    expect(document['records_held']).toBeNull();
    const { stdout } = await fabric.shell('rdmatool mad table NodeRecord');
    expect(stdout).toContain('there may be more records');
  });

  it.each([
    ['mad send PortInfo 1 --method Set', 2, '--write'],
    ['mad send 0x11 1 --class 0x32', 2, '--oui'],
    ['mad send NodeInfo 0,1 --class PERF', 2, 'there is no attribute NodeInfo'],
    ['mad send PortCounters 0,1 --class PERF', 2, 'directed path'],
    ['mad send PortCounters 1 --class PERF --data abc', 2, 'hexadecimal'],
    [`mad send PortCounters 1 --class PERF --data ${'00'.repeat(193)}`, 2, '193 bytes'],
    ['mad send NodeInfo 1 --class NOSUCH', 2, 'there is no class'],
    ['mad get NodeInfo nowhere', 2, 'no target'],
    ['mad get NodeInfo 1 --port-num 1', 2, 'no --port-num'],
    ['mad get PortCounters 1', 2, '--all-ports'],
    ['mad get NodeInfo -d mlx5_9', 69, 'mlx5_9'],
    ['mad get NodeInfo -d ibsim0 -i 2', 1, 'no port 2'],
    ['mad get NodeInfo 0,5 --timeout 20 --retries 1', 75, '2 attempts of 20 ms'],
    ['mad get PortInfo 0,1 --port-num 77', 1, 'INVALID_ATTRIB_VALUE'],
    ['mad get NodeInfo fe80::1234', 1, 'SA_NO_RECORDS'],
    ['mad get NodeInfo 49152', 2, '0xbfff'],
    ['mad get NodeInfo 65535', 2, '0xbfff'],
    ['mad get NodeInfo 0,1,255', 2, 'no port of a switch'],
    ['mad get VLArbitrationTable 1 --block 65535', 1, 'INVALID_ATTRIB_VALUE'],
    ['mad get NodeInfo 1 --timeout 99999999999', 2, 'from 1 to'],
    ['mad get NodeInfo 1 --watch 99999999999', 2, 'from 1 to'],
    ['mad get NodeInfo 1 --key-file /dev/zero', 2, 'more than 4096 bytes'],
    ['mad send PortCounters 1 --class PERF --data-file /dev/zero', 2, 'cannot be read: more than'],
    ['mad send PortCounters 1 --class PERF --window 0', 2, 'above 0 and up to 65535'],
    ['mad send PortCounters 1 --class PERF --count 0', 2, 'above 0'],
  ])('%s ends with %i and says %s', async (command, status, message) => {
    const outcome = await fabric.shell(`rdmatool ${command}`);
    expect([outcome.status, outcome.stderr]).toEqual([status, expect.stringContaining(message)]);
    expect(outcome.stderr).not.toContain('mthca0');
    const { stdout } = await fabric.shell(`rdmatool ${command} --json`);
    expect(product(stdout)).toMatchObject({
      error: { message: expect.any(String), hint: expect.any(String) },
    });
  });

  it('--watch goes on until it is interrupted, an object a line', async () => {
    const { status, stdout } = await fabric.shell(
      'timeout --preserve-status -s INT 2.5 rdmatool mad get PortInfo --watch 1 --json',
    );
    expect(status).toBe(130);
    const lines = products<{ time: string; error: unknown }>(stdout);
    expect(lines.length).toBeGreaterThan(1);
    for (const { time, error } of lines) expect([Date.parse(time) > 0, error]).toEqual([true, null]);
  });

  it.each([
    [3, 3],
    [3, 8],
    [70, 64],
    [300, 300],
  ])('mad send --count %i --window %i sends as many', async (count, window) => {
    const result = await fabric.json(`mad send NodeInfo 0,1 --count ${count} --window ${window}`);
    expect(result).toMatchObject({ error: null, sent: count, received: count });
  });

  it('mad send that is interrupted shows what has come by then', async () => {
    const { status, stdout, stderr } = await fabric.shell(
      'timeout --preserve-status -s INT 2.5 rdmatool mad send NodeInfo 0,1 --count 1000000000 --json',
    );
    expect(status, stderr).toBe(130);
    const { error, received, sent, reply, rtt } = product<MadSendResult>(stdout);
    expect(error).toMatchObject({
      code: 'INTERRUPTED',
      message: `interrupted: ${received} of 1000000000 were answered`,
    });
    expect([received > 100, sent >= received]).toEqual([true, true]);
    expect([reply?.attribute, rtt === null]).toEqual(['NodeInfo', false]);
  });

  it('a window that would make the simulator stand still is narrowed', async () => {
    const { status, stdout, stderr } = await fabric.shell(
      'timeout -s KILL 40 rdmatool mad send NodeInfo 0,1 --count 20000 --window 4096 --json',
    );
    expect(status, stderr).toBe(0);
    expect(product(stdout)).toMatchObject({ error: null, sent: 20_000, received: 20_000 });
  });

  it('mad get --json without an answer says whom it asked for what', async () => {
    const { status, stdout } = await fabric.shell(
      'rdmatool mad get NodeInfo 0,5 --timeout 20 --retries 0 --json',
    );
    expect(status).toBe(75);
    expect(product(stdout)).toMatchObject({
      error: { code: 'TIMED_OUT' },
      device: 'ibsim0',
      port: 1,
      attribute: 'NodeInfo',
      target: { path: [0, 5] },
      fields: null,
    });
  });

  it('an attribute that this port does not answer is no matter of cables', async () => {
    const { status, stderr } = await fabric.shell('rdmatool mad get Notice 0 --timeout 20 --retries 0');
    expect(status).toBe(75);
    expect(stderr).toMatch(/no answer from the port of this host to Get Notice/);
    expect(stderr).not.toContain('cable');
  });

  it('--watch goes on when nobody answers, and ends after --count', async () => {
    const ask = (path: string) =>
      fabric.shell(`rdmatool mad get NodeInfo ${path} --watch 1 -c 2 --timeout 20 --retries 0 --json`);
    const codes = (stdout: string) =>
      products<{ error: { code: string } | null }>(stdout).map(({ error }) => error?.code ?? null);
    const silent = await ask('0,5');
    expect([silent.status, codes(silent.stdout)]).toEqual([75, ['TIMED_OUT', 'TIMED_OUT']]);
    const well = await ask('0,1');
    expect([well.status, codes(well.stdout)]).toEqual([0, [null, null]]);
  });

  it('many clients one after another find the fabric: none keeps its place', async () => {
    const { stdout } = await fabric.shell(
      'for i in $(seq 25); do rdmatool mad get NodeInfo 0,1 > /dev/null && echo ok; done',
    );
    expect(stdout.match(/ok/g)?.length).toBe(25);
  });
});

describe('on a fabric with faults', () => {
  it('lost datagrams are sent again; a pulled cable is a path without an answer', async () => {
    const fabric = await TestFabric.start({ fabric: 'pair', faults: ['S1:0:drop=60,17'] });
    try {
      const outcome = await fabric.json('mad send NodeInfo 0,1 -c 40 --retries 30 --timeout 50');
      expect(outcome).toMatchObject({ error: null, received: 40 });
      fabric.lab.fault('S1:1:unlink');
      await expect
        .poll(
          async () =>
            (await fabric.shell('rdmatool mad get NodeInfo 0,1,1 --timeout 30 --retries 60')).status,
          {
            timeout: 20_000,
          },
        )
        .toBe(75);
    } finally {
      await fabric.stop();
    }
  });

  it('a port whose own cable is pulled is told, as text and as JSON', async () => {
    const fabric = await TestFabric.start({ fabric: 'pair' });
    try {
      fabric.lab.fault('H2:1:unlink');
      await expect
        .poll(async () => (await fabric.shell('rdmatool mad table NodeRecord --timeout 50')).status)
        .toBe(1);
      const { stderr } = await fabric.shell('rdmatool mad table NodeRecord');
      expect(stderr).toContain('the port is DOWN');
      expect((await fabric.json('mad table NodeRecord'))['error']).toMatchObject({ code: 'PORT_DOWN' });
    } finally {
      await fabric.stop();
    }
  });

  it('a fabric that ends in the middle is told, in time', async () => {
    const fabric = await TestFabric.start({ fabric: 'pair' });
    try {
      const watching = fabric.shell(
        'timeout 20 rdmatool mad send NodeInfo 0,1 -c 2000000 --timeout 100 --retries 0',
      );
      await new Promise((resolve) => setTimeout(resolve, 1500));
      tellSimulator(fabric.lab.running, 'Quit');
      const { status, stderr } = await watching;
      expect([1, 75]).toContain(status);
      expect(stderr).toMatch(/went away|not answered|no answer|did not open/);
    } finally {
      await fabric.stop();
    }
  });
});

const resolveHere = (name: string): string => join(import.meta.dirname, name);

describe('the lab', () => {
  const run = (command: string): { status: number; text: string } => {
    try {
      return {
        status: 0,
        text: execFileSync('sh', ['-c', command], {
          encoding: 'utf8',
          cwd: folder,
          stdio: 'pipe',
          timeout: 50_000,
        }),
      };
    } catch (error) {
      const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
      return { status, text: stdout + stderr };
    }
  };
  const RDMATOOL = `${process.execPath} ${join(import.meta.dirname, '../../../bin/rdmatool.js')}`;
  const servers = (): string[] =>
    run(
      "grep -sl rdmatool- /proc/[0-9]*/environ | while read f; do tr '\\0' ' ' < $(dirname $f)/cmdline; echo; done",
    )
      .text.split('\n')
      .filter((line) => /^(\S*\/)?(ibsim|opensm) /.test(line));
  const traces = (): string[] =>
    ['/dev/shm', tmpdir()].flatMap((path) => readdirSync(path).filter((name) => /^rdmatool-ib-/.test(name)));

  it.each([
    ['ends with the command', `${RDMATOOL} lab run ib -- true`, 0],
    ["ends with the command's status", `${RDMATOOL} lab run ib -- sh -c 'exit 3'`, 3],
    ['ends on Ctrl-C', `timeout --preserve-status -s INT 2 ${RDMATOOL} lab run ib -- sleep 20`, 130],
    [
      'ends when it is terminated',
      `timeout --preserve-status -s TERM 2 ${RDMATOOL} lab run ib -- sleep 20`,
      143,
    ],
    [
      'ends before it began',
      `timeout --preserve-status -s TERM 0.3 ${RDMATOOL} lab run ib --fabric fat-tree:20,10,20 -- sleep 20`,
      143,
    ],
    ['has no such host', `${RDMATOOL} lab run ib --host H9 -- true`, 2],
    ['has no such fabric', `${RDMATOOL} lab run ib --fabric ring -- true`, 2],
    ['has no such topology file', `${RDMATOOL} lab run ib --net nowhere.net -- true`, 2],
    ['has no such command', `${RDMATOOL} lab run ib -- no-such-command`, 127],
  ])('%s, and leaves nothing behind', (_name, command, status) => {
    const before = traces();
    const others = servers();
    expect(run(command).status).toBe(status);
    expect(traces()).toEqual(before);
    expect(readdirSync(folder).filter((name) => /^sys-/.test(name))).toEqual([]);
    expect(servers()).toEqual(others);
  });

  it('stays up until it is taken down', () => {
    const runtime = `XDG_RUNTIME_DIR=${folder}`;
    const others = servers();
    const up = run(`${runtime} ${RDMATOOL} lab up ib --fabric fat-tree:2,1,2`);
    expect(up.status, up.text).toBe(0);
    try {
      expect(run(`${runtime} ${RDMATOOL} lab up ib`).status).toBe(1);
      expect(
        run(`${runtime} ${RDMATOOL} lab run ib --host H1_0 -- rdmatool mad get NodeDescription`).text,
      ).toContain('H1_0');
    } finally {
      expect(run(`${runtime} ${RDMATOOL} lab down ib`).status).toBe(0);
    }
    expect(servers()).toEqual(others);
    expect(readdirSync(join(folder, 'rdmatool'))).toEqual([]);
    expect(run(`${runtime} ${RDMATOOL} lab down ib`).status).toBe(0);
  });
});
