/** A fabric of a thousand nodes: the subnet manager gets done, and nodes say of themselves what smpquery says. */
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

/** The outputs of a command for each of the LIDs. */
async function each(lids: readonly number[], command: string): Promise<string[]> {
  const loop = `for lid in ${lids.join(' ')}; do ${command}; echo ---; done`;
  return (await fabric.shell(loop)).stdout.split('---\n').slice(0, -1);
}

test(`the fabric has ${NODES} nodes, each with a LID`, async () => {
  expect(fabric.lab.fabric.nodes.length).toBe(NODES);
  const { stdout } = await fabric.shell('ibnetdiscover');
  expect(stdout.match(/^(Switch|Ca)\b/gm)?.length).toBe(NODES);
  const last = await fabric.json(`mad get NodeInfo ${NODES}`);
  expect(last['error']).toBeNull();
});

/** So many processes one after another that a busy machine has time for. */
const AT_ONCE = 10;

test('the NodeInfo of every fifth node is that of smpquery', async () => {
  const lids = Array.from({ length: NODES / 5 }, (_, index) => index * 5 + 3);
  for (let from = 0; from < lids.length; from += AT_ONCE) {
    const some = lids.slice(from, from + AT_ONCE);
    const ours = await each(some, 'rdmatool mad get NodeInfo $lid --json');
    const theirs = await each(some, 'smpquery nodeinfo $lid');
    expect(ours.length).toBe(some.length);
    ours.forEach((text, index) => {
      expectSame((JSON.parse(text) as { fields: Fields }).fields, theirs[index] ?? '');
    });
  }
});

test('records of nodes all over the fabric are those of saquery', async () => {
  for (let lid = 7; lid <= NODES; lid += 101) {
    const [ours] = await each([lid], 'rdmatool mad table NodeRecord lid=$lid --json');
    const [theirs] = await each([lid], 'saquery NR $lid');
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
