/** What a terminal is shown: colour, width, and nothing that it would obey. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { EfaLab } from '../../../src/lab/efa/lab.ts';
import { fullProfile } from '../support/full-profile.ts';
import { deviceOf, lab, ownLab, withFaults } from '../support/labs.ts';
import { queryDevice, RDMATOOL, rdmatool, run } from '../support/rdmatool.ts';

const ESCAPE = /\u001b\[/;
const withoutColour = (text: string): string => text.replace(/\u001b\[\d+m/g, '');

/** What rdmatool prints on a terminal of so many columns. */
async function onTerminal(
  args: readonly string[],
  columns: number,
  place: EfaLab,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const words = [process.execPath, RDMATOOL, ...args].map((word) => `'${word}'`).join(' ');
  const { stdout } = await run(['script', '-qec', `stty cols ${columns}; ${words}`, '/dev/null'], {
    lab: place,
    env,
  });
  return stdout.replaceAll('\r\n', '\n');
}

describe.concurrent('colour', () => {
  it('on a terminal, and not in a pipe', async () => {
    const place = await lab();
    expect(await onTerminal(['query-device'], 100, place)).toMatch(ESCAPE);
    for (const args of [['query-device'], ['query-device', '-v'], ['list'], ['query-device', '--json']]) {
      expect((await rdmatool(args, { lab: place })).stdout).not.toMatch(ESCAPE);
    }
  });

  it.each([
    ['NO_COLOR', ['query-device'], { NO_COLOR: '1' }],
    ['TERM=dumb', ['list'], { TERM: 'dumb' }],
    ['--color never', ['query-device', '--color', 'never'], {}],
  ])('not with %s', async (_what, args, env) => {
    expect(await onTerminal(args, 100, await lab(), env)).not.toMatch(ESCAPE);
  });

  it.each([
    ['--color always', {}],
    ['--color always, whatever NO_COLOR says', { NO_COLOR: '1' }],
    ['--color=always', {}],
  ])('in a pipe with %s', async (_what, env) => {
    const { stdout } = await rdmatool(['query-device', '--color', 'always'], { lab: await lab(), env });
    expect(stdout).toMatch(ESCAPE);
    const plain = await rdmatool(['query-device'], { lab: await lab() });
    expect(withoutColour(stdout)).toBe(plain.stdout);
  });

  it('an empty NO_COLOR says nothing', async () => {
    expect(await onTerminal(['list'], 100, await lab(), { NO_COLOR: '' })).toMatch(ESCAPE);
  });

  it('never in JSON', async () => {
    const { stdout } = await rdmatool(['query-device', '--json', '--color', 'always'], { lab: await lab() });
    expect(stdout).not.toMatch(ESCAPE);
  });
});

/** Words of a text in order, whatever breaks its lines. */
const words = (text: string): string[] =>
  withoutColour(text)
    .split(/\s+/)
    .filter((word) => word !== '');

describe.concurrent('width', () => {
  it.each([60, 80, 100])('at %i columns everything fits, and nothing is lost', async (columns) => {
    const place = await withFaults('hide-library=libefa.so.1');
    const { stdout: piped } = await rdmatool(['query-device'], { lab: place });
    const shown = await onTerminal(['query-device'], columns, place);
    expect(words(shown)).toEqual(words(piped));
    for (const line of withoutColour(shown).split('\n')) {
      // A path is longer than some terminals are wide, and stays whole.
      if (!/\/usr\//.test(line)) expect(line.length, line).toBeLessThanOrEqual(columns);
    }
  });

  it.each([40, 24, 10])('at %i columns nothing is lost', async (columns) => {
    const place = await lab({ devices: [deviceOf('rxe0', fullProfile('rxe'))] });
    const { stdout: piped } = await rdmatool(['query-device', '-v'], { lab: place });
    const shown = await onTerminal(['query-device', '-v'], columns, place);
    expect(words(shown)).toEqual(words(piped));
    expect(shown).not.toContain('…');
  });

  it('the essentials of an EFA card fit 80 columns, a line each', async () => {
    const shown = withoutColour(await onTerminal(['query-device'], 80, await lab()));
    expect(shown).toMatch(/^rdmap0s6 {2}driver efa, 0000:00:06\.0, NUMA node 0, uverbs0$/m);
    expect(shown).toMatch(/^ {2}Card .*firmware 0\.0\.0\.0$/m);
    expect(shown).toMatch(/^ {2}Port 1 .*ACTIVE.*link layer UNSPECIFIED$/m);
  });

  it('list is never torn: it leaves out columns, says which, and shows all of them in a pipe', async () => {
    const place = await lab({ instance: 'p5.48xlarge', faults: ['rdmap115s0:open=EACCES'] });
    for (const columns of [120, 80, 60]) {
      const shown = withoutColour(await onTerminal(['list'], columns, place));
      const table = shown.split('\n').filter((line) => /^(DEVICE|rdmap)/.test(line));
      expect(table.length).toBe(33);
      for (const line of table) expect(line.length, line).toBeLessThanOrEqual(columns);
      expect(table[0]).toMatch(/^DEVICE .*STATE .*RATE .*ERROR/);
      expect(shown.includes('no room here for NODE GUID')).toBe(columns < 100);
    }
    const { stdout } = await rdmatool(['list'], { lab: place });
    expect(stdout.split('\n')[0]).toMatch(
      /^DEVICE +DRIVER +NODE GUID +PORTS +STATE +LINK LAYER +RATE +NETDEV +UVERBS +ERROR$/,
    );
  });

  it('a terminal that does not know its width is not folded', async () => {
    const place = await lab();
    const shown = withoutColour(await onTerminal(['query-device'], 0, place));
    const { stdout } = await rdmatool(['query-device'], { lab: place });
    expect(shown).toBe(stdout);
  });
});

describe.concurrent('control characters in what sysfs says', () => {
  /** A lab whose sysfs has such text, which a profile may not have. */
  async function hostile(): Promise<EfaLab> {
    const place = await ownLab();
    const device = join(place.sysfs, 'class/infiniband/rdmap0s6');
    const evil = 'x\u001b[31mred\u001b]0;title\u0007\u009b5n\u007f\u202egnirts';
    for (const name of ['node_desc', 'board_id', 'hca_type', 'fw_ver']) {
      writeFileSync(join(device, name), `${evil}\n`);
    }
    writeFileSync(join(device, 'ports/1/rate'), `${evil}\nsecond line\n`);
    writeFileSync(join(device, 'device/uevent'), `DRIVER=efa\u001b[2J\nPCI_SLOT_NAME=${evil}\n`);
    return place;
  }

  it('never reach the terminal raw, and JSON carries them escaped', async () => {
    const place = await hostile();
    try {
      const { document, stdout } = await queryDevice([], { lab: place });
      const sysfs = document.devices[0]?.sysfs;
      expect(sysfs?.node_desc).toContain('\u001b[31mred');
      expect(stdout).toContain('\\u001b[31mred');
      expect(stdout).toContain('\\u009b5n');
      for (const args of [['query-device'], ['query-device', '-v'], ['list']]) {
        const { stdout: text, stderr } = await rdmatool(args, { lab: place });
        expect(text + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
        if (args.includes('-v')) expect(text).toContain('\\x1b[31mred');
      }
      // On a terminal the only escape codes are colours.
      const shown = await onTerminal(['query-device', '-v'], 80, place);
      expect(withoutColour(shown)).not.toMatch(/[\u001b\u009b\u0007]/);
    } finally {
      await place.remove();
    }
  });
});
