import { expect, it } from 'vitest';
import { parse, said } from './cm/lab.ts';
import { Place } from './roce/tools.ts';

it('where there is only EFA, every step says that EFA has no connection manager', async () => {
  const place = new Place();
  const outcome = await place.rdmatool([
    ...[
      'lab',
      'run',
      'efa',
      '--',
      process.execPath,
      'bin/rdmatool.js',
      'cm',
      'resolve',
      '10.0.0.1',
      '--json',
    ],
  ]);
  place.remove();
  expect(outcome.status).toBe(69);
  expect(parse('cm-resolve', outcome.stdout).error).toMatchObject({ code: 'NO_DEVICE' });
  expect(said(outcome)).toContain('EFA has no RDMA connection manager');
});
