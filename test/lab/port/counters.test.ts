/** `rdmatool counters` on simulated EFA cards, whose counters have the names of real ones. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { type EfaLab, prepareEfaLab } from '../../../src/lab/efa/lab.ts';
import type { Counter, CountersResult } from '../../../src/model/counters.ts';
import { lab } from '../support/labs.ts';
import { counters, RDMATOOL, rdmatool, run } from '../support/rdmatool.ts';
import { checkDocument } from '../support/schemas.ts';

const DEVICE = 'class/infiniband/rdmap0s6';

/** A lab of its own, whose files a test may change. */
async function withOwnLab(work: (place: EfaLab) => Promise<void>): Promise<void> {
  const place = await prepareEfaLab({ devices: ['rdmap0s6:efa2'] });
  try {
    await work(place);
  } finally {
    await place.remove();
  }
}

const put = (place: EfaLab, path: string, value: string): void =>
  writeFileSync(join(place.sysfs, DEVICE, path), `${value}\n`);

const named = (result: CountersResult, name: string): Counter | undefined =>
  result.ports.flatMap((port) => port.counters).find((counter) => counter.name === name);

function asCounters(text: string): CountersResult {
  const document = checkDocument(text);
  if (document.schema !== 'rdmatool/counters/1') throw new Error(document.schema);
  return document;
}

describe.concurrent('counters', () => {
  it('has every file of hw_counters, of the device and of the port, with unit and meaning', async () => {
    const place = await lab({ devices: ['rdmap0s6:efa2'] });
    const { status, document } = await counters([], { lab: place });
    expect(status).toBe(0);
    expect(document.ports.map(({ port }) => port)).toEqual([null, 1]);
    for (const { port, counters: shown, lifespan_ms } of document.ports) {
      const folder = join(place.sysfs, DEVICE, port === null ? '' : `ports/${port}`, 'hw_counters');
      const files = readdirSync(folder).filter((name) => name !== 'lifespan');
      expect(shown.map(({ name }) => name).sort()).toEqual(files.sort());
      for (const { name, raw } of shown) {
        expect(raw).toBe(readFileSync(join(folder, name), 'utf8').trim());
      }
      expect(lifespan_ms).toBe(Number(readFileSync(join(folder, 'lifespan'), 'utf8')));
      // EFA's names are all known.
      expect(shown.filter(({ meaning, unit }) => meaning === null || unit === 'unknown')).toEqual([]);
    }
  });

  it('needs neither libibverbs nor a device node', async () => {
    const place = await lab({
      devices: ['rdmap0s6:efa2'],
      faults: ['hide-library=libibverbs.so.1', 'rdmap0s6:no-node'],
    });
    expect((await counters([], { lab: place })).status).toBe(0);
  });

  it('marks errors and congestion, keeps N/A apart from 0, and shows bytes as people read them', () =>
    withOwnLab(async (place) => {
      put(place, 'ports/1/hw_counters/rx_drops', '3');
      put(place, 'ports/1/hw_counters/retrans_pkts', '4');
      put(place, 'ports/1/hw_counters/tx_bytes', '1572864');
      put(place, 'ports/1/hw_counters/rx_bytes', 'N/A (no PMA)');
      const { status, stdout } = await rdmatool(['counters'], { lab: place });
      expect(status).toBe(0);
      expect(stdout).toMatch(/^rdmap0s6\/1 +rx_drops +3 +error: packets dropped on arrival$/m);
      expect(stdout).toMatch(/^rdmap0s6\/1 +retrans_pkts +4 +congestion: /m);
      expect(stdout).toMatch(/^rdmap0s6\/1 +tx_bytes +1572864 \(1\.5 MiB\) +data sent$/m);
      expect(stdout).toMatch(/^rdmap0s6\/1 +rx_bytes +N\/A +data received; .*no PMA/m);
      expect(stdout).toMatch(/^30 counters are 0: -v shows them$/m);
      const verbose = await rdmatool(['counters', '-v'], { lab: place });
      expect(verbose.stdout.trimEnd().split('\n').length).toBe(1 + 34);
    }));

  it('--watch --json prints an object a line, with what has changed', () =>
    withOwnLab(async (place) => {
      put(place, 'ports/1/hw_counters/tx_pkts', '1000');
      put(place, 'ports/1/hw_counters/rx_pkts', '1000');
      const child = spawn(
        process.execPath,
        [RDMATOOL, 'counters', 'rdmap0s6/1', '--watch', '1', '--count', '3', '--json'],
        { env: { ...process.env, ...place.env }, stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const ended = new Promise((resolve) => child.on('close', resolve));
      const lines: CountersResult[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(asCounters(line));
        if (lines.length > 1) continue;
        put(place, 'ports/1/hw_counters/tx_pkts', '1500');
        put(place, 'ports/1/hw_counters/rx_pkts', '10');
      }
      expect(await ended).toBe(0);
      expect(lines.length).toBe(3);
      const [first, second, third] = lines;
      if (!first || !second || !third) throw new Error('too few');
      expect(first.interval_ms).toBeNull();
      expect(named(first, 'tx_pkts')).not.toHaveProperty('delta');
      expect(second.interval_ms).toBeGreaterThan(150);
      const sent = named(second, 'tx_pkts');
      expect(sent).toMatchObject({ value: '1500', delta: '500', event: null });
      expect(sent?.rate).toBeCloseTo(500 / ((second.interval_ms ?? 0) / 1000), -1);
      expect(named(second, 'rx_pkts')).toMatchObject({ value: '10', delta: '10', event: 'reset' });
      expect(named(third, 'tx_pkts')).toMatchObject({ delta: '0', rate: 0 });
    }));

  it('goes on when the device goes away, and says so', () =>
    withOwnLab(async (place) => {
      const child = spawn(
        process.execPath,
        [RDMATOOL, 'counters', 'rdmap0s6', '--watch', '1', '--count', '2', '--json'],
        { env: { ...process.env, ...place.env }, stdio: ['ignore', 'pipe', 'ignore'] },
      );
      const ended = new Promise((resolve) => child.on('close', resolve));
      const codes: (string | undefined)[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        codes.push(asCounters(line).error?.code);
        const { unlinkSync } = await import('node:fs');
        if (codes.length === 1) unlinkSync(join(place.sysfs, DEVICE));
      }
      expect(codes).toEqual([undefined, 'NO_DEVICE']);
      expect(await ended).toBe(69);
    }));

  it('Ctrl-C ends a watch with 130, after whole lines', () =>
    withOwnLab(async (place) => {
      const { status, stdout } = await rdmatool(['counters', '--watch', '0.1', '--json'], {
        lab: place,
        onStart: (child) => {
          child.stdout?.once('data', () => setTimeout(() => child.kill('SIGINT'), 150));
        },
      });
      expect(status).toBe(130);
      const lines = stdout.trimEnd().split('\n');
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) asCounters(line);
    }));

  it('a watch ends with its reader', () =>
    withOwnLab(async (place) => {
      const watch = `'${process.execPath}' '${RDMATOOL}' counters --watch 0.1 --json`;
      const { status, stdout, stderr } = await run(['bash', '-c', `${watch} | head -1; echo $PIPESTATUS`], {
        lab: place,
      });
      const [line = '', exit] = stdout.trimEnd().split('\n');
      asCounters(line);
      expect({ status, exit, stderr }).toEqual({ status: 0, exit: '0', stderr: '' });
    }));

  it('draws the table anew in place on a terminal, and one after the other elsewhere', () =>
    withOwnLab(async (place) => {
      put(place, 'ports/1/hw_counters/tx_bytes', '1000000000');
      const watch = [process.execPath, RDMATOOL, 'counters', '--watch', '0.1', '--count', '2'];
      const words = watch.map((word) => `'${word}'`).join(' ');
      const onTerminal = (rows: number, env: NodeJS.ProcessEnv = {}) =>
        run(['script', '-qec', `stty cols 80 rows ${rows}; ${words}`, '/dev/null'], { lab: place, env });
      const { stdout } = await onTerminal(24);
      const frames = stdout.split('\u001b[H').slice(1);
      expect(frames.length).toBe(2);
      for (const frame of frames) {
        const lines = frame
          .replace(/\u001b\[\d*[mKJ]/g, '')
          .trimEnd()
          .split('\r\n');
        expect(lines.filter((one) => one.length > 80)).toEqual([]);
        expect(lines.some((one) => /^rdmap0s6\/1 +tx_bytes +1000000000 \(953\.7 MiB\)/.test(one))).toBe(true);
      }
      const low = (await onTerminal(4)).stdout.split('\u001b[H').at(-1) ?? '';
      expect(low.split('\n').length).toBeLessThanOrEqual(4);
      expect(low).toMatch(/… \d+ more lines/);
      for (const text of [
        (await onTerminal(24, { TERM: 'dumb' })).stdout,
        (await run(watch, { lab: place })).stdout,
      ]) {
        expect(text).not.toContain('\u001b');
        expect(text.match(/^PORT /gm)?.length).toBe(2);
      }
    }));

  it.each([
    [['--count', '2'], 2, 'USAGE'],
    [['--watch', '0'], 2, 'USAGE'],
    [['--watch', '1e1'], 2, 'USAGE'],
    [['--watch', '-1'], 2, 'USAGE'],
    [['--watch', ''], 2, 'USAGE'],
    [['rdmap0s6/2'], 1, 'NO_SUCH_PORT'],
    [['nope'], 69, 'UNKNOWN_DEVICE'],
    [['nope', '--watch', '1'], 69, 'UNKNOWN_DEVICE'],
    [['a/b'], 2, 'USAGE'],
  ])('%j ends with %i, %s', async (args, exit, code) => {
    const place = await lab({ devices: ['rdmap0s6:efa2'] });
    const { status, stdout } = await rdmatool(['counters', ...args, '--json'], { lab: place });
    expect(status).toBe(exit);
    expect(asCounters(stdout).error?.code).toBe(code);
  });

  it('without a device ends with 69', async () => {
    const place = await lab({ faults: ['no-device'] });
    const { status, stdout, stderr } = await rdmatool(['counters'], { lab: place });
    expect({ status, stdout }).toEqual({ status: 69, stdout: '' });
    expect(stderr).toMatch(/^rdmatool: no RDMA device.*\nnext: .+\n$/);
  });
});
