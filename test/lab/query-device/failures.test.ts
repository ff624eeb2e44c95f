/** What goes wrong with the machine or a device, and what the user gets. */
import { chmodSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { EfaLab } from '../../../src/lab/efa/lab.ts';
import type { QueryDeviceResult } from '../../../src/model/query-device.ts';
import { expectFailure } from '../support/failure-cases.ts';
import { INCLUDE_PATH, RELEASE } from '../support/generation.ts';
import { deviceOf, lab, ownLab, testFolder, withFaults } from '../support/labs.ts';
import { queryDevice, RDMATOOL, rdmatool, run } from '../support/rdmatool.ts';
import { checkDocument } from '../support/schemas.ts';

const INSTALL = /\b(apt|dnf|zypper|pacman|apk) |^install /;

/** What sysfs knows of the device is shown although verbs say nothing. */
const sysfsOf = (place: EfaLab) => ({
  name: place.devices[0]?.name,
  sysfs: { driver: 'efa', uverbs: 'uverbs0' },
});

/** Devices without the name of the call that told the GIDs. */
const sameBut = (devices: QueryDeviceResult['devices']) =>
  devices.map((device) => ({ ...device, ports: device.ports.map(({ gids_from: _, ...port }) => port) }));

describe.concurrent('libraries', () => {
  it('without libibverbs: which library, which package', async () => {
    const place = await withFaults('hide-library=libibverbs.so.1');
    const { document } = await expectFailure([], place, {
      status: 69,
      code: 'NO_LIBRARY',
      errno: null,
      says: ['libibverbs.so.1 cannot be loaded', /cannot open shared object file/],
      next: [INSTALL, 'libibverbs1', 'ibverbs-providers'],
    });
    expect(document.devices).toMatchObject([sysfsOf(place)]);
    expect(document.libraries.libibverbs).toMatchObject({ path: null, version: null });
    expect(document.libraries.libibverbs.unavailable['path']).toContain('libibverbs.so.1');
  });

  it('without libibverbs and without hardware: a lab is offered too', async () => {
    await expectFailure([], await withFaults('no-driver', 'hide-library=libibverbs.so.1'), {
      status: 69,
      code: 'NO_LIBRARY',
      errno: null,
      says: ['libibverbs.so.1 cannot be loaded'],
      next: [INSTALL, 'rdmatool lab run efa'],
    });
  });

  it('without libefa under its name: the copy that serves the device answers', async () => {
    const { status, document } = await queryDevice([], {
      lab: await withFaults('hide-library=libefa.so.1'),
    });
    expect(status).toBe(0);
    expect(document.devices[0]?.efa?.max_sq_wr).toBe(4096);
  });

  it('without any libefa, while libibverbs serves: all but the EFA part, and the package', async () => {
    const { document: whole } = await queryDevice([], { lab: await lab() });
    const file = whole.libraries.libefa.path?.split('/').at(-1) ?? '';
    const place = await withFaults('hide-library=libefa.so.1', `hide-library=${file}`);
    const { document } = await expectFailure([], place, {
      status: 69,
      code: 'NO_LIBRARY',
      errno: null,
      says: ['rdmap0s6', 'EFA capabilities are unknown', 'libefa', 'cannot open shared object file'],
      next: [INSTALL, 'ibverbs-providers'],
    });
    const [device] = document.devices;
    expect(device?.efa).toBeNull();
    expect(device?.unavailable['efa']).toContain('libefa');
    expect(device?.attributes).toEqual(whole.devices[0]?.attributes);
    expect(device?.ports).toEqual(whole.devices[0]?.ports);
    expect(document.libraries.libefa).toMatchObject({ path: null, version: null });
    // `list` needs no libefa.
    const short = await rdmatool(['list'], { lab: place });
    expect(short).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    ['ibv_get_device_list', 'libibverbs.so.1'],
    ['ibv_open_device', 'libibverbs.so.1'],
  ])('a libibverbs without %s', async (symbol, library) => {
    await expectFailure([], await withFaults(`hide-symbol=${symbol}`), {
      status: 69,
      code: 'NO_SYMBOL',
      errno: null,
      says: [library, symbol],
      next: [INSTALL],
    });
  });

  it('a libefa without efadv_query_device', async () => {
    const { document } = await expectFailure([], await withFaults('hide-symbol=efadv_query_device'), {
      status: 69,
      code: 'NO_SYMBOL',
      errno: null,
      says: ['rdmap0s6', 'libefa', 'efadv_query_device'],
      next: [INSTALL, 'rdma-core 26'],
    });
    expect(document.devices[0]?.unavailable['efa']).toContain('efadv_query_device');
    expect(document.devices[0]?.ports.length).toBe(1);
  });

  it.each([['ibv_close_device'], ['ibv_free_device_list'], ['_ibv_query_gid_table']])(
    '%s is not needed for the answer',
    async (symbol) => {
      const all = await queryDevice([], { lab: await lab() });
      const without = await queryDevice([], { lab: await withFaults(`hide-symbol=${symbol}`) });
      expect(without.status).toBe(0);
      expect(sameBut(without.document.devices)).toEqual(sameBut(all.document.devices));
    },
  );

  it('before rdma-core 32 GIDs come one by one, with their types from sysfs', async () => {
    const devices = ['rxe0:rxe', 'rdmap0s6:efa2'];
    const all = await queryDevice([], { lab: await lab({ devices }) });
    const old = await queryDevice([], {
      lab: await lab({
        devices,
        faults: ['hide-symbol=_ibv_query_gid_table', 'hide-symbol=_ibv_query_gid_ex'],
      }),
    });
    expect(old.status).toBe(0);
    expect(sameBut(old.document.devices)).toEqual(sameBut(all.document.devices));
    expect(old.document.devices[0]?.ports[0]?.gids_from).toBe('ibv_query_gid');
  });

  it('a libibverbs without ibv_query_pkey: the P_Keys are null, with the reason', async () => {
    const { status, document } = await queryDevice([], {
      lab: await withFaults('hide-symbol=ibv_query_pkey'),
    });
    expect(status).toBe(0);
    expect(document.devices[0]?.ports[0]).toMatchObject({
      pkeys: null,
      unavailable: { pkeys: 'libibverbs.so.1 has no ibv_query_pkey' },
    });
  });
});

describe.concurrent('the kernel and the card', () => {
  it('no provider for a device that sysfs shows', async () => {
    const place = await withFaults('no-provider');
    const { document } = await expectFailure([], place, {
      status: 69,
      code: 'NO_PROVIDER',
      errno: null,
      says: ['rdmap0s6', 'no provider', 'driver efa'],
      next: [INSTALL, 'ibverbs-providers', '/etc/libibverbs.d'],
    });
    expect(document.devices).toMatchObject([sysfsOf(place)]);
  });

  const card = 'a card newer than the provider, on a kernel that does not name its driver';
  it.runIf(RELEASE < 64)(`${card}: which release it needs`, async () => {
    const place = await lab({ devices: ['rdmap0s6:efa4'], faults: ['no-netlink'] });
    await expectFailure([], place, {
      status: 69,
      code: 'NO_PROVIDER',
      errno: null,
      says: ['rdmap0s6', '0xefa4', 'needs rdma-core 64', /this is \d+/],
      next: ['newer'],
    });
  });

  it('the module ib_uverbs is not loaded', async () => {
    const place = await withFaults('no-module');
    const { document } = await expectFailure([], place, {
      status: 69,
      code: 'NO_MODULE',
      errno: 'ENOSYS',
      says: ['rdmap0s6', 'ib_uverbs is not loaded', 'ibv_get_device_list: ENOSYS (38)'],
      next: ['modprobe ib_uverbs', 'as root'],
    });
    expect(document.devices).toMatchObject([{ name: 'rdmap0s6', sysfs: { driver: 'efa', uverbs: null } }]);
  });

  it("a card without its driver's module: which card, which module", async () => {
    const { document } = await expectFailure([], await withFaults('no-driver'), {
      status: 69,
      code: 'NO_MODULE',
      errno: null,
      says: ['no RDMA device', 'PCI 0000:00:06.0', 'Elastic Fabric Adapter', 'module efa is not loaded'],
      next: ['modprobe efa'],
    });
    expect(document.devices).toEqual([]);
  });

  it('the modules are loaded and there is no card', async () => {
    await expectFailure([], await withFaults('no-device'), {
      status: 69,
      code: 'NO_DEVICE',
      errno: null,
      says: ['no RDMA device'],
      next: ['rdmatool doctor', 'rdmatool lab run efa -- rdmatool query-device'],
    });
  });

  it('asking by name on a machine without a device says why there is none', async () => {
    const { document } = await expectFailure(['rdmap0s6'], await withFaults('no-driver'), {
      status: 69,
      code: 'NO_MODULE',
      errno: null,
      says: ['rdmap0s6', 'no RDMA device', 'module efa is not loaded'],
      next: ['modprobe efa'],
    });
    expect(document.devices).toMatchObject([{ name: 'rdmap0s6', error: { code: 'NO_MODULE' } }]);
  });
});

describe.concurrent('names and ports', () => {
  const instance = 'p4d.24xlarge';

  it('an unknown device: the nearest ones', async () => {
    const { document } = await expectFailure(['rdmap16s28'], await lab({ instance }), {
      status: 69,
      code: 'UNKNOWN_DEVICE',
      errno: null,
      says: ['rdmap16s28: there is no RDMA device of that name'],
      next: ['did you mean rdmap16s27', 'rdmatool list'],
    });
    expect(document.devices).toMatchObject([{ name: 'rdmap16s28', error: { code: 'UNKNOWN_DEVICE' } }]);
  });

  it('a name like no other: all there are', async () => {
    await expectFailure(['mlx5_bond_0'], await lab({ instance }), {
      status: 69,
      code: 'UNKNOWN_DEVICE',
      errno: null,
      says: ['mlx5_bond_0'],
      next: ['the devices are: rdmap16s27, rdmap32s27, rdmap144s27, rdmap160s27'],
    });
  });

  it.each([
    ['uverbs1', 'uverbs1 is the device node of rdmap32s27'],
    ['/dev/infiniband/uverbs1', '/dev/infiniband/uverbs1 is the device node of rdmap32s27'],
    ['0000:20:1b.0', '0000:20:1b.0 is the PCI address of rdmap32s27'],
    ['RDMAP32S27', 'did you mean rdmap32s27'],
  ])('%s is another name of a device', async (name, hint) => {
    await expectFailure([name], await lab({ instance }), {
      status: 69,
      code: 'UNKNOWN_DEVICE',
      errno: null,
      says: [name],
      next: [hint],
    });
  });

  it('an unknown device beside a known one hides nothing', async () => {
    const { document } = await expectFailure(['rdmap16s27', 'nosuch'], await lab({ instance }), {
      status: 1,
      code: 'SOME_DEVICES_FAILED',
      errno: null,
      says: ['1 of 2 devices failed', 'nosuch: there is no RDMA device of that name'],
      next: ['the devices are:'],
    });
    expect(document.devices).toMatchObject([
      { name: 'rdmap16s27', error: null, ports: [{ port: 1 }] },
      { name: 'nosuch', error: { code: 'UNKNOWN_DEVICE' }, ports: [] },
    ]);
  });

  it('a port that does not exist: how many there are, and the device all the same', async () => {
    const { document } = await expectFailure(['-i', '2', 'rdmap16s27'], await lab({ instance }), {
      status: 1,
      code: 'NO_SUCH_PORT',
      errno: null,
      says: ['rdmap16s27: there is no port 2'],
      next: ['one port, 1'],
    });
    expect(document.devices).toMatchObject([{ ports: [], attributes: { vendor_part_id: 0xefa1 } }]);
  });

  it('a port that exists is shown alone', async () => {
    const port = { query_port: { state: 4, gid_tbl_len: 2, pkey_tbl_len: 1, link_layer: 1 }, gids: [{}] };
    const place = await lab({
      devices: [deviceOf('rdmap0s6', { extends: 'efa2', ports: [port, port, port] })],
    });
    const { document } = await queryDevice(['--ib-port', '2'], { lab: place });
    expect(document.devices[0]?.ports.map((one) => [one.port, one.gids?.length])).toEqual([[2, 1]]);
    const none = await queryDevice(['-i', '4'], { lab: place });
    expect(none.document.error).toMatchObject({ code: 'NO_SUCH_PORT', hint: 'the device has ports 1 to 3' });
  });
});

describe.concurrent('the node under /dev/infiniband', () => {
  it('is missing', async () => {
    const place = await withFaults('rdmap0s6:no-node');
    const { document } = await expectFailure([], place, {
      status: 69,
      code: 'NO_NODE',
      errno: null,
      says: ['rdmap0s6', '/dev/infiniband/uverbs0', 'does not exist'],
      next: ['docker run --device=/dev/infiniband/uverbs0', 'Kubernetes', 'udevadm trigger'],
    });
    expect(document.devices[0]?.sysfs).toMatchObject({
      uverbs: 'uverbs0',
      uverbs_node: { path: '/dev/infiniband/uverbs0', mode: null, owner: null, accessible: false },
    });
  });

  it('may not be opened: the node, its mode and owner, what to do', async () => {
    const { document } = await expectFailure([], await withFaults('rdmap0s6:open=EACCES'), {
      status: 77,
      code: 'NO_PERMISSION',
      errno: 'EACCES',
      says: [
        'rdmap0s6',
        '/dev/infiniband/uverbs0',
        'EACCES (13), permission denied',
        'mode 0600, owner root:root',
      ],
      next: ['run as root', '0666'],
    });
    expect(document.devices[0]?.sysfs.uverbs_node).toMatchObject({ mode: '0600', accessible: false });
    expect(document.devices[0]?.node_guid).toMatch(/^[0-9a-f:]{19}$/);
  });

  it('is refused by a container, whatever its mode says', async () => {
    await expectFailure([], await withFaults('rdmap0s6:open=EPERM'), {
      status: 77,
      code: 'NO_PERMISSION',
      errno: 'EPERM',
      says: ['rdmap0s6', '/dev/infiniband/uverbs0', 'EPERM (1)', 'mode 0666'],
      next: ['cgroup', 'docker run --device=/dev/infiniband/uverbs0'],
    });
  });

  it.runIf(process.getuid?.() === 0)('is closed to a user who is not root', async ({ skip }) => {
    const anybody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    const readable = await run([...anybody, 'test', '-r', RDMATOOL, '-a', '-r', INCLUDE_PATH]);
    if (readable.status !== 0) skip('the program, or rdma-core, lies where only root can read');
    // What a lab compiles and makes is in places of root's own otherwise.
    chmodSync(testFolder(), 0o755);
    const environment = { ...process.env, XDG_CACHE_HOME: testFolder(), TMPDIR: testFolder() };
    const place = await ownLab({ faults: ['rdmap0s6:mode=0600'], environment });
    try {
      chmodSync(place.directory, 0o755);
      const command = [process.execPath, RDMATOOL, 'query-device', '--json'];
      const outcome = await run([...anybody, ...command], { lab: place });
      expect(outcome.status).toBe(77);
      expect(checkDocument(outcome.stdout)).toMatchObject({
        error: {
          code: 'NO_PERMISSION',
          errno: { value: 13, name: 'EACCES' },
          message: expect.stringContaining('/dev/infiniband/uverbs0'),
        },
        devices: [
          { name: 'rdmap0s6', sysfs: { uverbs_node: { mode: '0600', owner: 'root', accessible: false } } },
        ],
      });
      // Root itself is not bound by the mode.
      expect((await queryDevice([], { lab: place })).status).toBe(0);
    } finally {
      await place.remove();
    }
  });

  it.each(['EIO', 'ENOMEM', 'EMFILE', 'EBUSY'] as const)(
    "cannot be opened: the kernel's own %s, and at once",
    async (name) => {
      const place = await withFaults(`rdmap0s6:open=${name}`);
      const { milliseconds } = await expectFailure([], place, {
        status: 1,
        code: 'OPEN_FAILED',
        errno: name,
        says: ['rdmap0s6', '/dev/infiniband/uverbs0', `${name} (${constants.errno[name]})`],
        next: ['dmesg'],
      });
      // libibverbs would look for another node for 5 s.
      expect(milliseconds).toBeLessThan(4000);
    },
  );

  it.each(['ENXIO', 'ENODEV'] as const)('the device went away between list and open: %s', async (name) => {
    await expectFailure([], await withFaults(`rdmap0s6:open=${name}`), {
      status: 1,
      code: 'OPEN_FAILED',
      errno: name,
      says: ['rdmap0s6', '/dev/infiniband/uverbs0', name],
      next: ['went away', 'dmesg'],
    });
  });

  it('opens, and the driver refuses a context', async () => {
    await expectFailure([], await withFaults('rdmap0s6:context=ENOSPC'), {
      status: 1,
      code: 'OPEN_FAILED',
      errno: 'ENOSPC',
      says: ['rdmap0s6', '/dev/infiniband/uverbs0', 'ibv_open_device', 'ENOSPC (28)'],
      next: ['dmesg'],
    });
  });
});

describe.concurrent('one device of several', () => {
  it.each([
    ['no-node', 'NO_NODE', null],
    ['open=EACCES', 'NO_PERMISSION', 'EACCES'],
    ['open=EIO', 'OPEN_FAILED', 'EIO'],
    ['query-device=EIO', 'QUERY_FAILED', 'EIO'],
    ['query-port=EIO', 'QUERY_FAILED', 'EIO'],
  ])('fails (%s) and hides none of the others', async (fault, code, errno) => {
    const instance = 'p4d.24xlarge';
    const whole = await queryDevice([], { lab: await lab({ instance }) });
    const { document } = await expectFailure([], await lab({ instance, faults: [`rdmap32s27:${fault}`] }), {
      status: 1,
      code: 'SOME_DEVICES_FAILED',
      errno,
      says: ['1 of 4 devices failed', 'rdmap32s27'],
      next: [/./],
    });
    expect(document.devices.map(({ name, error }) => [name, error?.code ?? null])).toEqual([
      ['rdmap16s27', null],
      ['rdmap32s27', code],
      ['rdmap144s27', null],
      ['rdmap160s27', null],
    ]);
    for (const index of [0, 2, 3]) {
      expect(document.devices[index]).toEqual(whole.document.devices[index]);
    }
  });

  it('all fail in the same way: the exit status is that of each', async () => {
    const place = await lab({ instance: 'p5.48xlarge', faults: ['*:open=EACCES'] });
    const { document } = await expectFailure([], place, {
      status: 77,
      code: 'NO_PERMISSION',
      errno: 'EACCES',
      says: ['32 of 32 devices failed', 'rdmap79s0', '…', 'the first: rdmap79s0: /dev/infiniband/uverbs0'],
      next: ['run as root'],
    });
    expect(document.error?.message.length).toBeLessThan(400);
    expect(document.devices.every(({ error }) => error?.code === 'NO_PERMISSION')).toBe(true);
  });

  it('all fail, each in its own way', async () => {
    const place = await lab({
      devices: ['rdmap0s6:efa2', 'rdmap1s6:efa2'],
      faults: ['rdmap0s6:open=EACCES', 'rdmap1s6:no-node'],
    });
    await expectFailure([], place, {
      status: 1,
      code: 'SOME_DEVICES_FAILED',
      errno: null,
      says: ['2 of 2 devices failed: rdmap0s6, rdmap1s6'],
      next: ['rdmatool query-device NAME'],
    });
  });
});

describe.concurrent('queries that fail on an open device', () => {
  it('the device itself: its ports are shown all the same', async () => {
    const { document } = await expectFailure([], await withFaults('rdmap0s6:query-device=EIO'), {
      status: 1,
      code: 'QUERY_FAILED',
      errno: 'EIO',
      says: ['rdmap0s6', 'ibv_query_device_ex', 'EIO (5)'],
      next: ['dmesg'],
    });
    const [device] = document.devices;
    expect(device).toMatchObject({
      attributes: null,
      attributes_ex: null,
      ports: [{ port: 1, error: null }],
    });
    expect(device?.node_guid).toMatch(/^[0-9a-f:]{19}$/);
    expect(device?.unavailable['attributes']).toContain('EIO (5)');
  });

  it('a port', async () => {
    const { document } = await expectFailure([], await withFaults('rdmap0s6:query-port=ETIMEDOUT'), {
      status: 1,
      code: 'QUERY_FAILED',
      errno: 'ETIMEDOUT',
      says: ['rdmap0s6 port 1', 'ibv_query_port', 'ETIMEDOUT (110)'],
      next: ['dmesg'],
    });
    expect(document.devices[0]).toMatchObject({
      attributes: { vendor_part_id: 0xefa2 },
      ports: [{ port: 1, state: null, gids: null, error: { code: 'QUERY_FAILED' } }],
    });
  });

  it('the GID table as a whole: entry by entry, the same', async () => {
    const devices = ['rxe0:rxe'];
    const all = await queryDevice([], { lab: await lab({ devices }) });
    const single = await queryDevice([], { lab: await lab({ devices, faults: ['rxe0:gid-table=EINVAL'] }) });
    expect(single.status).toBe(0);
    expect(sameBut(single.document.devices)).toEqual(sameBut(all.document.devices));
    expect(single.document.devices[0]?.ports[0]?.gids_from).toBe('ibv_query_gid_ex');
  });

  it('GIDs altogether: null with the reason, in the table too', async () => {
    const place = await withFaults('rdmap0s6:gid-table=EIO', 'rdmap0s6:gid-entry=EIO');
    const { status, document } = await queryDevice([], { lab: place });
    expect(status).toBe(0);
    expect(document.devices[0]?.ports[0]?.gids).toBeNull();
    expect(document.devices[0]?.ports[0]?.unavailable['gids']).toMatch(/ibv_query_gid\w*: EIO \(5\)/);
    for (const args of [[], ['-v']]) {
      const { stdout } = await rdmatool(['query-device', ...args], { lab: place });
      expect(stdout).toMatch(
        /GIDs?\s+(unknown|unavailable): ibv_query_gid\w*: EIO \(5\), input\/output error/i,
      );
    }
  });
});

describe.concurrent('odd devices', () => {
  it('node_guid 0 on an EFA card: what it means, and no harm', async () => {
    const place = await lab({ instance: 'p4d.24xlarge', faults: ['*:guid=0'] });
    const { status, document } = await queryDevice([], { lab: place });
    expect(status).toBe(0);
    expect(document.devices.map(({ node_guid }) => node_guid)).toEqual(Array(4).fill('0000:0000:0000:0000'));
    expect(document.devices[0]?.notes.join()).toContain('r2.12');
    const { stdout } = await rdmatool(['query-device'], { lab: place });
    expect(stdout).toContain('node_guid is 0');
    // Said once for all, not four times.
    expect(stdout.match(/node_guid is 0/g)?.length).toBe(1);
  });

  it('node_guid 0 on another device: who cannot use it', async () => {
    const place = await lab({ devices: ['rxe0:rxe'], faults: ['rxe0:guid=0'] });
    const { document } = await queryDevice([], { lab: place });
    expect(document.devices[0]?.notes.join()).toContain('librdmacm');
  });

  it("Amazon's vendor id on a device that is not EFA: libefa's own word, and no failure", async () => {
    const profile = { extends: 'rxe', query_device: { vendor_id: 0x1d0f } };
    const place = await lab({ devices: [deviceOf('rxe0', profile), 'rdmap0s6:efa2'] });
    const { status, document } = await queryDevice([], { lab: place });
    expect(status).toBe(0);
    const other = document.devices.find(({ name }) => name === 'rxe0');
    expect(other).toMatchObject({ efa: null, error: null });
    expect(other?.unavailable['efa']).toBe(
      'efadv_query_device: EOPNOTSUPP (95), the operation is not supported by this device or driver: not an EFA device',
    );
    expect(document.devices.find(({ name }) => name === 'rdmap0s6')?.efa).not.toBeNull();
  });
});
