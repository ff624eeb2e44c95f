// @ts-check
// Round trips of datagrams per second on the real kernel, between the two devices of lab roce: through libibumad
// and through the device itself with either header, beside a C program on libibumad. The same server answers all.
// Nothing here fails on a number: timings belong to the machine that they were taken on.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RDMATOOL = fileURLToPath(new URL('../../bin/rdmatool.js', import.meta.url));
const SOURCE = fileURLToPath(new URL('./mad-round-trips.c', import.meta.url));
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(REPOSITORY, 'node_modules/.cache/rdmatool-bench');
const SELF = fileURLToPath(import.meta.url);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const COUNT = Number(process.env['COUNT'] ?? 200);
const PEER = 'fd09:1::1';
/** Place of fd09::1 in the table of rxe0. */
const GID_INDEX = '2';
const WINDOWS = [1, 8];

/** @type {ReadonlyArray<readonly [name: string, options: readonly string[] | null]>} */
const CONTESTANTS = [
  ['C, libibumad', null],
  ['rdmatool, libibumad', ['--transport', 'libibumad']],
  ['rdmatool, device, new header', ['--transport', 'device', '--header', 'new']],
  ['rdmatool, device, old header', ['--transport', 'device', '--header', 'old']],
];

/** @param {readonly number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Round trips per second, without the start of the program. @param {readonly string[] | null} options @param {number} window @param {string} program */
function rate(options, window, program) {
  if (options === null) {
    const args = ['rxe0', PEER, GID_INDEX, String(COUNT), String(window)];
    return Number(execFileSync(program, args, { encoding: 'utf8' }));
  }
  const args = ['mad', 'send', '0', PEER, '-d', 'rxe0', '--class', '0x32', '--oui', '0x001405', ...options];
  const counts = ['-c', String(COUNT), '--window', String(window), '--retries', '5', '--json'];
  const { stdout, stderr } = spawnSync(process.execPath, [RDMATOOL, ...args, ...counts], {
    encoding: 'utf8',
  });
  const { error, elapsed_ms: elapsed } = JSON.parse(stdout);
  if (error !== null) throw new Error(stderr);
  return COUNT / (elapsed / 1000);
}

/** Inside the lab. @param {string} program */
async function race(program) {
  const server = spawn(process.execPath, [RDMATOOL, 'mad', 'serve', '-d', 'rxe1', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => server.stdout.once('data', resolve));
  server.stdout.resume();
  try {
    for (const window of WINDOWS) {
      /** @type {Map<string, number[]>} */
      const rates = new Map(CONTESTANTS.map(([name]) => [name, []]));
      for (let round = -1; round < ROUNDS; round++) {
        for (const [name, options] of CONTESTANTS) {
          const measured = rate(options, window, program);
          // The first round fills caches.
          if (round >= 0) rates.get(name)?.push(measured);
        }
      }
      const base = median(rates.get('C, libibumad') ?? []);
      console.log(`\n  ${window} at a time`);
      for (const [name, values] of rates) {
        const own = median(values);
        console.log(
          `  ${name.padEnd(30)}${own.toFixed(0).padStart(8)} round trips/s  ${(own / base).toFixed(2)} x C`,
        );
      }
    }
  } finally {
    server.kill('SIGINT');
    await new Promise((resolve) => server.once('close', resolve));
  }
}

if (process.argv[2] === 'inside') {
  await race(process.argv[3] ?? '');
} else {
  // Below the repository, which the lab has too.
  mkdirSync(FOLDER, { recursive: true });
  const program = join(FOLDER, 'mad-round-trips');
  execFileSync('cc', ['-O2', '-w', '-o', program, SOURCE, '-libumad']);
  console.log(
    `\nround trips of datagrams on the kernel of lab roce; medians of ${ROUNDS} rounds of ${COUNT}; the server is rdmatool mad serve`,
  );
  const { status } = spawnSync(
    process.execPath,
    [RDMATOOL, 'lab', 'run', 'roce', '--', process.execPath, SELF, 'inside', program],
    { stdio: ['ignore', 'inherit', 'inherit'], cwd: REPOSITORY },
  );
  if (status !== 0) process.exitCode = 1;
}
