/** Machines that are not as machines should be. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { EfaLab } from '../../../src/lab/efa/lab.ts';
import { INCLUDE_PATH, RELEASE } from '../support/generation.ts';
import { deviceOf, lab, ownLab, testFolder } from '../support/labs.ts';
import { list, queryDevice, RDMATOOL, rdmatool, run } from '../support/rdmatool.ts';
import { checkDocument } from '../support/schemas.ts';

const isRoot = process.getuid?.() === 0;

/** A lab that a test may break. */
async function broken<T>(devices: readonly string[], work: (place: EfaLab) => Promise<T>): Promise<T> {
  const place = await ownLab({ devices });
  try {
    return await work(place);
  } finally {
    await place.remove();
  }
}

describe.concurrent('sysfs', () => {
  it.each([
    ['nowhere', '/nowhere', 'SYSFS_PATH is "/nowhere"'],
    ['an empty path', '', 'SYSFS_PATH is ""'],
    ['a relative path', 'somewhere', 'SYSFS_PATH is somewhere'],
  ])('SYSFS_PATH leads to %s: it is named', async (_what, path, says) => {
    const { status, document } = await queryDevice([], { env: { SYSFS_PATH: path } });
    expect(status).toBe(69);
    expect(document.error?.message).toContain(says);
    expect(document.error?.hint).toContain('unset SYSFS_PATH');
  });

  it('lacks every attribute of a device: verbs answer all the same', async () => {
    await broken(['rdmap0s6:efa2', 'rdmap1s6:efa2'], async (place) => {
      const directory = join(place.sysfs, 'class/infiniband/rdmap0s6/');
      for (const name of ['node_type', 'node_guid', 'sys_image_guid', 'node_desc', 'fw_ver', 'device']) {
        rmSync(join(directory, name), { recursive: true, force: true });
      }
      rmSync(join(directory, 'ports'), { recursive: true });
      const { status, document } = await queryDevice([], { lab: place });
      expect(status).toBe(0);
      expect(document.devices[0]).toMatchObject({
        name: 'rdmap0s6',
        ports: [{ port: 1, error: null }],
        efa: { max_sq_wr: 4096 },
        sysfs: { driver: null, pci_address: null, ports: [], uverbs: 'uverbs0' },
      });
      expect((await list([], { lab: place })).status).toBe(0);
    });
  });

  it('has directories in place of attributes, and what is no port among the ports', async () => {
    await broken(['rdmap0s6:efa2'], async (place) => {
      const directory = join(place.sysfs, 'class/infiniband/rdmap0s6');
      for (const name of ['node_desc', 'fw_ver']) {
        unlinkSync(join(directory, name));
        mkdirSync(join(directory, name));
      }
      mkdirSync(join(directory, 'ports/backup'));
      writeFileSync(join(directory, 'ports/2'), '');
      writeFileSync(join(directory, 'device/numa_node'), 'none\n');
      writeFileSync(join(directory, 'device/uevent'), '\n=\nDRIVER\n');
      const { status, document } = await queryDevice([], { lab: place });
      expect(status).toBe(0);
      expect(document.devices[0]?.sysfs).toMatchObject({
        node_desc: null,
        numa_node: null,
        driver: 'efa',
        ports: [{ port: 1 }, { port: 2, state: null }],
      });
    });
  });

  it.runIf(isRoot)('may not be read by this user', async ({ skip }) => {
    const anybody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    const readable = await run([...anybody, 'test', '-r', RDMATOOL, '-a', '-r', INCLUDE_PATH]);
    if (readable.status !== 0) skip('the program, or rdma-core, lies where only root can read');
    chmodSync(testFolder(), 0o755);
    const environment = { ...process.env, XDG_CACHE_HOME: testFolder(), TMPDIR: testFolder() };
    const place = await ownLab({ environment });
    try {
      chmodSync(place.directory, 0o755);
      const device = join(place.sysfs, 'class/infiniband/rdmap0s6');
      for (const name of ['node_guid', 'node_desc', 'ports/1/state']) chmodSync(join(device, name), 0);
      const outcome = await run([...anybody, process.execPath, RDMATOOL, 'query-device', '--json'], {
        lab: place,
      });
      expect(checkDocument(outcome.stdout)).toMatchObject({
        error: null,
        devices: [{ name: 'rdmap0s6', sysfs: { ports: [{ state: null }] } }],
      });
    } finally {
      await place.remove();
    }
  });

  it('loses a device while it is looked at', async () => {
    await broken(['rdmap0s6:efa2', 'rdmap1s6:efa2'], async (place) => {
      const entry = join(place.sysfs, 'class/infiniband/rdmap0s6');
      expect(lstatSync(entry).isSymbolicLink()).toBe(true);
      rmSync(entry);
      const { status, document } = await queryDevice([], { lab: place });
      // libibverbs has it from the kernel, or it is gone for both; the other one is whole either way.
      expect(status).toBe(0);
      expect(document.devices.at(-1)).toMatchObject({ name: 'rdmap1s6', error: null });
    });
  });
});

/** In a mount namespace of its own, where a test may unmount what it likes. */
async function inNamespace(preparation: string, args: readonly string[], place: EfaLab | null = null) {
  const words = [process.execPath, RDMATOOL, ...args].map((word) => `'${word}'`).join(' ');
  return run(['unshare', '-m', 'sh', '-ec', `${preparation}\nexec ${words}`], { lab: place });
}

const canUnshare = isRoot && (await run(['unshare', '-m', 'umount', '-l', '/proc'])).status === 0;

describe.runIf(canUnshare)('the file system', () => {
  it('has no /proc: everything works, but the libraries do not tell their files', async () => {
    const outcome = await inNamespace('umount -l /proc', ['query-device', '--json'], await lab());
    expect(outcome.status).toBe(0);
    const document = checkDocument(outcome.stdout);
    expect(document).toMatchObject({
      libraries: { libibverbs: { path: null, version: null }, libefa: { path: null, version: null } },
      devices: [
        {
          name: 'rdmap0s6',
          error: null,
          efa: { caps: { RDMA_READ: true, RDMA_WRITE: RELEASE >= 46 ? true : null } },
        },
      ],
    });
    const people = await inNamespace('umount -l /proc', ['query-device'], await lab());
    expect(people.stdout).toContain(`RDMA read yes, RDMA write ${RELEASE >= 46 ? 'yes' : 'unknown'}`);
    expect(people.stdout).not.toContain('null');
  });

  it('has no /sys: that is the cause', async () => {
    const outcome = await inNamespace('umount -R -l /sys', ['query-device']);
    expect(outcome).toMatchObject({ status: 69, stdout: '' });
    expect(outcome.stderr).toContain('there is no sysfs at /sys');
    expect(outcome.stderr).toContain('mount -t sysfs');
  });

  it('has no /etc/passwd and no /etc/group: owners are numbers', async () => {
    const outcome = await inNamespace(
      'mount --bind /dev/null /etc/passwd; mount --bind /dev/null /etc/group',
      ['query-device', '--json'],
      await lab(),
    );
    expect(outcome.status).toBe(0);
    expect(checkDocument(outcome.stdout)).toMatchObject({
      devices: [{ sysfs: { uverbs_node: { owner: '0', group: '0', mode: '0666', accessible: true } } }],
    });
  });

  it('has no os-release: packages have the names of Debian, and that is said', async () => {
    const hidden =
      'for f in /etc/os-release /usr/lib/os-release; do mount --bind /dev/null "$(readlink -f $f)"; done';
    const outcome = await inNamespace(hidden, ['query-device'], await lab({ faults: ['no-provider'] }));
    expect(outcome.status).toBe(69);
    expect(outcome.stderr).toContain("install ibverbs-providers (Debian's names; part of rdma-core)");
  });

  it.each([
    ['fedora', 'ID=fedora\n', 'dnf install libibverbs'],
    ['Amazon Linux', 'ID="amzn"\nID_LIKE="fedora"\n', 'dnf install libibverbs'],
    ['openSUSE', 'ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', 'zypper install libibverbs'],
    ['Arch', 'ID=arch\n', 'pacman -S rdma-core'],
    ['Ubuntu', 'ID=ubuntu\nID_LIKE=debian\n', 'apt install ibverbs-providers'],
  ])('is that of %s', async (name, text, command) => {
    const file = join(testFolder(), `os-release-${name.replace(' ', '-')}`);
    writeFileSync(file, text);
    const outcome = await inNamespace(
      `mount --bind ${file} "$(readlink -f /etc/os-release)"`,
      ['query-device'],
      await lab({ faults: ['no-provider'] }),
    );
    expect(outcome.stderr).toContain(command);
  });
});

describe.concurrent('the environment', () => {
  const args = ['query-device', '--json'];

  it.each([
    ['is empty', {}],
    [
      'has a cache that cannot be written and no home',
      { XDG_CACHE_HOME: '/proc/1/none', HOME: '/nonexistent' },
    ],
    ['has another language', { LANG: 'C', LC_ALL: 'C' }],
    ['has a language that is not installed', { LANG: 'tlh_KL.UTF-8', LC_ALL: 'tlh_KL.UTF-8' }],
    ['has a terminal of no size', { COLUMNS: '0', LINES: '0' }],
  ])('%s', async (_what, env) => {
    const place = await lab();
    const { PATH: _, ...variables } = place.env;
    const outcome = await run(
      [
        'env',
        '-i',
        ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
        process.execPath,
        RDMATOOL,
        ...args,
      ],
      { env: { LD_PRELOAD: undefined } },
    );
    expect(checkDocument(outcome.stdout).error?.code).toBe('NO_DEVICE');
    const inLab = Object.entries({ ...env, ...variables });
    const simulated = await run([
      'env',
      '-i',
      ...inLab.map(([name, value]) => `${name}=${value}`),
      process.execPath,
      RDMATOOL,
      ...args,
    ]);
    expect(simulated).toMatchObject({ status: 0, stderr: '' });
    expect(checkDocument(simulated.stdout)).toMatchObject({ devices: [{ name: 'rdmap0s6' }] });
  });

  it('is a directory that has been removed', async () => {
    const command = `d=$(mktemp -d); cd "$d"; rmdir "$d"; exec '${process.execPath}' '${RDMATOOL}' list`;
    const outcome = await run(['sh', '-c', command], { lab: await lab() });
    expect(outcome).toMatchObject({ status: 0, stderr: '' });
    expect(outcome.stdout).toContain('rdmap0s6');
  });

  it('allows few open files: devices are opened a few at a time', async () => {
    const place = await lab({ instance: 'p5.48xlarge' });
    const command = `ulimit -n 48; exec '${process.execPath}' '${RDMATOOL}' query-device --json`;
    const outcome = await run(['bash', '-c', command], { lab: place });
    expect(outcome.status).toBe(0);
    expect(checkDocument(outcome.stdout)).toMatchObject({ error: null });
  });

  it('is started through a symbolic link, as npm link makes one', async () => {
    const { PATH } = (await lab()).env;
    const outcome = await run(['sh', '-c', 'rdmatool list'], { lab: await lab(), env: { PATH } });
    expect(outcome.stdout).toContain('rdmap0s6');
  });
});

describe('a lot', () => {
  it('of devices: 256', async () => {
    const devices = Array.from({ length: 256 }, (_, index) => `rdmap${index}s${index % 30}:efa2`);
    const place = await lab({ devices });
    const { status, document } = await queryDevice([], { lab: place });
    expect(status).toBe(0);
    expect(document.devices.map(({ name }) => name)).toEqual(devices.map((name) => name.split(':')[0]));
    expect(document.devices.every(({ error, efa }) => error === null && efa !== null)).toBe(true);
    const lines = (await rdmatool(['list'], { lab: place })).stdout.trimEnd().split('\n');
    expect(lines.length).toBe(257);
  });

  const port = (number: number, gids: number) => ({
    query_port: {
      state: 4,
      phys_state: 5,
      link_layer: 2,
      active_width: 2,
      active_speed: 32,
      gid_tbl_len: 1024,
      pkey_tbl_len: 128,
    },
    gids: Array.from({ length: gids }, (_, index) => ({
      gid: `2001:db8:${number}::${(index + 1).toString(16)}`,
      type: 'RoCE v2',
      netdev: 'eth0',
    })),
    pkeys: Array.from({ length: 128 }, (_, index) => 0x8000 + index + 1),
  });

  it.each([
    ['1024 on each of two ports, more than one call can fetch', 1024],
    ['3 in tables of 1024', 3],
  ])('of GIDs: %s', async (_what, gids) => {
    const profile = { extends: 'rxe', ports: [port(1, gids), port(2, gids)] };
    const place = await lab({ devices: [deviceOf('rxe0', profile)] });
    const { status, document } = await queryDevice([], { lab: place });
    expect(status).toBe(0);
    const ports = document.devices[0]?.ports ?? [];
    expect(ports.map((one) => one.gids?.length)).toEqual([gids, gids]);
    expect(ports.map((one) => one.pkeys?.length)).toEqual([128, 128]);
    expect(ports[1]?.gids?.at(-1)).toMatchObject({
      index: gids - 1,
      gid: `2001:db8:2::${gids.toString(16)}`,
      netdev: 'eth0',
      type: { name: 'ROCE_V2' },
    });
    const { stdout } = await rdmatool(['query-device'], { lab: place });
    expect(stdout.match(/GID \d+/g)?.length).toBe(2 * Math.min(gids, 8));
    expect(stdout.includes(`${gids - 8} more GIDs: -v shows them`)).toBe(gids > 8);
    const second = await queryDevice(['-i', '2'], { lab: place });
    expect(second.document.devices[0]?.ports).toEqual([ports[1]]);
  });

  it('of ports: 100', async () => {
    const small = { query_port: { state: 4, link_layer: 2, gid_tbl_len: 1, pkey_tbl_len: 1 }, gids: [{}] };
    const profile = { extends: 'rxe', ports: Array.from({ length: 100 }, () => small) };
    const place = await lab({ devices: [deviceOf('rxe0', profile)] });
    const { status, document } = await queryDevice([], { lab: place });
    expect(status).toBe(0);
    expect(document.devices[0]?.ports.map((one) => one.port)).toEqual(
      Array.from({ length: 100 }, (_, i) => i + 1),
    );
    const { stdout } = await rdmatool(['list'], { lab: place });
    expect(stdout).toContain('ACTIVE x100');
  });
});

it('the tests know what they run', () => {
  expect(existsSync(RDMATOOL)).toBe(true);
  expect(readFileSync(RDMATOOL, 'utf8')).toContain('dist/main.cjs');
});
