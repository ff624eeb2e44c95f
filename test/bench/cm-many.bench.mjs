// @ts-check
// Connections per second beside cmtime and ucmatose, in the same guest, in turn, against a server of the peer's own
// kind. Prints medians and ratios. Nothing here fails on a number: timings belong to the machine that they were
// taken on.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const RDMATOOL = fileURLToPath(new URL('../../bin/rdmatool.js', import.meta.url));
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
/** cmtime's server makes all its queue pairs on the completion queues of the first: all live at once, or none. */
const COUNT = Number(process.env['COUNT'] ?? 200);
const LEFT = '10.9.0.1';
const RIGHT = '10.9.1.1';

/** @param {readonly number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
/** @param {number} milliseconds @returns {Promise<void>} */
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** @param {readonly string[]} command */
function run([program = '', ...args]) {
  const started = performance.now();
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: 600_000 });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stdout + stderr}`);
  return { stdout, elapsed: performance.now() - started };
}

/** Runs `work` while a server is there. @template T @param {readonly string[]} server @param {() => T} work */
async function beside([program = '', ...args], work) {
  const child = spawn(program, args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('close', resolve));
  await sleep(1500);
  try {
    return work();
  } finally {
    // cmtime's server never ends by itself.
    child.kill();
    await ended;
  }
}

/** The times of cmtime's steps, in all. @param {string} stdout */
const cmtimeTotal = (stdout) =>
  [...stdout.matchAll(/^[a-z ]+:\s+([\d.]+)/gm)].reduce((sum, [, total]) => sum + Number(total), 0);

/** @param {number} port @param {number} count */
const cmtimeClient = (port, count) => ['cmtime', '-s', RIGHT, '-b', LEFT, '-p', `${port}`, '-c', `${count}`];
/** @param {number} port @param {number} count */
const ucmatoseClient = (port, count) => [
  ...['ucmatose', '-s', RIGHT, '-b', LEFT, '-p', `${port}`, '-c', `${count}`, '-C', '0'],
];
/** @param {number} port @returns {{ rate: number, steps: { step: string, median_ms: number, total_ms: number }[] }} */
function own(port) {
  const { stdout } = run([
    ...[process.execPath, RDMATOOL, 'cm', 'connect', `${RIGHT}:${port}`, '--bind', LEFT, '--json'],
    ...['--count', `${COUNT}`, '--concurrency', `${COUNT}`, '--timeout', '60000'],
  ]);
  const { connections_per_second: rate, steps } = JSON.parse(stdout);
  return { rate, steps };
}

/** Connections per second by contestant. @type {Map<string, number[]>} */
const rates = new Map();
/** @param {string} name @param {number} rate */
const note = (name, rate) => rates.set(name, [...(rates.get(name) ?? []), rate]);

/** @param {number} port @param {number} count */
const ucmatoseTime = (port, count) =>
  beside(['ucmatose', '-b', RIGHT, '-p', `${port}`, '-c', `${count}`, '-C', '0'], () =>
    run(ucmatoseClient(port, count)),
  );

async function race() {
  let port = 7600;
  /** @type {ReturnType<typeof own>['steps']} */
  let steps = [];
  for (let round = 0; round < ROUNDS; round++) {
    port += 10;
    const cmtimeServer = (/** @type {number} */ at) => [
      'cmtime',
      '-b',
      RIGHT,
      '-p',
      `${at}`,
      '-c',
      `${COUNT}`,
    ];
    const { stdout } = await beside(cmtimeServer(port), () => run(cmtimeClient(port, COUNT)));
    note('cmtime', (COUNT / cmtimeTotal(stdout)) * 1000);
    const first = await beside(cmtimeServer(port + 1), () => own(port + 1));
    note("rdmatool to cmtime's server", first.rate);
    steps = first.steps;
    // It has no clock: the time of many less the time of one, which starts the program too.
    const one = await ucmatoseTime(port + 2, 1);
    const all = await ucmatoseTime(port + 3, COUNT);
    note('ucmatose', ((COUNT - 1) / (all.elapsed - one.elapsed)) * 1000);
    const server = ['ucmatose', '-b', RIGHT, '-p', `${port + 4}`, '-c', `${COUNT}`, '-C', '0'];
    note("rdmatool to ucmatose's server", (await beside(server, () => own(port + 4))).rate);
  }
  for (const [name, values] of rates) {
    const peer = /to (\w+)'s/.exec(name)?.[1];
    const ratio =
      peer === undefined ? '' : `  ${(median(values) / median(rates.get(peer) ?? [])).toFixed(2)} x ${peer}`;
    console.log(`  ${name.padEnd(32)}${median(values).toFixed(1).padStart(8)} per second${ratio}`);
  }
  console.log('  where the time of rdmatool goes (median of a step, with all others under way):');
  for (const { step, median_ms } of steps)
    console.log(`    ${step.padEnd(16)}${median_ms.toFixed(2).padStart(10)} ms`);
}

if (process.argv[2] === 'inside') await race();
else {
  console.log(`\n${COUNT} connections, all at once, on a simulated machine; medians of ${ROUNDS} rounds`);
  const { status } = spawnSync(
    process.execPath,
    [
      ...[RDMATOOL, 'lab', 'run', 'roce', '--'],
      ...[process.execPath, fileURLToPath(import.meta.url), 'inside'],
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  if (status !== 0) process.exitCode = 1;
}
