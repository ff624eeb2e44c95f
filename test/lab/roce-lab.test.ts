/** Lab roce as users meet it: one guest for most tests, and some of their own for how guests begin and end. */
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, release } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BootFiles, prepareBootFiles } from '../../src/lab/roce/boot-files.ts';
import { bootGuest } from '../../src/lab/roce/guest.ts';
import type { ListResult } from '../../src/model/list.ts';
import { childrenOf, isAlive, Place, REPOSITORY, type RunOptions } from './roce/tools.ts';
import { product } from './support/json.ts';

const place = new Place();
afterAll(() => place.remove());

interface StatusDocument {
  readonly labs: readonly [
    {
      readonly state: string;
      readonly machine: { readonly kernel: string } | null;
      readonly process: { readonly pid: number; readonly memory_bytes: string } | null;
      readonly death: { readonly reason: string; readonly console: readonly string[] } | null;
    },
  ];
}

/** `lab status --json`, which fits its schema. */
async function labStatus() {
  const outcome = await place.rdmatool(['lab', 'status', 'roce', '--json']);
  const document = product<StatusDocument>(outcome.stdout);
  return { exit: outcome.status, ...document.labs[0] };
}

/** Starts a guest that stays. Returns the process that keeps it, and QEMU. */
async function up(): Promise<{ readonly keeper: number; readonly qemu: number }> {
  expect(await place.rdmatool(['lab', 'up', 'roce'])).toMatchObject({ status: 0 });
  const keeper = (await labStatus()).process?.pid ?? 0;
  const [qemu = 0, ...others] = childrenOf(keeper);
  expect(qemu).toBeGreaterThan(0);
  expect(others).toEqual([]);
  return { keeper, qemu };
}

const script = (text: string, options: RunOptions = {}) => place.inLab(['sh', '-c', text], options);
const PATIENTLY = { timeout: 15_000, interval: 100 };
/** How many processes of the guest sleep. */
const SLEEPERS = 'cat /proc/[0-9]*/comm | grep -cx sleep';
const linesOf = (text: string): string[] => text.trim().split('\n');
const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const gone = (pid: number) => expect.poll(() => isAlive(pid), PATIENTLY).toBe(false);

describe('a guest that is up', () => {
  let processes: Awaited<ReturnType<typeof up>>;
  beforeAll(async () => {
    processes = await up();
  });
  // The last test does it, if it runs.
  afterAll(async () => {
    await place.rdmatool(['lab', 'down', 'roce']);
  });

  describe('runs commands', () => {
    it.each([
      ['true', 0],
      ['exit 7', 7],
      ['kill -TERM $$', 128 + constants.signals.SIGTERM],
    ])('and gives the exit status of: %s', async (text, expected) => {
      expect((await script(text)).status).toBe(expected);
    });

    it('or says why not', async () => {
      expect(await place.inLab(['no-such-command'])).toMatchObject({
        status: 127,
        stderr: expect.stringContaining('no-such-command: command not found'),
      });
      expect(await place.inLab(['/etc/passwd'])).toMatchObject({
        status: 126,
        stderr: expect.stringContaining('/etc/passwd: EACCES'),
      });
    });

    it('with stdout and stderr apart, and says once that it is a lab', async () => {
      const { stdout, stderr } = await script('echo one; echo two >&2; echo three');
      expect(stdout).toBe('one\nthree\n');
      expect(stderr).toMatch(/^lab roce: Linux \S+ in a virtual machine, (emulated|with KVM)\ntwo\n$/);
    });

    it('with all of stdin, byte for byte, and all of stdout', async () => {
      const bytes = randomBytes(3_000_000);
      expect((await place.inLab(['sha256sum'], { input: bytes })).stdout).toBe(`${sha(bytes)}  -\n`);
      const text = 'a line\n'.repeat(200_000);
      expect((await place.inLab(['cat'], { input: text })).stdout).toBe(text);
    });

    it('that do not read their stdin', async () => {
      expect((await place.inLab(['true'], { input: Buffer.alloc(2_000_000) })).status).toBe(0);
    });

    it('whose reader goes away, as without a lab', async () => {
      const lab = `${process.execPath} bin/rdmatool.js lab run roce -- sh -c 'yes; echo $? >&2'`;
      const { stdout, stderr } = await place.start(['sh', '-c', `${lab} | head -1`]).outcome;
      expect(stdout).toBe('y\n');
      expect(linesOf(stderr).at(-1)).toBe(String(128 + constants.signals.SIGPIPE));
    });

    it('whose reader goes away while they have nothing to say', async () => {
      const lab = `${process.execPath} bin/rdmatool.js lab run roce -- rdmatool cm listen 10.9.1.1 --timeout 100000`;
      const started = performance.now();
      const { stdout, stderr } = await place.start([
        'bash',
        '-c',
        `${lab} | head -n 1 >/dev/null; echo "ended \${PIPESTATUS[0]}"`,
      ]).outcome;
      expect(stdout).toBe('ended 0\n');
      // That it is a lab, and no failure.
      expect(linesOf(stderr).length).toBe(1);
      expect(performance.now() - started).toBeLessThan(40_000);
    });

    it('several at once', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, index) => script(`cat; exit ${index}`, { input: `from ${index}` })),
      );
      expect(outcomes.map(({ status, stdout }) => [status, stdout])).toEqual(
        outcomes.map((_, index) => [index, `from ${index}`]),
      );
    });

    it('while the output of another is not taken', async () => {
      const stuck = place.startInLab(['yes']);
      await stuck.said('y');
      stuck.child.stdout?.pause();
      expect((await script('head -c 1000000 /dev/zero | wc -c')).stdout.trim()).toBe('1000000');
      stuck.child.kill('SIGKILL');
      await stuck.outcome;
    });

    it('in a terminal', async () => {
      const inside = 'tty; stty size; test -t 0 && test -t 1 && test -t 2 && echo all';
      const lab = `${process.execPath} bin/rdmatool.js lab run roce -- sh -c '${inside}'`;
      const { stdout } = await place.start(['script', '-qec', `stty rows 33 cols 101; ${lab}`, '/dev/null'])
        .outcome;
      expect(stdout).toMatch(/\/dev\/pts\/\d+\r\n33 101\r\nall\r\n/);
    });

    it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('and passes %s on', async (signal) => {
      const number = constants.signals[signal];
      const running = place.startInLab([
        'sh',
        '-c',
        `trap 'echo caught; exit 5' ${number}; echo ready; while :; do sleep 0.05; done`,
      ]);
      await running.said('ready');
      running.child.kill(signal);
      expect(await running.outcome).toMatchObject({ status: 5, stdout: 'ready\ncaught\n' });
      const other = place.startInLab(['sh', '-c', 'echo ready; exec sleep 60']);
      await other.said('ready');
      other.child.kill(signal);
      expect((await other.outcome).status).toBe(128 + number);
    });

    it('and ends them, and what they started, when their client is killed', async () => {
      const running = place.startInLab([
        'sh',
        '-c',
        'trap "" HUP; setsid sleep 4321 & echo ready; sleep 4321',
      ]);
      await running.said('ready');
      await expect.poll(async () => (await script(SLEEPERS)).stdout, PATIENTLY).toBe('2\n');
      running.child.kill('SIGKILL');
      await running.outcome;
      await expect.poll(async () => (await script(SLEEPERS)).stdout, PATIENTLY).toBe('0\n');
    });

    it('and leaves nothing of them', async () => {
      await script('setsid sleep 4321 & exit 0');
      const { stdout } = await script(`${SLEEPERS}; ls -d /sys/fs/cgroup/lab.*; cat /proc/self/cgroup`);
      const [sleeping, group, own] = linesOf(stdout);
      expect(sleeping).toBe('0');
      expect(`0::${group?.replace('/sys/fs/cgroup', '')}`).toBe(own);
    });
  });

  describe('is a machine of its own', () => {
    it('with the cached kernel, which is not the one that runs here', async () => {
      const kernel = (await place.inLab(['uname', '-r'])).stdout.trim();
      expect((await labStatus()).machine?.kernel).toBe(kernel);
      expect((await prepareBootFiles({ say: () => {} })).kernel).toContain(`/${kernel}_`);
      expect(kernel).not.toBe(release());
    });

    it('with the right time', async () => {
      const { stdout } = await place.inLab(['date', '+%s']);
      expect(Math.abs(Number(stdout) - Date.now() / 1000)).toBeLessThan(5);
    });

    it('with the modules and device nodes of RDMA, and their usual modes', async () => {
      const { stdout } = await script(
        'for m in rdma_rxe rdma_ucm ib_umad ib_uverbs ib_cm rdma_cm dummy veth; do [ -d /sys/module/$m ] || echo no $m; done; cd /dev/infiniband; stat -c "%n %a" rdma_cm umad? uverbs?',
      );
      expect(linesOf(stdout)).toEqual([
        'rdma_cm 666',
        'umad0 600',
        'umad1 600',
        'uverbs0 666',
        'uverbs1 666',
      ]);
    });

    it('where the user is root, and can be another', async () => {
      expect((await place.inLab(['id', '-u'])).stdout).toBe('0\n');
      const { stdout } = await script(
        'setpriv --reuid nobody --regid nogroup --clear-groups sh -c "id -un; test -r /dev/infiniband/umad0 || echo closed; test -w /dev/infiniband/uverbs0 && echo open"',
      );
      expect(linesOf(stdout)).toEqual(['nobody', 'closed', 'open']);
    });

    it('with the current directory, read and written, and its environment', async () => {
      writeFileSync(join(place.work, 'in'), 'from the host');
      const { stdout } = await script('pwd; cat in; echo; echo "$WORD $HOME"; echo from the guest >out', {
        cwd: place.work,
        env: { WORD: 'carried' },
      });
      expect(linesOf(stdout)).toEqual([place.work, 'from the host', 'carried /root']);
      expect(readFileSync(join(place.work, 'out'), 'utf8')).toBe('from the guest\n');
      writeFileSync(join(place.work, 'in'), 'changed');
      expect((await script('cat in', { cwd: place.work })).stdout).toBe('changed');
    });

    it('with further directories on request, and otherwise only the system of the host', async () => {
      const file = join(place.work, 'shared');
      writeFileSync(file, 'shared');
      expect((await place.inLab(['cat', file], { cwd: '/' })).status).toBe(1);
      const shared = ['lab', 'run', 'roce', '--share', place.work, '--', 'cat', file];
      expect((await place.rdmatool(shared, { cwd: '/' })).stdout).toBe('shared');
      const refused = await place.rdmatool(['lab', 'run', 'roce', '--share', file, '--', 'true']);
      expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('is not a directory') });
      expect(
        (await script('touch /usr/x 2>/dev/null || echo read-only; touch /x && rm /x && echo own')).stdout,
      ).toBe('read-only\nown\n');
    });

    it('in which rdmatool runs', async () => {
      const { stdout } = await place.inLab(['rdmatool', 'list', '--json']);
      const { devices } = product<ListResult>(stdout);
      expect(devices.map(({ name, error }) => [name, error])).toEqual([
        ['rxe0', null],
        ['rxe1', null],
      ]);
      const fromHere = await place.inLab(['node', 'bin/rdmatool.js', 'list']);
      expect(linesOf(fromHere.stdout)).toHaveLength(3);
    });

    it('and runs as it is now, however often it has run', async () => {
      const copy = join(place.work, 'copy');
      for (const name of ['bin', 'dist', 'src/lab/roce']) {
        cpSync(join(REPOSITORY, name), join(copy, name), { recursive: true });
      }
      for (const version of ['1.2.3', '1.2.4']) {
        writeFileSync(join(copy, 'package.json'), JSON.stringify({ name: 'rdmatool', version }));
        const command = [process.execPath, join(copy, 'bin/rdmatool.js'), 'lab', 'run', 'roce', '--'];
        const { stdout } = await place.start([...command, 'rdmatool', '--version'], { cwd: '/' }).outcome;
        expect(stdout).toBe(`rdmatool ${version}\n`);
      }
    });
  });

  describe('has two RDMA devices on a wire', () => {
    it('that libibverbs sees, both active', async () => {
      const { stdout } = await place.inLab(['ibv_devinfo']);
      expect(stdout.match(/hca_id:\s+rxe[01]/g)).toHaveLength(2);
      expect(stdout.match(/PORT_ACTIVE/g)).toHaveLength(2);
    });

    it.each([
      ['10.9.0.1', '10.9.1.1'],
      ['10.9.1.1', '10.9.0.1'],
      ['fd09::1', 'fd09:1::1'],
    ])('over which rping goes from %s to %s, packet by packet', async (from, to) => {
      const counters = 'cat /sys/class/infiniband/rxe[01]/ports/1/hw_counters/sent_pkts';
      const { status, stdout } = await script(
        `${counters}; rping -s -a ${to} -C 3 >/dev/null & until rdma resource show cm_id | grep -q LISTEN; do sleep 0.1; done; rping -c -a ${to} -I ${from} -C 3 >/dev/null && ${counters}`,
      );
      expect(status).toBe(0);
      const [left = 0, right = 0, leftAfter = 0, rightAfter = 0] = linesOf(stdout).map(Number);
      // Three pings are a dozen messages and their acknowledgements.
      expect(leftAfter - left).toBeGreaterThan(12);
      expect(rightAfter - right).toBeGreaterThan(12);
    });

    it.each([
      ['udaddy', 'udaddy -b 10.9.1.1', 'udaddy -s 10.9.1.1 -b 10.9.0.1'],
      ['ucmatose', 'ucmatose -b 10.9.1.1', 'ucmatose -s 10.9.1.1 -b 10.9.0.1'],
      ['mckey', 'mckey -m 239.1.2.3 -b 10.9.1.1 -C 3', 'mckey -s -m 239.1.2.3 -b 10.9.1.1 -C 3'],
    ])('over which %s works', async (_, server, client) => {
      const { status, stderr } = await script(
        `timeout 20 ${server} >/dev/null & server=$!; sleep 1; timeout 20 ${client} >/dev/null && wait $server`,
      );
      expect(status, stderr).toBe(0);
    });

    it('that tc can disturb and ip can take down', async () => {
      const { stdout } = await script(
        'tc qdisc add dev veth0 root netem delay 1ms && tc qdisc del dev veth0 root && ip link set veth0 down; sleep 0.2; cat /sys/class/infiniband/rxe0/ports/1/state; ip link set veth0 up; sleep 0.2; cat /sys/class/infiniband/rxe0/ports/1/state',
      );
      expect(linesOf(stdout)).toEqual(['1: DOWN', '4: ACTIVE']);
    });
  });

  it('is up until it is ended, and then nothing is left', async () => {
    const again = await place.rdmatool(['lab', 'up', 'roce']);
    expect(again).toMatchObject({ status: 0, stderr: expect.stringContaining('up already') });
    expect((await labStatus()).process?.pid).toBe(processes.keeper);
    expect(Number((await labStatus()).process?.memory_bytes)).toBeGreaterThan(2 ** 27);

    const running = place.startInLab(['sh', '-c', 'echo ready; exec sleep 60']);
    await running.said('ready');
    expect(await place.rdmatool(['lab', 'down', 'roce'])).toMatchObject({ status: 0 });
    expect(await running.outcome).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the guest has ended'),
    });
    await gone(processes.keeper);
    await gone(processes.qemu);
    expect(place.leftovers).toEqual([]);
    expect(await labStatus()).toMatchObject({ exit: 0, state: 'down' });
    expect((await place.rdmatool(['lab', 'down', 'roce'])).status).toBe(0);
    expect(place.leftovers).toEqual([]);
  });
});

describe('a guest that ends by itself', () => {
  it('with QEMU is reported once, with its console', async () => {
    // Two that start it at once get the same one.
    const outcomes = await Promise.all([1, 2].map(() => place.rdmatool(['lab', 'up', 'roce', '--json'])));
    const documents = outcomes.map(({ stdout }) => product<StatusDocument>(stdout));
    const [keeper = 0, same] = documents.map(({ labs: [lab] }) => lab.process?.pid);
    expect(keeper).toBeGreaterThan(0);
    expect(same).toBe(keeper);

    for (const qemu of childrenOf(keeper)) process.kill(qemu, 'SIGKILL');
    await gone(keeper);
    const { exit, state, death } = await labStatus();
    expect([exit, state]).toEqual([1, 'died']);
    expect(death).toMatchObject({ reason: expect.stringContaining('SIGKILL') });
    expect(death?.console.at(-1)).toMatch(/lab: .* ready/);
    expect((await labStatus()).state).toBe('down');
    expect(place.leftovers).toEqual([]);
  });

  it('with the process that keeps it takes QEMU along', async () => {
    const { keeper, qemu } = await up();
    process.kill(keeper, 'SIGKILL');
    await gone(qemu);
    expect(await labStatus()).toMatchObject({ exit: 1, state: 'died' });
    expect(place.leftovers).toEqual([]);
  });
});

describe('without a guest that is up', () => {
  it('a command has one of its own, which ends with it', async () => {
    const running = place.startInLab([
      'sh',
      '-c',
      'trap "exit 3" TERM; echo ready; while :; do sleep 0.1; done',
    ]);
    await running.said('ready');
    const [qemu = 0] = childrenOf(running.pid);
    expect(qemu).toBeGreaterThan(0);
    running.child.kill('SIGTERM');
    expect((await running.outcome).status).toBe(3);
    expect(isAlive(qemu)).toBe(false);
    expect(place.leftovers).toEqual([]);
  });

  it('a command whose client is killed takes its guest along', async () => {
    const running = place.startInLab(['sh', '-c', 'echo ready; exec sleep 60']);
    await running.said('ready');
    const [qemu = 0] = childrenOf(running.pid);
    expect(qemu).toBeGreaterThan(0);
    running.child.kill('SIGKILL');
    await running.outcome;
    await gone(qemu);
    expect(place.leftovers).toEqual([]);
  });

  it.each([
    ['lab run', ['lab', 'run', 'roce', '--', 'true']],
    ['lab up', ['lab', 'up', 'roce']],
  ])('%s is interrupted while the guest starts', async (_, args) => {
    const running = place.start([process.execPath, 'bin/rdmatool.js', ...args]);
    await expect.poll(() => childrenOf(running.pid).length).toBeGreaterThan(0);
    const [started = 0] = childrenOf(running.pid);
    running.child.kill('SIGINT');
    expect((await running.outcome).status).toBe(130);
    await gone(started);
    expect(place.leftovers).toEqual([]);
  });
});

describe('a guest that does not start', () => {
  let files: BootFiles;
  beforeAll(async () => {
    files = await prepareBootFiles({ say: () => {} });
  });
  const options = { accelerations: ['emulation'], say: () => {} } as const;

  it('shows the end of its console: no first program', async () => {
    await expect(
      bootGuest({ ...options, files, kernelArguments: ['rdinit=/nothing'] }),
    ).rejects.toMatchObject({
      code: 'boot_failed',
      exit: 1,
      message: expect.stringMatching(
        /did not start: QEMU ended with 0; its console ends with:\n(.*\n)*.*Kernel panic/,
      ),
      hint: expect.stringContaining('made anew'),
    });
    expect(childrenOf(process.pid).filter((pid) => commandOf(pid).includes('qemu'))).toEqual([]);
  });

  it('shows the end of its console: files that are cut short', async () => {
    const initramfs = join(place.work, 'initramfs');
    writeFileSync(initramfs, readFileSync(files.initramfs).subarray(0, 1_000_000));
    await expect(bootGuest({ ...options, files: { ...files, initramfs } })).rejects.toMatchObject({
      code: 'boot_failed',
      message: expect.stringContaining('Kernel panic'),
    });
  });

  it('is late', async () => {
    await expect(bootGuest({ ...options, files, deadlineMs: 300 })).rejects.toMatchObject({
      code: 'late',
      exit: 75,
      message: expect.stringContaining('was not ready within 0.3 s'),
    });
  });

  it('with KVM does with emulation', async () => {
    const said: string[] = [];
    const guest = await bootGuest({
      files,
      accelerations: ['kvm', 'emulation'],
      say: (line) => said.push(line),
    });
    await guest.stop();
    // Where KVM works, there is nothing to say.
    expect(said).toHaveLength(guest.acceleration === 'kvm' ? 0 : 1);
    expect(isAlive(guest.pid)).toBe(false);
  });

  it('tells the packages that are missing', async () => {
    const bare = { PATH: place.work };
    const { status, stderr } = await place.rdmatool(['lab', 'run', 'roce', '--', 'true'], {
      env: { ...bare, XDG_CACHE_HOME: place.work },
    });
    expect([status, stderr]).toEqual([69, expect.stringContaining('apt install')]);
  });

  const commandOf = (pid: number): string =>
    existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
});
