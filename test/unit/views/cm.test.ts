import { expect, it } from 'vitest';
import { ibvSaPathRec } from '../../../src/abi/rdmacm.ts';
import { routeBlocks } from '../../../src/views/cm.ts';

it.each([
  ['Ethernet', false],
  ['InfiniBand', true],
  [null, true],
])('a path on %s shows LIDs: %s', (link_layer, shown) => {
  const paths = [ibvSaPathRec.toJson(ibvSaPathRec.decode(ibvSaPathRec.encode({ dlid: 258 })))];
  const text = JSON.stringify(routeBlocks({ sgid: '::', dgid: '::', pkey: '0xffff', link_layer, paths }));
  expect(text.includes('"dlid","258"')).toBe(shown);
  expect(text.includes('preference')).toBe(shown);
});
