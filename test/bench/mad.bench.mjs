// @ts-check
// Management datagrams a second beside a C program on libibumad, and one NodeInfo beside smpquery(8), on the same
// simulated fabric, in turn; medians and ratios. Nothing here fails on a number: timings belong to the machine.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTurn, median, RDMATOOL, run } from './measure.mjs';

const ROUNDS = Number(process.env['ROUNDS'] ?? 9);
const COUNT = Number(process.env['COUNT'] ?? 100_000);
const WINDOWS = [1, 8, 16, 32, 64];
/** A host of the fabric that is not the one the programs run on. */
const LID = '2';

/** @param {string} program */
function race(program) {
  console.log(`Get PortCounters, ${COUNT} a run; medians of ${ROUNDS} runs`);
  for (const window of WINDOWS) {
    const datagrams = [...['mad', 'send', 'PortCounters', LID, 'port_select=1', '--class', 'PERF']];
    const often = ['--count', String(COUNT), '--window', String(window), '--json'];
    const times = inTurn(
      {
        c: () => Number(run([program, LID, String(COUNT), String(window)]).stdout),
        own: () => {
          const { stdout } = run([process.execPath, RDMATOOL, ...datagrams, ...often]);
          return Number(JSON.parse(stdout).elapsed_ms);
        },
      },
      ROUNDS,
    );
    const [c = Number.NaN, own = Number.NaN] = [...times.values()].map(
      (values) => (COUNT / median(values)) * 1000,
    );
    console.log(
      `  window ${String(window).padStart(2)}   C on libibumad ${c.toFixed(0).padStart(7)} MAD/s   rdmatool ${own.toFixed(0).padStart(7)} MAD/s   ${(own / c).toFixed(2)} x`,
    );
  }

  console.log(`\none NodeInfo, from start to end; medians of ${ROUNDS * 2} runs`);
  const commands = {
    'node -e 0': [process.execPath, '-e', '0'],
    'smpquery nodeinfo': ['smpquery', 'nodeinfo', LID],
    'rdmatool mad get NodeInfo': [process.execPath, RDMATOOL, 'mad', 'get', 'NodeInfo', LID],
  };
  const times = inTurn(
    Object.fromEntries(Object.entries(commands).map(([name, command]) => [name, () => run(command).elapsed])),
    ROUNDS * 2,
  );
  const peer = median(times.get('smpquery nodeinfo') ?? []);
  for (const [name, values] of times) {
    console.log(
      `  ${name.padEnd(28)}${median(values).toFixed(1).padStart(7)} ms   ${(median(values) / peer).toFixed(2)} x smpquery`,
    );
  }
}

if (process.argv[2] === 'inside') {
  race(process.argv[3] ?? '');
} else {
  const folder = mkdtempSync(join(tmpdir(), 'rdmatool-bench-'));
  try {
    const program = join(folder, 'mad-window');
    const source = fileURLToPath(new URL('./mad-window.c', import.meta.url));
    execFileSync('cc', ['-O2', '-Wall', '-o', program, source, '-libumad'], { stdio: 'inherit' });
    const { status } = spawnSync(
      process.execPath,
      [
        ...[RDMATOOL, 'lab', 'run', 'ib', '--'],
        ...[process.execPath, fileURLToPath(import.meta.url), 'inside', program],
      ],
      { stdio: ['ignore', 'inherit', 'inherit'], cwd: folder },
    );
    if (status !== 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
