// @ts-check
// What an installation takes, and how soon it starts: `npm pack`, installed in a temporary place, beside bare Node.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const ROUNDS = Number(process.env['ROUNDS'] ?? 15);

/** @param {readonly string[]} command @param {string} cwd */
function run([program = '', ...args], cwd) {
  const start = performance.now();
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return { elapsed: performance.now() - start, stdout };
}

/** Bytes and number of the files below a folder. @param {string} folder */
function sizeOf(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .filter((status) => status.isFile());
  return { bytes: files.reduce((sum, { size }) => sum + size, 0), count: files.length };
}

/** @param {readonly number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const mib = (/** @type {number} */ bytes) => `${(bytes / 1024 / 1024).toFixed(2)} MiB`;

const folder = mkdtempSync(join(tmpdir(), 'rdmatool-bench-'));
try {
  const { stdout } = run(['npm', 'pack', '--silent', '--pack-destination', folder], REPOSITORY);
  const archive = join(folder, stdout.trim().split('\n').at(-1) ?? '');
  const install = [
    'npm',
    'install',
    '--global',
    '--prefix',
    folder,
    '--ignore-scripts',
    '--prefer-offline',
    archive,
  ];
  const { elapsed } = run(install, folder);
  const place = join(folder, 'lib/node_modules/rdmatool');
  const whole = sizeOf(place);
  const libraries = sizeOf(join(place, 'node_modules'));
  console.log('\nthe package');
  console.log(`  archive                       ${mib(statSync(archive).size).padStart(11)}`);
  console.log(`  installed                     ${mib(whole.bytes).padStart(11)}  ${whole.count} files`);
  console.log(
    `    of it koffi                 ${mib(libraries.bytes).padStart(11)}  ${libraries.count} files`,
  );
  console.log(`  npm install                   ${(elapsed / 1000).toFixed(2).padStart(9)} s`);

  const program = join(folder, 'bin/rdmatool');
  /** @type {ReadonlyArray<readonly [string, readonly string[]]>} */
  const contestants = [
    ['node -e 0', ['-e', '0']],
    ['rdmatool --version', [program, '--version']],
    ['rdmatool', [program]],
    ['rdmatool --help', [program, '--help']],
    ['rdmatool counters --help', [program, 'counters', '--help']],
    ['completion of a command', [program, '__complete', 'fish', '--', 'mad', 'g']],
    ['completion of an attribute', [program, '__complete', 'fish', '--', 'mad', 'get', 'Port']],
  ];
  const times = new Map(contestants.map(([name]) => [name, /** @type {number[]} */ ([])]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, args] of contestants) {
      const { elapsed: time } = run([process.execPath, ...args], folder);
      // The first round fills caches.
      if (round >= 0) times.get(name)?.push(time);
    }
  }
  const bare = median(times.get('node -e 0') ?? []);
  console.log(`\nits start; medians of ${ROUNDS} rounds`);
  for (const [name, values] of times) {
    const own = median(values);
    console.log(
      `  ${name.padEnd(30)}${own.toFixed(1).padStart(8)} ms  ${(own / bare).toFixed(2)} x node -e 0`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
