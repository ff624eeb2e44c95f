/** A fabric of a thousand nodes: the subnet manager gets done, and every node says of itself what smpquery says. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectSame, expectSameNode, type Fields } from '../lab/mad/agreement.ts';
import { TestFabric } from '../lab/mad/fabric.ts';

/** 40 leafs of 24 hosts, and 20 spines. */
const SHAPE = 'fat-tree:40,20,24';
const NODES = 40 * 25 + 20;

let fabric: TestFabric;
beforeAll(async () => {
  fabric = await TestFabric.start({ fabric: SHAPE });
});
afterAll(() => fabric.stop());

/** The outputs of a command for each LID of a range. */
async function each(from: number, to: number, command: string): Promise<string[]> {
  const loop = `for lid in $(seq ${from} ${to}); do ${command}; echo ---; done`;
  return (await fabric.shell(loop)).stdout.split('---\n').slice(0, -1);
}

test(`the fabric has ${NODES} nodes, each with a LID`, async () => {
  expect(fabric.lab.fabric.nodes.length).toBe(NODES);
  const { stdout } = await fabric.shell('ibnetdiscover');
  expect(stdout.match(/^(Switch|Ca)\b/gm)?.length).toBe(NODES);
  const last = await fabric.json(`mad get NodeInfo ${NODES}`);
  expect(last['error']).toBeNull();
});

test('the NodeInfo of every node is that of smpquery', async () => {
  const STEP = 60;
  for (let from = 1; from <= NODES; from += STEP) {
    const to = Math.min(from + STEP - 1, NODES);
    const ours = await each(from, to, 'rdmatool mad get NodeInfo $lid --json');
    const theirs = await each(from, to, 'smpquery nodeinfo $lid');
    expect(ours.length).toBe(to - from + 1);
    ours.forEach((text, index) => {
      expectSame((JSON.parse(text) as { fields: Fields }).fields, theirs[index] ?? '');
    });
  }
});

test('records of nodes all over the fabric are those of saquery', async () => {
  for (let lid = 7; lid <= NODES; lid += 101) {
    const [ours] = await each(lid, lid, 'rdmatool mad table NodeRecord lid=$lid --json');
    const [theirs] = await each(lid, lid, 'saquery NR $lid');
    const [record] = (JSON.parse(ours ?? '') as { records: Fields[] }).records;
    expectSameNode(record ?? {}, theirs ?? '');
  }
});

test('ten thousand requests across it are all answered', async () => {
  const document = await fabric.json(
    `mad send PortCounters ${NODES} port_select=1 --class PERF -c 10000 --window 64`,
  );
  expect(document).toMatchObject({ error: null, sent: 10_000, received: 10_000 });
});
