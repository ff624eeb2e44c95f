// @ts-check
// Runs rdmatool's main jobs, in the labs where this machine has no hardware, and shows what they print.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const RDMATOOL = fileURLToPath(new URL('../bin/rdmatool.js', import.meta.url));

/** What is shown, the arguments after `rdmatool`, and the exit status that belongs to it. */
const JOBS = /** @type {const} */ ([
  ['What is here, and what to do next', [], 0],
  ['What an EFA card can do', ['lab', 'run', 'efa', '--', 'rdmatool', 'query-device'], 0],
  [
    'The 32 cards of a p5.48xlarge, a line each',
    ['lab', 'run', 'efa', '--instance', 'p5.48xlarge', '--', 'rdmatool', 'list'],
    0,
  ],
  [
    'Two cards, one of which may not be opened: it does not hide the other',
    [
      ...['lab', 'run', 'efa', '--device', 'rdmap0s6:efa2', '--device', 'rdmap16s27:efa0'],
      ...['--fault', 'rdmap16s27:open=EACCES', '--', 'rdmatool', 'query-device'],
    ],
    1,
  ],
  [
    'A card whose provider library is not installed',
    ['lab', 'run', 'efa', '--fault', 'no-provider', '--', 'rdmatool', 'query-device'],
    69,
  ],
  [
    'The same, from the bottom up: the root cause first',
    ['lab', 'run', 'efa', '--fault', 'no-provider', '--', 'rdmatool', 'doctor'],
    1,
  ],
  [
    'For a script: JSON that fits `rdmatool schema list`, on failure too',
    ['lab', 'run', 'efa', '--fault', 'rdmap0s6:no-node', '--', 'rdmatool', 'list', '--json'],
    69,
  ],
  [
    'An InfiniBand fabric is asked for a port, by directed path',
    ['lab', 'run', 'ib', '--', 'rdmatool', 'mad', 'get', 'NodeInfo', '0,1'],
    0,
  ],
  [
    'A connection on the real kernel, step by step',
    [
      ...['lab', 'run', 'roce', '--', 'sh', '-c'],
      // A listener that nobody reaches must not keep the demo for ever.
      'rdmatool cm listen 10.9.1.1 --count 1 --timeout 60000 & timeout 60 sh -c "until rdma resource show cm_id | grep -q LISTEN; do sleep 0.2; done"; rdmatool cm connect 10.9.1.1 --bind 10.9.0.1 --private-data hello; e=$?; wait; exit $e',
    ],
    0,
  ],
  [
    'Nobody listens: what the reason means, and what to do',
    ['lab', 'run', 'roce', '--', 'rdmatool', 'cm', 'connect', '10.9.1.1', '--bind', '10.9.0.1'],
    1,
  ],
  [
    'Data over a connection, sent, written back and verified',
    [
      ...['lab', 'run', 'roce', '--', 'sh', '-c'],
      'rdmatool cm listen 10.9.1.1 --echo --count 1 --timeout 60000 >/dev/null & timeout 60 sh -c "until rdma resource show cm_id | grep -q LISTEN; do sleep 0.2; done"; rdmatool cm connect 10.9.1.1 --bind 10.9.0.1 --ping 20 --size 4096; e=$?; wait; exit $e',
    ],
    0,
  ],
  [
    'What a program asks of the connection manager, call by call',
    ['lab', 'run', 'roce', '--', 'rdmatool', 'trace', '--', 'rdmatool', 'cm', 'bind', '10.9.0.1'],
    0,
  ],
  ['Bytes of that interface, into fields', ['decode', 'ucma', '04000000 0800 0000 01000000 d0070000'], 0],
  ['Which GID index to take, and why', ['lab', 'run', 'roce', '--', 'rdmatool', 'gid'], 0],
  [
    'Management datagrams between two devices, answered by rdmatool',
    [
      ...['lab', 'run', 'roce', '--', 'sh', '-c'],
      'timeout 120 rdmatool mad serve -d rxe1 >/dev/null & s=$!; until rdmatool mad ping fd09:1::1 -d rxe0 -c 1 >/dev/null 2>&1; do kill -0 $s || exit; done; rdmatool mad ping fd09:1::1 -d rxe0 -c 3; e=$?; kill $s; exit $e',
    ],
    0,
  ],
  [
    'Another program in the lab: the unmodified ibv_devinfo',
    ['lab', 'run', 'efa', '--device', 'rdmap0s6:efa1', '--', 'ibv_devinfo'],
    0,
  ],
]);

let wrong = 0;
for (const [title, args, expected] of JOBS) {
  process.stdout.write(`\n== ${title}\n$ rdmatool ${args.join(' ')}\n`);
  const { status, error } = spawnSync(process.execPath, [RDMATOOL, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: 300_000,
  });
  const asExpected = status === expected;
  if (!asExpected) wrong++;
  process.stdout.write(
    `-- exit status ${status ?? error?.message}${asExpected ? '' : `, expected ${expected}`}\n`,
  );
}
process.stdout.write(`\n${JOBS.length - wrong} of ${JOBS.length} jobs ended as they should.\n`);
process.exitCode = wrong === 0 ? 0 : 1;
