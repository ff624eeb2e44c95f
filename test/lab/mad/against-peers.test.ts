/** What rdmatool says of a fabric and what infiniband-diags says of it, value by value. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { product } from '../support/json.ts';
import {
  expectSame,
  expectSameNode,
  expectSamePath,
  expectSameStill,
  expectValid,
  type Fields,
} from './agreement.ts';
import { TestFabric } from './fabric.ts';
import { asPeer, numeric } from './peers.ts';

/** A switch of mixed speeds, and a host with two ports. */
const MIXED = `Switch	8 "S-b8cef60300aaaa00"		# "leaf 1" enhanced port 0 lid 5 lmc 0
[1]	"H-b8cef60300bbbb00"[1](b8cef60300bbbb00) 		# "node01 mlx5_0" lid 1 4xHDR
[2]	"H-b8cef60300cccc00"[1](b8cef60300cccc00) 		# "node02 mlx5_0" lid 2 4xEDR
[3]	"H-b8cef60300dddd00"[1](b8cef60300dddd01) 		# "node03 mlx4_0" lid 3 4xFDR
[4]	"H-b8cef60300dddd00"[2](b8cef60300dddd02) 		# "node03 mlx4_0" lid 4 4xQDR

Ca	1 "H-b8cef60300bbbb00"		# "node01 mlx5_0"
[1](b8cef60300bbbb00) 	"S-b8cef60300aaaa00"[1]		# lid 1 lmc 0 "leaf 1" lid 5 4xHDR

Ca	1 "H-b8cef60300cccc00"		# "node02 mlx5_0"
[1](b8cef60300cccc00) 	"S-b8cef60300aaaa00"[2]		# lid 2 lmc 0 "leaf 1" lid 5 4xEDR

Ca	2 "H-b8cef60300dddd00"		# "node03 mlx4_0"
[1](b8cef60300dddd01) 	"S-b8cef60300aaaa00"[3]		# lid 3 lmc 0 "leaf 1" lid 5 4xFDR
[2](b8cef60300dddd02) 	"S-b8cef60300aaaa00"[4]		# lid 4 lmc 0 "leaf 1" lid 5 4xQDR
`;
const folder = mkdtempSync(join(tmpdir(), 'rdmatool-net-'));
writeFileSync(join(folder, 'mixed.net'), MIXED);
afterAll(() => rmSync(folder, { recursive: true }));

describe.each([
  ['a pair', { fabric: 'pair' }],
  ['mixed speeds and a two-port host', { topology: join(folder, 'mixed.net') }],
])('%s', (_name, options) => {
  let fabric: TestFabric;
  const lids: number[] = [];
  const switches: number[] = [];
  beforeAll(async () => {
    fabric = await TestFabric.start(options);
    for (let lid = 1; lid <= 5; lid++) {
      const { stdout } = await fabric.shell(`smpquery -t 100 nodeinfo ${lid}`);
      if (!stdout.includes('NodeType')) continue;
      (stdout.includes('Switch') ? switches : lids).push(lid);
    }
  });
  afterAll(() => fabric.stop());

  const get = async (args: string): Promise<Fields> => {
    const document = await fabric.json(`mad get ${args}`);
    expectValid(document);
    expect(document['error']).toBeNull();
    return document['fields'] as Fields;
  };

  it('NodeInfo, NodeDescription, PortInfo and SwitchInfo are those of smpquery', async () => {
    expect(lids.length).toBeGreaterThan(1);
    for (const lid of [...lids, ...switches]) {
      expectSame(await get(`NodeInfo ${lid}`), (await fabric.shell(`smpquery nodeinfo ${lid}`)).stdout);
      const description = (await fabric.shell(`smpquery nodedesc ${lid}`)).stdout;
      expect((await get(`NodeDescription ${lid}`))['node_description']).toBe(
        /\.{3,}(.*)/.exec(description)?.[1],
      );
    }
    for (const [lid, port] of [
      ...lids.map((lid) => [lid, 1]),
      ...switches.flatMap((lid) => [
        [lid, 0],
        [lid, 2],
        [lid, 8],
      ]),
    ]) {
      const peer = await fabric.shell(`smpquery portinfo ${lid} ${port}`);
      expectSame(await get(`PortInfo ${lid} --port-num ${port}`), peer.stdout);
    }
    for (const lid of switches) {
      expectSame(await get(`SwitchInfo ${lid}`), (await fabric.shell(`smpquery switchinfo ${lid}`)).stdout);
    }
  });

  it('a directed path leads where it leads smpquery', async () => {
    for (const path of ['0', '0,1', '0,1,1', '0,1,2']) {
      const peer = await fabric.shell(`smpquery -D nodeinfo ${path}`);
      expectSame(await get(`NodeInfo ${path}`), peer.stdout);
    }
  });

  it('tables are those of smpquery', async () => {
    const lid = lids[0] ?? 0;
    const words = (text: string): string[] => text.match(/0x[0-9a-f]{4}\b/g) ?? [];
    const pkeys = (await fabric.shell(`smpquery pkeys ${lid}`)).stdout;
    expect((await get(`P_KeyTable ${lid}`))['p_keys']).toEqual(words(pkeys).slice(0, 32));
    const vls = (await fabric.shell(`smpquery sl2vl ${lid}`)).stdout;
    const row = /out +\d+: \|(.*)\|/.exec(vls)?.[1]?.split('|').map(Number);
    expect((await get(`SLtoVLMappingTable ${lid}`))['vls']).toEqual(row);
  });

  it('PortCounters are those of perfquery, with what a fault has set', async () => {
    const node = fabric.lab.fabric.nodes.find(({ isSwitch }) => !isSwitch);
    const lid = lids[0] ?? 0;
    fabric.lab.fault(`${node?.id}:1:SymbolErrorCounter=17`);
    fabric.lab.fault(`${node?.id}:1:PortXmitDiscards=3`);
    await expect.poll(async () => (await get(`PortCounters ${lid}`))['symbol_error_counter']).toBe(17);
    const ours = await get(`PortCounters ${lid} --port-num 1`);
    expectSameStill(ours, (await fabric.shell(`perfquery ${lid} 1`)).stdout);
    expect(ours).toMatchObject({ symbol_error_counter: 17, port_xmit_discards: 3 });
  });

  it('reset-counters needs --write, and sets them to zero', async () => {
    const lid = lids[0] ?? 0;
    const refused = await fabric.shell(`rdmatool mad reset-counters ${lid}`);
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('--write')]);
    const document = await fabric.json(`mad reset-counters ${lid} --write`);
    expectValid(document);
    expect(document['error']).toBeNull();
    expect((await get(`PortCounters ${lid}`))['symbol_error_counter']).toBe(0);
  });

  it('SMInfo is that of sminfo, an address that of ibaddr', async () => {
    const info = await get('SMInfo');
    const { stdout } = await fabric.shell('sminfo');
    const [, guid, priority, state] = /guid (0x\w+),.*priority (\d+) state (\d+)/.exec(stdout) ?? [];
    expect(asPeer('guid', info['guid'] ?? null)).toBe(numeric(guid ?? ''));
    expect(String(info['priority'])).toBe(priority);
    expect((info['sm_state'] as { value: number }).value).toBe(Number(state));
    for (const lid of lids) {
      const gid = /GID (\S+)/.exec((await fabric.shell(`ibaddr ${lid}`)).stdout)?.[1] ?? '';
      const document = await fabric.json(`mad get NodeInfo ${gid}`);
      expect(document['target']).toMatchObject({ lid });
      const portGuid = String((document['fields'] as Fields)['port_guid']);
      const byGuid = await fabric.json(`mad get NodeInfo ${portGuid}`);
      expect(byGuid['fields']).toEqual(document['fields']);
    }
  });

  it('single records of the subnet administration are those of saquery', async () => {
    const lid = lids[0] ?? 0;
    const node = await fabric.json(`mad table NodeRecord lid=${lid}`);
    expectValid(node);
    expectSameNode((node['records'] as Fields[])[0] ?? {}, (await fabric.shell(`saquery NR ${lid}`)).stdout);

    const [from, to] = [lids[0], lids[1]];
    const path = await fabric.json(`mad table PathRecord slid=${from} dlid=${to} num_path=1 --single`);
    expectValid(path);
    const ours = (path['records'] as Fields[])[0] ?? {};
    expectSamePath(ours, (await fabric.shell(`saquery PR --slid ${from} --dlid ${to}`)).stdout);
    const nobody = await fabric.json('mad table NodeRecord lid=999');
    expect([nobody['error'], nobody['records']]).toEqual([null, []]);
  });
});

describe('a tree of 60 nodes', () => {
  let fabric: TestFabric;
  beforeAll(async () => {
    fabric = await TestFabric.start({ fabric: 'fat-tree:4,4,13' });
  });
  afterAll(() => fabric.stop());

  it('the NodeInfo of every third node is that of smpquery', async () => {
    const loop = (command: string): string => `for lid in $(seq 1 3 60); do ${command}; done`;
    const ours = await fabric.shell(loop('rdmatool mad get NodeInfo $lid --json; echo ---'));
    const theirs = await fabric.shell(loop('smpquery nodeinfo $lid; echo ---'));
    const documents = ours.stdout.split('---\n').filter((text) => text.trim() !== '');
    const outputs = theirs.stdout.split('---\n').filter((text) => text.trim() !== '');
    expect(documents.length).toBe(20);
    documents.forEach((text, index) => {
      const { fields } = product<{ fields: Fields }>(text);
      expectSame(fields, outputs[index] ?? '');
    });
  });

  /** The outputs of a command for each LID, ended by a line of dashes. */
  const each = async (lids: string, command: string): Promise<string[]> => {
    const { stdout } = await fabric.shell(`for lid in ${lids}; do ${command}; echo ---; done`);
    return stdout.split('---\n').slice(0, -1);
  };

  it('the counters of hosts all over the tree are those of perfquery', async () => {
    const hosts = (await fabric.shell('ibhosts')).stdout.match(/lid \d+/g) ?? [];
    const lids = hosts.map((text) => text.slice(4)).filter((_lid, index) => index % 6 === 0);
    // ibhosts of old prints no LIDs.
    const some = lids.length > 0 ? lids : ['20', '30', '40', '50', '60'];
    const ours = await each(some.join(' '), 'rdmatool mad get PortCounters $lid --port-num 1 --json');
    const theirs = await each(some.join(' '), 'perfquery $lid 1');
    expect(ours.length).toBe(some.length);
    ours.forEach((text, index) => {
      const { fields } = product<{ fields: Fields }>(text);
      expectSameStill(fields, theirs[index] ?? '');
    });
  });

  it('the subnet manager is that of sminfo, and addresses are those of ibaddr', async () => {
    const info = (await fabric.json('mad get SMInfo'))['fields'] as Fields;
    const { stdout } = await fabric.shell('sminfo');
    const [, guid, priority, state] = /guid (0x\w+),.*priority (\d+) state (\d+)/.exec(stdout) ?? [];
    expect(asPeer('guid', info['guid'] ?? null)).toBe(numeric(guid ?? ''));
    expect([String(info['priority']), (info['sm_state'] as { value: number }).value]).toEqual([
      priority,
      Number(state),
    ]);
    const lids = '$(seq 1 6 60)';
    const gids = (await each(lids, 'ibaddr $lid')).map((text) => /GID (\S+)/.exec(text)?.[1] ?? '');
    expect(gids.length).toBe(10);
    for (const [index, gid] of gids.entries()) {
      expect((await fabric.json(`mad get NodeInfo ${gid}`))['target']).toMatchObject({ lid: 1 + 6 * index });
    }
  });

  it('single records of nodes and paths are those of saquery', async () => {
    const lids = '$(seq 2 9 60)';
    const ours = await each(lids, 'rdmatool mad table NodeRecord lid=$lid --json');
    const theirs = await each(lids, 'saquery NR $lid');
    expect(ours.length).toBe(7);
    ours.forEach((text, index) => {
      const [record] = product<{ records: Fields[] }>(text).records;
      expectSameNode(record ?? {}, theirs[index] ?? '');
    });
    const paths = await each(
      lids,
      'rdmatool mad table PathRecord slid=2 dlid=$lid num_path=1 --single --json',
    );
    const peers = await each(lids, 'saquery PR --slid 2 --dlid $lid');
    paths.forEach((text, index) => {
      const [record] = product<{ records: Fields[] }>(text).records;
      expectSamePath(record ?? {}, peers[index] ?? '');
    });
  });

  it('all ports of a switch are those of smpquery', async () => {
    const path = '0,1';
    const document = await fabric.json(`mad get PortInfo ${path} --all-ports`);
    expectValid(document);
    const ports = document['ports'] as { port_num: number; fields: Fields }[];
    expect(ports.length).toBe(18);
    for (const { port_num, fields } of ports.slice(0, 4)) {
      expectSame(fields, (await fabric.shell(`smpquery -D portinfo ${path} ${port_num}`)).stdout);
    }
  });
});
