/** `lab run efa --rdma-core PREFIX`: what is no rdma-core, and is said to be none. */
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { QueryDeviceResult } from '../../src/model/query-device.ts';
import { LIBRARIES } from './support/generation.ts';
import { product } from './support/json.ts';
import { testFolder } from './support/labs.ts';
import { rdmatool } from './support/rdmatool.ts';

const on = (prefix: string, ...command: readonly string[]) =>
  rdmatool(['lab', 'run', 'efa', '--rdma-core', prefix, '--', ...command]);

let folders = 0;

/** A prefix with these files. */
function prefix(files: { readonly [path: string]: string }, name = `prefix-${folders++}`): string {
  const root = join(testFolder(), name);
  mkdirSync(join(root, 'lib64'), { recursive: true });
  mkdirSync(join(root, 'lib'));
  for (const [path, content] of Object.entries(files)) writeFileSync(join(root, path), content);
  return root;
}

const LIBRARY = join(LIBRARIES, 'libibverbs.so.1');

describe('a prefix', () => {
  it.each([
    ['of no name', () => '', 'there is nothing in ""'],
    ['that is not there', () => '/nonexistent', 'there is nothing in "/nonexistent"'],
    ['that is a file', () => LIBRARY, 'there is nothing in'],
    ['without libibverbs', () => prefix({}), 'there is no libibverbs.so.1 below'],
    [
      'with a libibverbs that is none',
      () => prefix({ 'lib/libibverbs.so.1': 'junk' }),
      'is not for this machine',
    ],
    ['with a blank', () => prefix({}, 'with a blank'), 'neither a library path nor'],
    ['with a colon', () => prefix({}, 'with:colon'), 'neither a library path nor'],
  ])('%s: 2, and what a prefix is', async (_what, make, says) => {
    const { status, stderr } = await on(make(), 'true');
    expect(status).toBe(2);
    expect(stderr).toContain(says);
  });

  it('with a loader that does not run: 69', async () => {
    const root = prefix({
      'lib64/ld-linux-x86-64.so.2': '#!/bin/sh\n',
      'lib/ld-linux-aarch64.so.1': '#!/bin/sh\n',
    });
    copyFileSync(LIBRARY, join(root, 'lib/libibverbs.so.1'));
    const { status, stderr } = await on(root, 'true');
    expect(status).toBe(69);
    expect(stderr).toContain('does not run');
  });

  it('of an installation of its own: its library answers, also what a program starts', async () => {
    const root = prefix({});
    copyFileSync(LIBRARY, join(root, 'lib/libibverbs.so.1'));
    const { status, stdout } = await on(root, 'sh', '-c', 'rdmatool query-device --json');
    expect(status).toBe(0);
    const { libraries, devices } = product<QueryDeviceResult>(stdout);
    expect(libraries?.libibverbs?.path).toBe(join(root, 'lib/libibverbs.so.1'));
    expect(devices).toMatchObject([{ name: 'rdmap0s6', error: null }]);
  });

  it('may be reached by a link, and relative', async () => {
    const root = prefix({});
    copyFileSync(LIBRARY, join(root, 'lib/libibverbs.so.1'));
    symlinkSync(root, join(testFolder(), 'link'));
    const { status, stderr } = await on(join(testFolder(), 'link'), 'ibv_devices');
    expect(status).toBe(0);
    expect(stderr).toContain('under rdma-core');
  });

  it("has programs of its own, which go before the system's", async () => {
    const root = prefix({});
    copyFileSync(LIBRARY, join(root, 'lib/libibverbs.so.1'));
    mkdirSync(join(root, 'bin'));
    writeFileSync(join(root, 'bin/ibv_devices'), '#!/bin/sh\necho its own\n');
    chmodSync(join(root, 'bin/ibv_devices'), 0o755);
    expect((await on(root, 'ibv_devices')).stdout).toBe('its own\n');
    expect(await on(root, 'no-such-program')).toMatchObject({ status: 127 });
  });
});

it('another lab does not take it', async () => {
  const { status, stderr } = await rdmatool(['lab', 'run', 'ib', '--rdma-core', '/', '--', 'true']);
  expect(status).toBe(2);
  expect(stderr).toContain('lab run ib: --rdma-core is not for this lab');
});
