import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demand } from './minimal-root/execute.ts';
import { MinimalRoot, whyNoMinimalRoot } from './minimal-root/minimal-root.ts';

const reason = await whyNoMinimalRoot();
const note = reason === null ? '' : ` (skipped: ${reason})`;

// The tests build on one another.
describe.skipIf(reason !== null)(`the package on a Debian 12 that has only Node and npm${note}`, () => {
  let root: MinimalRoot;
  const folder = mkdtempSync(join(tmpdir(), 'rdmatool-package-'));

  beforeAll(async () => {
    root = await MinimalRoot.create();
    const packed = await demand('npm', ['pack', '--silent', '--pack-destination', folder]);
    root.carry(join(folder, packed.trim().split('\n').at(-1) ?? ''), 'opt');
  });
  afterAll(() => {
    root?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test('is installed without a compiler', async () => {
    const install = 'npm install --global --ignore-scripts /opt/rdmatool-*.tgz && ! command -v cc gcc clang';
    const { status, output } = await root.run('/', ['sh', '-c', install]);
    expect(status, output).toBe(0);
  });

  test.each([[true], [false]])('runs, root or not (%s), and says what is missing', async (asRoot) => {
    const rdmatool = (command: string) => root.run('/tmp', ['sh', '-c', command], { asRoot });
    expect(await rdmatool('rdmatool --version')).toMatchObject({
      status: 0,
      output: expect.stringMatching(/^rdmatool \d/),
    });
    expect(await rdmatool('rdmatool')).toMatchObject({ status: 0 });
    const list = await rdmatool('rdmatool list');
    expect(list.status, list.output).toBe(69);
    expect(list.output).toMatch(/^rdmatool: .*(libibverbs|no RDMA device).*\nnext: .+/m);
    const lab = await rdmatool('rdmatool lab run efa -- rdmatool list');
    expect(lab.status, lab.output).toBe(69);
    expect(lab.output).toMatch(/^next: apt.* install .*gcc/m);
    // What needs no library works all the same.
    const decoded = await rdmatool(
      'rdmatool decode mad 01 01 01 01 0000 0000 00000000 00000001 0011 0000 00000000 $(printf "%0464d" 0)',
    );
    expect(decoded.output).toContain('NodeInfo');
    expect((await rdmatool('rdmatool schema list')).status).toBe(0);
  });

  test('its manual pages are where man looks', async () => {
    const { status, output } = await root.run('/', ['ls', '/usr/local/share/man/man1/rdmatool.1']);
    expect(status, output).toBe(0);
  });

  test('the lab works as soon as the packages that it names are there', async () => {
    const install =
      'apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc libc6-dev ibverbs-providers';
    const { status, output } = await root.run('/', ['sh', '-c', install]);
    expect(status, output).toBe(0);
    const lab = await root.run('/tmp', ['rdmatool', 'lab', 'run', 'efa', '--', 'rdmatool', 'counters', '-v']);
    expect(lab.status, lab.output).toBe(0);
    expect(lab.output).toMatch(/^rdmap0s6\/1 +tx_bytes +0 /m);
  });

  test('is removed without a trace', async () => {
    const remove =
      'npm uninstall --global rdmatool && ! ls /usr/local/bin/rdmatool /usr/local/lib/node_modules/rdmatool 2>/dev/null';
    const { status, output } = await root.run('/', ['sh', '-c', remove]);
    expect(status, output).toBe(0);
  });
});
