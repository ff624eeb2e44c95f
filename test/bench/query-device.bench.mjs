// @ts-check
// Times rdmatool beside its peers, on the same simulated machine, in turn, and prints medians and ratios.
// Nothing here fails on a number: timings belong to the machine that they were taken on.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median, RDMATOOL, run } from './measure.mjs';

const PEAK_MEMORY = fileURLToPath(new URL('./peak-memory.cjs', import.meta.url));
const ROUNDS = Number(process.env['ROUNDS'] ?? 15);

/** @typedef {{ readonly name: string, readonly command: readonly string[], readonly against: string | null }} Contestant */

/** @type {readonly Contestant[]} */
const CONTESTANTS = [
  { name: 'node -e 0', command: [process.execPath, '-e', '0'], against: null },
  {
    name: 'rdmatool query-device --help',
    command: [process.execPath, RDMATOOL, 'query-device', '--help'],
    against: 'node -e 0',
  },
  { name: 'ibv_devinfo -v', command: ['ibv_devinfo', '-v'], against: null },
  {
    name: 'rdmatool query-device --json',
    command: [process.execPath, RDMATOOL, 'query-device', '--json'],
    against: 'ibv_devinfo -v',
  },
  {
    name: 'rdmatool query-device',
    command: [process.execPath, RDMATOOL, 'query-device'],
    against: 'ibv_devinfo -v',
  },
  { name: 'rdmatool list', command: [process.execPath, RDMATOOL, 'list'], against: 'ibv_devinfo -v' },
];

/** Times the contestants in turn, so that a busy moment hits all of them. */
function race() {
  const times = new Map(CONTESTANTS.map(({ name }) => [name, /** @type {number[]} */ ([])]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const { name, command } of CONTESTANTS) {
      const { elapsed } = run(command);
      // The first round fills caches.
      if (round >= 0) times.get(name)?.push(elapsed);
    }
  }
  const medians = new Map([...times].map(([name, values]) => [name, median(values)]));
  for (const { name, against } of CONTESTANTS) {
    const own = medians.get(name) ?? Number.NaN;
    const ratio =
      against === null ? '' : `  ${(own / (medians.get(against) ?? Number.NaN)).toFixed(2)} x ${against}`;
    console.log(`  ${name.padEnd(30)}${own.toFixed(1).padStart(8)} ms${ratio}`);
  }
}

/** Peak resident memory in MiB, told by the process itself as it ends. @param {readonly string[]} args */
function peakMemory(args) {
  const { stderr } = run([process.execPath, '--require', PEAK_MEMORY, ...args]);
  return Number(/peak-memory-kib (\d+)/.exec(stderr)?.[1]) / 1024;
}

if (process.argv[2] === 'inside') {
  race();
  if (process.argv[3] === 'memory') {
    const bare = peakMemory(['-e', '0']);
    const own = peakMemory([RDMATOOL, 'query-device', '--json']);
    console.log(
      `  peak memory: query-device --json ${own.toFixed(1)} MiB, node -e 0 ${bare.toFixed(1)} MiB: ${(own / bare).toFixed(2)} x`,
    );
  }
} else {
  for (const [title, faults, memory] of /** @type {const} */ ([
    ['32 devices (p5.48xlarge); the simulated kernel answers at once', [], 'memory'],
    ['the same, each open taking 5 ms in the kernel', ['--fault', '*:delay=5'], ''],
    ['the same, each open taking 20 ms in the kernel', ['--fault', '*:delay=20'], ''],
  ])) {
    console.log(`\n${title}; medians of ${ROUNDS} rounds`);
    const { status } = spawnSync(
      process.execPath,
      [
        ...[RDMATOOL, 'lab', 'run', 'efa', '--instance', 'p5.48xlarge', ...faults, '--'],
        ...[process.execPath, fileURLToPath(import.meta.url), 'inside', memory],
      ],
      { stdio: ['ignore', 'inherit', 'ignore'] },
    );
    if (status !== 0) process.exitCode = 1;
  }
}
