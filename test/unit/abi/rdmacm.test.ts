import { expect, it } from 'vitest';
import { ibvSaPathRec, readPath } from '../../../src/abi/rdmacm.ts';

it('a flow label has 20 bits, whatever librdmacm leaves above them', () => {
  const bytes = ibvSaPathRec.encode({ flow_label: 0x8089da, hop_limit: 64 });
  expect(readPath(bytes)).toMatchObject({ flow_label: 0x089da, hop_limit: 64 });
});
