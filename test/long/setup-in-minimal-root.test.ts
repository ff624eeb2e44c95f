import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MinimalRoot, whyNoMinimalRoot } from './minimal-root/minimal-root.ts';

const reason = await whyNoMinimalRoot();
const note = reason === null ? '' : ` (skipped: ${reason})`;

// The tests build on one another: each finds what those before it have installed.
describe.skipIf(reason !== null)(`set-up on a Debian 12 that has only Node and npm${note}`, () => {
  let root: MinimalRoot;

  beforeAll(async () => {
    root = await MinimalRoot.create();
    await root.clone('/opt/first');
    await root.clone('/opt/second');
  });
  afterAll(() => root?.remove());

  test('a user without rights is given the one command to run', async () => {
    const { status, output } = await root.run('/opt/first', ['npm', 'run', 'demo'], { asRoot: false });
    expect(status, output).toBe(69);
    const commands = output.split('\n').filter((line) => line.includes('apt-get install'));
    expect(commands, output).toHaveLength(1);
    expect(commands[0]).toMatch(/^ {2}su - -c 'apt-get update && apt-get install .*\bgcc\b.*'$/);
  });

  test('the unit tests need nothing but npm', async () => {
    const { status, output } = await root.run('/opt/first', ['npm', 'run', 'test:unit']);
    expect(status, output).toBe(0);
    expect(output).not.toContain('Debian packages');
  });

  test('the demo runs on a fresh clone, and says first what it installs and why', async () => {
    const { status, output } = await root.run('/opt/second', ['npm', 'run', 'demo']);
    expect(status, output).toBe(0);
    expect(output).toMatch(/installing Debian packages:\n(?: {2}\S+ +\S.*\n)* {2}gcc +\S/);
  });

  test('set-up with nothing left to do is silent', async () => {
    const { status, output } = await root.run('/opt/second', ['node', 'scripts/setup.mjs', 'labs']);
    expect(status, output).toBe(0);
    expect(output).toBe('');
  });
});
