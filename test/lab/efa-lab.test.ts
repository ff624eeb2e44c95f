/** Lab efa under programs that know nothing of it: ibv_devinfo, ibv_devices, rdma, and a C program of our own. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fullGidText, guidText } from '../../src/abi/ib-types.ts';
import { COMPILER_FLAGS, interposer, interposerSource } from '../../src/lab/efa/interposer.ts';
import {
  EFA_MODELS,
  type EfaLab,
  type EfaLabOptions,
  prepareEfaLab,
  withEfaLab,
} from '../../src/lab/efa/lab.ts';
import {
  answers,
  type DevinfoDevice,
  parseDevinfo,
  RDMATOOL,
  REPOSITORY,
  runIn,
  startLabRun,
  TreePlace,
  Workshop,
} from './efa/tools.ts';
import { foreign } from './support/json.ts';

const workshop = new Workshop();
const place = new TreePlace();
let probe = '';
const labs: EfaLab[] = [];

beforeAll(() => {
  place.use();
  probe = workshop.compile('probe', { file: join(import.meta.dirname, 'efa/probe.c') }, [
    '-libverbs',
    '-lpthread',
    '-ldl',
  ]);
});
afterAll(() => {
  workshop.remove();
  place.remove();
});
afterEach(async () => {
  for (const lab of labs.splice(0)) await lab.remove();
});

async function lab(options: EfaLabOptions = {}): Promise<EfaLab> {
  const made = await prepareEfaLab(options);
  labs.push(made);
  return made;
}

function output(made: EfaLab, command: readonly string[], environment: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = runIn(made, command, environment);
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

const ask = (made: EfaLab, ...args: string[]) => answers(output(made, [probe, ...args]));
const one = (found: Map<string, string[]>, key: string) => found.get(key)?.[0];

function devinfo(made: EfaLab): Map<string, DevinfoDevice> {
  return parseDevinfo(output(made, ['ibv_devinfo', '-v']));
}

describe('ibv_devinfo, unmodified', () => {
  it.each(EFA_MODELS.map(({ name }) => name))('prints the values of %s', async (model) => {
    const name = model === 'rxe' ? 'rxe0' : 'rdmap0s6';
    const made = await lab({ devices: [`${name}:${model}`] });
    const profile = made.devices[0]?.profile;
    if (profile === undefined) throw new Error('no device');
    const printed = devinfo(made).get(name);
    const { query_device: device, query_device_ex: extended } = profile;
    // Texts as ibv_devinfo words them.
    const hex = (value: number | bigint, digits = 0) => `0x${value.toString(16).padStart(digits, '0')}`;
    const expected: { [key: string]: string } = {
      transport: model === 'rxe' ? 'InfiniBand (0)' : 'unspecified (4)',
      fw_ver: model === 'rxe' ? '0.0.0' : '0.0.0.0',
      vendor_id: hex(device.vendor_id, 4),
      vendor_part_id: String(device.vendor_part_id),
      hw_ver: `0x${device.hw_ver.toString(16).toUpperCase()}`,
      phys_port_cnt: '1',
      max_mr_size: hex(device.max_mr_size),
      page_size_cap: hex(device.page_size_cap),
      device_cap_flags: hex(device.device_cap_flags, 8),
      num_comp_vectors: String(profile.context.num_comp_vectors),
      device_cap_flags_ex: `0x${extended.device_cap_flags_ex.toString(16).toUpperCase()}`,
    };
    const counts = [
      'max_qp',
      'max_qp_wr',
      'max_sge',
      'max_sge_rd',
      'max_cq',
      'max_cqe',
      'max_mr',
      'max_pd',
    ] as const;
    const more = [
      'max_qp_rd_atom',
      'max_res_rd_atom',
      'max_qp_init_rd_atom',
      'max_mw',
      'max_mcast_grp',
      'max_ah',
      'max_srq',
      'max_pkeys',
      'local_ca_ack_delay',
    ] as const;
    for (const key of [...counts, ...more]) expected[key] = String(device[key]);
    expect(Object.fromEntries([...(printed?.lines ?? [])].filter(([key]) => key in expected))).toEqual(
      expected,
    );

    const port = profile.ports[0]?.query_port;
    if (port === undefined) throw new Error('no port');
    const codes = (text: string | undefined) => Number(/\((\d+)\)$/.exec(text ?? '')?.[1]);
    const lines = printed?.ports[0];
    expect(printed?.ports).toHaveLength(1);
    expect(codes(lines?.get('state'))).toBe(port.state);
    expect(codes(lines?.get('max_mtu'))).toBe(port.max_mtu);
    expect(codes(lines?.get('active_mtu'))).toBe(port.active_mtu);
    expect(codes(lines?.get('active_width'))).toBe(port.active_width);
    expect(codes(lines?.get('active_speed'))).toBe(port.active_speed);
    expect(codes(lines?.get('max_vl_num'))).toBe(port.max_vl_num);
    expect(lines?.get('link_layer')).toBe(model === 'rxe' ? 'Ethernet' : 'Unspecified');
    expect(lines?.get('port_lmc')).toBe(hex(port.lmc, 2));
    expect(lines?.get('max_msg_sz')).toBe(hex(port.max_msg_sz));
    expect(lines?.get('port_cap_flags')).toBe(hex(port.port_cap_flags, 8));
    expect(lines?.get('gid_tbl_len')).toBe(String(port.gid_tbl_len));
    expect(lines?.get('pkey_tbl_len')).toBe(String(port.pkey_tbl_len));
    if (model === 'rxe') {
      expect(lines?.get('GID[0]')).toMatch(/^fe80::.*, RoCE v2$/);
      expect(lines?.get('GID[1]')).toMatch(/^::ffff:198\.18\.0\.0, RoCE v2$/);
    } else {
      // No type behind it.
      expect(lines?.get('GID[0]')).toMatch(/^fe80:0000:0000:0000(:[0-9a-f]{4}){4}$/);
    }
  });

  it('finds all devices of an instance, each with a GUID and a GID of its own', async () => {
    const made = await lab({ instance: 'p5.48xlarge' });
    expect(made.summary).toContain('p5.48xlarge: 32 x efa2');
    const found = devinfo(made);
    expect([...found.keys()]).toEqual(made.devices.map(({ name }) => name));
    expect(new Set([...found.values()].map(({ lines }) => lines.get('node_guid'))).size).toBe(32);
    expect(new Set([...found.values()].map(({ ports }) => ports[0]?.get('GID[0]'))).size).toBe(32);
    for (const [name, { lines, ports }] of found) {
      const sysfs = (path: string) =>
        readFileSync(join(made.sysfs, 'class/infiniband', name, path), 'utf8').trim();
      expect(lines.get('node_guid')).toBe(sysfs('node_guid'));
      expect(ports[0]?.get('GID[0]')).toBe(sysfs('ports/1/gids/0'));
    }
  });

  it('shows a profile file with two ports, and EFA beside soft RoCE', async () => {
    const file = join(workshop.directory, 'two.json');
    writeFileSync(
      file,
      JSON.stringify({
        extends: 'efa2',
        query_device: { max_qp: 77 },
        ports: [{}, { query_port: { lid: 7, state: 1, active_width: 8 }, gids: [{ gid: 'fe80::7' }] }],
        node_guid: '0242:acff:fe11:0002',
        sysfs: { board_id: 'TEST0001' },
      }),
    );
    const found = devinfo(await lab({ devices: [`two:${file}`, 'rxe7:rxe'] }));
    expect([...found.keys()]).toEqual(['two', 'rxe7']);
    const two = found.get('two');
    expect(two?.lines.get('phys_port_cnt')).toBe('2');
    expect(two?.lines.get('max_qp')).toBe('77');
    expect(two?.lines.get('node_guid')).toBe('0242:acff:fe11:0002');
    expect(two?.lines.get('board_id')).toBe('TEST0001');
    expect(two?.ports.map((port) => port.get('state'))).toEqual(['PORT_ACTIVE (4)', 'PORT_DOWN (1)']);
    expect(two?.ports[1]?.get('port_lid')).toBe('7');
    expect(two?.ports[1]?.get('active_width')).toBe('12X (8)');
    expect(two?.ports[1]?.get('GID[0]')).toBe(
      fullGidText(Uint8Array.from([0xfe, 0x80, ...Array(13).fill(0), 7])),
    );
  });
});

describe('other programs', () => {
  it('ibv_devices lists the devices, over netlink and over sysfs', async () => {
    const devices = ['rdmap9s0:efa0', 'rdmap10s0:efa2', 'rxe0:rxe'];
    const overNetlink = output(await lab({ devices }), ['ibv_devices']);
    const overSysfs = output(await lab({ devices, faults: ['no-netlink'] }), ['ibv_devices']);
    const names = (text: string) =>
      text
        .split('\n')
        .slice(2)
        .map((line) => line.trim().split(/\s+/)[0] ?? '')
        .filter((name) => name !== '');
    expect(names(overNetlink)).toEqual(['rdmap9s0', 'rdmap10s0', 'rxe0']);
    expect(names(overSysfs).sort()).toEqual(names(overNetlink).sort());
  });

  it('libibverbs gets the index of a device over netlink only', async () => {
    const devices = ['rdmap9s0:efa0', 'rdmap10s0:efa2'];
    expect(one(ask(await lab({ devices }), 'list'), 'rdmap10s0')).toBe('1');
    expect(one(ask(await lab({ devices, faults: ['no-netlink'] }), 'list'), 'rdmap10s0')).toBe('-1');
  });

  it.runIf(existsSync('/usr/bin/rdma'))('rdma shows devices and links', async () => {
    const made = await lab({ devices: ['rdmap0s6:efa2', 'rxe0:rxe'] });
    expect(foreign(output(made, ['rdma', '-j', 'link']))).toMatchObject([
      { ifindex: 0, ifname: 'rdmap0s6', port: 1, state: 'ACTIVE', physical_state: 'LINK_UP' },
      { ifindex: 1, ifname: 'rxe0', port: 1, state: 'ACTIVE', physical_state: 'LINK_UP', netdev: 'eth0' },
    ]);
    const guid = readFileSync(join(made.sysfs, 'class/infiniband/rdmap0s6/node_guid'), 'utf8').trim();
    expect(foreign<object[]>(output(made, ['rdma', '-j', 'dev']))[0]).toMatchObject({
      ifname: 'rdmap0s6',
      node_guid: guid,
      sys_image_guid: guidText(0n),
    });
    expect(runIn(made, ['rdma', 'dev', 'show', 'none0']).status).not.toBe(0);
  });

  it('256 devices fit into netlink answers', async () => {
    const devices = Array.from({ length: 256 }, (_, index) => `efa_${index}:efa2`);
    const found = ask(await lab({ devices }), 'list');
    expect(one(found, 'count')).toBe('256');
    expect(one(found, 'efa_255')).toBe('255');
  });

  it('objects can be made: protection domain, memory region, address handle', async () => {
    const found = ask(await lab(), 'objects', 'rdmap0s6');
    for (const key of ['pd', 'mr', 'ah', 'destroy', 'dereg', 'dealloc', 'close']) {
      expect(new Set(found.get(key)), key).toEqual(new Set(['0']));
    }
    for (const key of ['pds-differ', 'lkeys-differ', 'ahs-differ']) expect(one(found, key), key).toBe('1');
    // No event comes, and both descriptors of a context are closed with it.
    expect(one(found, 'event')).toBe('0');
    expect(one(found, 'leaked-objects')).toBe('0');
    expect(one(found, 'closed')).toBe('2');
  });

  it('devices are opened from eight threads at once, each with its own answers, and nothing leaks', async () => {
    const found = ask(await lab({ instance: 'p5.48xlarge' }), 'threads', '8', '10');
    expect(one(found, 'failures')).toBe('0');
    expect(one(found, 'leaked')).toBe('0');
  });

  it('Node with koffi opens all devices asynchronously', async () => {
    const script = `
      const koffi = require('koffi');
      const verbs = koffi.load('libibverbs.so.1');
      const list = verbs.func('void **ibv_get_device_list(_Out_ int *n)');
      const name = verbs.func('const char *ibv_get_device_name(void *d)');
      const open = verbs.func('void *ibv_open_device(void *d)');
      const close = verbs.func('int ibv_close_device(void *c)');
      const access = koffi.load(null).func('int access(const char *path, int mode)');
      const n = [0];
      const devices = koffi.decode(list(n), koffi.array('void *', n[0]));
      Promise.all(devices.map((d) => new Promise((done) => open.async(d, (error, c) => done(c)))))
        .then((contexts) => {
          console.log(devices.map(name).join(' '));
          console.log(contexts.every((c) => c && close(c) === 0), access('/dev/infiniband/uverbs3', 6));
        });`;
    const file = join(REPOSITORY, 'node_modules', `.efa-lab-test-${process.pid}.cjs`);
    writeFileSync(file, script);
    try {
      const made = await lab({ instance: 'p4d.24xlarge' });
      expect(output(made, [process.execPath, file])).toBe(
        'rdmap16s27 rdmap32s27 rdmap144s27 rdmap160s27\ntrue 0\n',
      );
    } finally {
      spawnSync('rm', ['-f', file]);
    }
  });

  it('children of shells are in the lab, and a program that is not about RDMA runs as ever', async () => {
    const made = await lab();
    expect(output(made, ['sh', '-c', '(ibv_devices) | cat'])).toContain('rdmap0s6');
    expect(
      output(made, [
        'sh',
        '-c',
        'ls -l /proc/self/fd | wc -l; stat -c %t:%T /dev/null; cat /sys/class/infiniband/rdmap0s6/ports/1/state',
      ]),
    ).toMatch(/^\d+\n1:3\n4: ACTIVE\n$/);
  });

  it('GID queries answer as the kernel does', async () => {
    const made = await lab({ devices: ['rdmap0s6:efa2', 'rxe0:rxe'] });
    const efa = ask(made, 'query', 'rdmap0s6');
    expect(efa.get('gid')?.map((text) => text.split(' ').slice(0, 3).join(' '))).toEqual(['1 0 0']);
    expect(one(efa, 'query_port.200')).toBe('EINVAL');
    // The table does not fit; there is no such index.
    expect(one(efa, 'query_gid_table.0')).toBe('EINVAL');
    expect(one(efa, 'query_gid_ex.5000')).toBe('EINVAL');
    const rxe = ask(made, 'query', 'rxe0');
    expect(rxe.get('gid')?.map((text) => text.split(' ').slice(0, 3).join(' '))).toEqual(['1 0 2', '1 1 2']);
    // An empty slot of a longer table.
    expect(one(rxe, 'query_gid_ex.last')).toBe('ENODATA');
  });
});

describe('device nodes', () => {
  const NODE = '/dev/infiniband/uverbs0';

  it('look and work as character devices', async () => {
    const found = Object.fromEntries(ask(await lab(), 'node', NODE));
    expect(found).toEqual({
      'access.exists': ['0'],
      'access.use': ['0'],
      'faccessat.use': ['0'],
      'euidaccess.use': ['0'],
      'access.execute': ['EACCES'],
      stat: ['020666 231:192 0:0'],
      lstat: ['020666'],
      statx: ['020666 231:192 0:0'],
      open: ['0'],
      fstat: ['020666 231:192'],
      'other-ioctl': ['ENOTTY'],
      mmap: ['zero'],
      openat: ['0'],
      // A descriptor's number is free for /dev/null afterwards.
      after: ['1:3'],
    });
  });

  it('are found by device number too, and by no other name', async () => {
    const made = await lab();
    expect(one(ask(made, 'node', '/dev/char/231:192'), 'open')).toBe('0');
    for (const path of [
      '/dev/infiniband/uverbs1',
      '/dev/infiniband/uverbs00',
      '/dev/infiniband/uverbs',
      '/dev/char/231:193',
    ]) {
      expect(one(ask(made, 'node', path), 'open'), path).toBe('ENOENT');
    }
  });

  it('are listed in their directory', async () => {
    const found = ask(
      await lab({ devices: ['a:efa2', 'b:efa2'], faults: ['a:no-node'] }),
      'directory',
      '/dev/infiniband',
    );
    expect(found.get('entry')).toEqual(['uverbs1']);
    expect(one(found, 'scandir')).toBe('1');
  });

  it('that may not be opened say so in every way', async () => {
    const found = ask(await lab({ faults: ['*:open=EACCES'] }), 'node', NODE);
    for (const key of ['access.use', 'faccessat.use', 'euidaccess.use', 'open', 'openat'])
      expect(one(found, key), key).toBe('EACCES');
    expect(one(found, 'access.exists')).toBe('0');
    expect(one(found, 'stat')).toBe('020600 231:192 0:0');
    expect(one(found, 'statx')).toBe('020600 231:192 0:0');
  });

  it('that fail for another reason are still permitted', async () => {
    const found = ask(await lab({ faults: ['*:open=ENODEV'] }), 'node', NODE);
    expect([one(found, 'access.use'), one(found, 'open'), one(found, 'stat')]).toEqual([
      '0',
      'ENODEV',
      '020666 231:192 0:0',
    ]);
  });

  it('that do not exist are nowhere', async () => {
    const found = ask(await lab({ faults: ['rdmap0s6:no-node'] }), 'node', NODE);
    for (const key of ['access.exists', 'access.use', 'stat', 'lstat', 'statx', 'open', 'openat'])
      expect(one(found, key), key).toBe('ENOENT');
  });

  it.runIf(process.getuid?.() === 0)('of mode 0600 are closed to other users', async () => {
    // Root's own cache is closed to others, and so would the library be.
    chmodSync(workshop.directory, 0o755);
    const environment = { ...process.env, XDG_CACHE_HOME: join(workshop.directory, 'open-cache') };
    const made = await lab({ faults: ['*:mode=0600'], environment });
    expect(one(ask(made, 'node', NODE), 'open')).toBe('0');
    const other = runIn(made, [
      'setpriv',
      '--reuid=65534',
      '--regid=65534',
      '--clear-groups',
      probe,
      'node',
      NODE,
    ]);
    const found = answers(other.stdout);
    expect([one(found, 'access.use'), one(found, 'open'), one(found, 'statx')]).toEqual([
      'EACCES',
      'EACCES',
      '020600 231:192 0:0',
    ]);
  });
});

describe('faults', () => {
  it('a node that does not exist takes its device from the list', async () => {
    const made = await lab({ devices: ['a:efa2', 'b:efa2'], faults: ['a:no-node'] });
    expect([...devinfo(made).keys()]).toEqual(['b']);
  });

  it.each([
    // libibverbs looks into /dev/char as well, and tells what it found there; where there is a /dev/char, after 5 s.
    ['open=EMFILE', { open: existsSync('/dev/char') ? 'EMFILE' : 'ENOENT' }],
    ['context=EIO', { open: 'EIO' }],
    ['query-device=EIO', { open: '0', query_device: 'EIO', query_device_ex: 'EIO', query_port: '0' }],
    ['query-port=ENODEV', { query_device: '0', query_port: 'ENODEV', query_gid_ex: '0' }],
    ['gid-table=ENOMEM', { query_port: '0', query_gid_table: 'ENOMEM', query_gid_ex: '0' }],
    ['gid-entry=EBUSY', { query_gid_table: '0', query_gid_ex: 'EBUSY' }],
  ])('%s', async (fault, expected) => {
    const made = await lab({ devices: ['a:efa2', 'b:efa2'], faults: [`a:${fault}`] });
    const found = ask(made, 'query', 'a');
    for (const [key, value] of Object.entries(expected)) expect(one(found, key), key).toBe(value);
    const healthy = ask(made, 'query', 'b');
    for (const key of [
      'open',
      'query_device',
      'query_device_ex',
      'query_port',
      'query_gid_table',
      'query_gid_ex',
    ]) {
      expect(one(healthy, key), key).toBe('0');
    }
  });

  it('query-device holds for soft RoCE too', async () => {
    const found = ask(
      await lab({ devices: ['rxe0:rxe'], faults: ['rxe0:query-device=EIO'] }),
      'query',
      'rxe0',
    );
    expect([one(found, 'open'), one(found, 'query_device')]).toEqual(['0', 'EIO']);
  });

  it('ibv_devinfo reports a device that fails', async () => {
    const made = await lab({ faults: ['*:query-port=EIO'] });
    const { status, stdout, stderr } = runIn(made, ['ibv_devinfo']);
    expect(status).not.toBe(0);
    expect(stdout + stderr).toMatch(/Failed to query port/);
  });

  it('guid=0 is a zero GUID everywhere', async () => {
    const made = await lab({ faults: ['*:guid=0'] });
    expect(devinfo(made).get('rdmap0s6')?.lines.get('node_guid')).toBe('0000:0000:0000:0000');
    expect(output(made, ['ibv_devices'])).toContain('0000000000000000');
  });

  it('delay makes opening slow, side by side', async () => {
    const made = await lab({ devices: ['a:efa2', 'b:efa2'], faults: ['*:delay=300'] });
    const started = performance.now();
    output(made, [probe, 'query', 'a']);
    expect(performance.now() - started).toBeGreaterThanOrEqual(300);
  });

  it.each([
    ['no-provider', '0', '0'],
    ['no-module', 'ENOSYS', '-1'],
    ['no-driver', 'ENOSYS', '-1'],
    ['no-device', '0', '0'],
  ])('%s: the list is %s, %s devices', async (fault, error, count) => {
    const found = ask(await lab({ faults: [fault] }), 'list');
    expect([one(found, 'list'), one(found, 'count')]).toEqual([error, count]);
  });

  it('caps are the bits that efadv makes its own of', async () => {
    const program = workshop.compile(
      'efadv',
      {
        text: `
          #include <infiniband/efadv.h>
          #include <stdio.h>
          int main(void) {
            struct ibv_device **list = ibv_get_device_list(NULL);
            struct efadv_device_attr attr;
            int error = efadv_query_device(ibv_open_device(list[0]), &attr, sizeof attr);
            printf("%d %#x %u %u %u %u %u %u\\n", error, attr.device_caps, attr.max_sq_wr, attr.max_rq_wr,
                   attr.max_sq_sge, attr.max_rq_sge, attr.inline_buf_size, attr.max_rdma_size);
          }`,
      },
      ['-lefa', '-libverbs'],
    );
    const made = await lab({ faults: ['*:caps=0x80000003'] });
    const profile = made.devices[0]?.profile.efa;
    const { max_sq_wr, max_rq_wr, max_sq_sge, max_rq_sge, max_rdma_size } = profile?.query_device ?? {};
    // RDMA_READ is bit 0 in the kernel and in efadv, RNR_RETRY bit 1; the highest bit has no name in either.
    expect(output(made, [program])).toBe(
      `0 0x3 ${max_sq_wr} ${max_rq_wr} ${max_sq_sge} ${max_rq_sge} ${profile?.alloc_ucontext.inline_buf_size} ${max_rdma_size}\n`,
    );
  });

  it('hidden libraries and symbols are missing as any other is', async () => {
    const outside = answers(spawnSync(probe, ['loader', 'libnone.so.1'], { encoding: 'utf8' }).stdout);
    const made = await lab({ faults: ['hide-library=libefa.so.1', 'hide-symbol=ibv_query_device'] });
    const library = ask(made, 'loader', 'libefa.so.1');
    expect(one(library, 'dlopen')).toBe(one(outside, 'dlopen')?.replace('libnone.so.1', 'libefa.so.1'));
    expect(one(library, 'dlerror')).toBe('none');
    const symbol = ask(made, 'loader', 'libibverbs.so.1', 'ibv_query_device');
    const missing = ask(made, 'loader', 'libibverbs.so.1', 'ibv_query_none');
    expect(one(symbol, 'dlopen')).toBe('found');
    expect(one(symbol, 'dlsym')).toBe(one(missing, 'dlsym')?.replace('ibv_query_none', 'ibv_query_device'));
    expect(one(ask(made, 'loader', 'libibverbs.so.1', 'ibv_query_port'), 'dlsym')).toBe('found');
    expect(one(ask(await lab({ faults: ['no-provider'] }), 'loader', 'libefa.so.1'), 'dlopen')).toContain(
      'No such file or directory',
    );
  });

  it('missing libraries keep their message', async () => {
    const outside = spawnSync(probe, ['loader', 'libnone.so.1'], { encoding: 'utf8' }).stdout;
    expect(output(await lab(), [probe, 'loader', 'libnone.so.1'])).toBe(outside);
  });
});

describe('the interposed library', () => {
  it('compiles without a warning', () => {
    const { status, stderr } = spawnSync(
      'gcc',
      [
        ...COMPILER_FLAGS,
        '-Wall',
        '-Wextra',
        '-Werror',
        '-o',
        join(workshop.directory, 'strict.so'),
        interposerSource(),
      ],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  it('leaves dlopen the search path of its caller', async () => {
    mkdirSync(join(workshop.directory, 'inner'));
    workshop.compile('inner/libinner.so', { text: 'int inner(void) { return 7; }' }, ['-shared', '-fPIC']);
    workshop.compile(
      'libouter.so',
      { text: '#include <dlfcn.h>\nint outer(void) { return dlopen("libinner.so", RTLD_NOW) != 0; }' },
      ['-shared', '-fPIC', '-Wl,-rpath,$ORIGIN/inner'],
    );
    const program = workshop.compile(
      'outer',
      { text: '#include <stdio.h>\nint outer(void);\nint main(void) { printf("%d\\n", outer()); }' },
      [join(workshop.directory, 'libouter.so'), `-Wl,-rpath,${workshop.directory}`],
    );
    expect(output(await lab(), [program])).toBe('1\n');
  });

  it('stands beside other interposed libraries, whichever looks for the next function', async () => {
    const other = workshop.compile(
      'libcount.so',
      {
        text: `
          #define _GNU_SOURCE
          #include <dlfcn.h>
          #include <stdarg.h>
          #include <stdio.h>
          static int count;
          int open(const char *path, int flags, ...) {
            int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
            count++;
            return next(path, flags, 0);
          }
          __attribute__((destructor)) static void report(void) { printf("count %d\\n", count); }`,
      },
      ['-shared', '-fPIC'],
    );
    const made = await lab({ environment: { ...process.env, LD_PRELOAD: other } });
    expect(made.env['LD_PRELOAD']).toMatch(new RegExp(`^[^:]+:${other}$`));
    const found = ask(made, 'node', '/dev/infiniband/uverbs0');
    expect(one(found, 'open')).toBe('0');
    // /dev/null went through both.
    expect(Number(one(found, 'count'))).toBeGreaterThanOrEqual(1);
  });

  it('does nothing without a lab', async () => {
    const made = await lab();
    const { LD_PRELOAD = '' } = made.env;
    const { stdout, status } = spawnSync(probe, ['node', '/dev/infiniband/uverbs77'], {
      encoding: 'utf8',
      env: { ...process.env, LD_PRELOAD, RDMATOOL_LAB_EFA: '/none' },
    });
    expect(status).toBe(0);
    expect(one(answers(stdout), 'open')).toBe('ENOENT');
  });

  describe('in the cache', () => {
    const cacheOf = (name: string): NodeJS.ProcessEnv => ({
      ...process.env,
      XDG_CACHE_HOME: join(workshop.directory, name),
    });
    const contents = (name: string) => readdirSync(join(workshop.directory, name, 'rdmatool'));

    it('is compiled once, even by several at a time', async () => {
      const environment = cacheOf('cache');
      const paths = await Promise.all(Array.from({ length: 4 }, () => interposer(environment)));
      expect(new Set(paths).size).toBe(1);
      expect(contents('cache')).toHaveLength(1);
      // Nothing is compiled a second time: the compiler would refuse.
      expect(await interposer(environment)).toBe(paths[0]);
    });

    it('has a place of its own for each compiler', async () => {
      const environment = cacheOf('compilers');
      await interposer(environment);
      const wrapper = join(workshop.directory, 'cc-wrapper');
      writeFileSync(wrapper, '#!/bin/sh\nexec gcc "$@"\n', { mode: 0o755 });
      await interposer({ ...environment, CC: `${wrapper} -g` });
      expect(contents('compilers')).toHaveLength(2);
    });

    it('may lie at a path that LD_PRELOAD cannot hold', async () => {
      const environment = cacheOf('with space:and colon');
      const found = await lab({ environment });
      expect(one(ask(found, 'list'), 'count')).toBe('1');
    });

    it('a missing compiler is an answer with the command that installs one', async () => {
      const empty = join(workshop.directory, 'empty');
      mkdirSync(empty);
      await expect(interposer({ ...cacheOf('none'), PATH: empty, CC: '' })).rejects.toMatchObject({
        name: 'LabError',
        code: 'no_compiler',
        message: expect.stringContaining('gcc, cc, clang'),
        hint: 'apt install gcc libc6-dev',
        exit: 69,
      });
    });

    it('a compiler that fails leaves nothing behind', async () => {
      const failing = join(workshop.directory, 'failing-cc');
      writeFileSync(failing, '#!/bin/sh\necho "no such header" >&2\nexit 3\n', { mode: 0o755 });
      await expect(interposer({ ...cacheOf('failing'), CC: failing })).rejects.toMatchObject({
        code: 'compiler_failed',
        message: expect.stringContaining('no such header'),
        exit: 69,
      });
      expect(contents('failing')).toEqual([]);
    });
  });
});

describe('options', () => {
  it.each<[string, EfaLabOptions, string]>([
    ['an unknown instance', { instance: 'p9.large' }, 'there is no instance type "p9.large"'],
    ['an unknown model', { devices: ['a:efa9'] }, 'there is no EFA model "efa9"'],
    ['a device without a model', { devices: ['a'] }, 'device "a"'],
    ['a name that is a path', { devices: ['../a:efa2'] }, 'device "../a:efa2"'],
    ['a name twice', { devices: ['a:efa2', 'a:efa0'] }, 'two devices have the name a'],
    ['soft RoCE under another name', { devices: ['a:rxe'] }, 'begins with rxe'],
    ['a fault of a device that there is not', { faults: ['b:open=EIO'] }, 'a fault is for b'],
    ['a profile that does not exist', { devices: ['a:./none.json'] }, './none.json'],
  ])('%s is refused before anything is made', async (_, options, message) => {
    await expect(prepareEfaLab(options)).rejects.toMatchObject({
      name: 'LabError',
      exit: 2,
      message: expect.stringContaining(message),
    });
    expect(place.trees()).toEqual([]);
  });
});

describe('a lab', () => {
  it('is removed with its tree, also when the work in it fails', async () => {
    let directory = '';
    await expect(
      withEfaLab({}, async (made) => {
        directory = made.directory;
        expect(existsSync(join(directory, 'sys/class/infiniband/rdmap0s6'))).toBe(true);
        throw new Error('work');
      }),
    ).rejects.toThrow('work');
    expect(existsSync(directory)).toBe(false);
  });

  it('two at once know nothing of each other', async () => {
    const [first, second] = await Promise.all([lab({ devices: ['a:efa0'] }), lab({ devices: ['b:efa2'] })]);
    expect([...devinfo(first).keys()]).toEqual(['a']);
    expect([...devinfo(second).keys()]).toEqual(['b']);
  });
});

describe('rdmatool lab run efa', () => {
  /** Runs to the end and checks that the tree is gone. */
  async function run(...args: string[]) {
    const ended = await startLabRun(args).ended;
    expect(place.trees()).toEqual([]);
    return ended;
  }

  it('runs a program with its output and exit status, and says that it is a lab', async () => {
    const { status, stdout, stderr } = await run(
      '--instance',
      'p4d.24xlarge',
      '--',
      'sh',
      '-c',
      'ibv_devices; exit 7',
    );
    expect(status).toBe(7);
    expect(stdout).toContain('rdmap160s27');
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(/simulated devices \(p4d\.24xlarge: 4 x efa1\)/),
    ]);
  });

  it('makes its tree where temporary files are, if nobody says otherwise', async () => {
    const { stdout, status } = await startLabRun(
      ['--', 'sh', '-c', 'echo "$SYSFS_PATH"; ls "$SYSFS_PATH/class"'],
      {
        TMPDIR: undefined,
      },
    ).ended;
    expect(status).toBe(0);
    const [root = '', ...classes] = stdout.trim().split('\n');
    expect(classes).toEqual(['infiniband', 'infiniband_verbs']);
    expect(root).toMatch(/^\/(dev\/shm|tmp)\/rdmatool-efa-\w+\/sys$/);
    expect(existsSync(root)).toBe(false);
  });

  it('has rdmatool itself on the path', async () => {
    const { stdout } = await run(
      '--',
      'sh',
      '-c',
      'command -v rdmatool && readlink -f "$(command -v rdmatool)"',
    );
    expect(stdout.trim().split('\n')[1]).toBe(RDMATOOL);
  });

  it.each([
    ['a program that is not found', ['--', '/none/program'], 127],
    ['a command that is not found', ['--', 'no-such-command-here'], 127],
    ['a file that is not executable', ['--', interposerSource()], 126],
    ['a program that kills itself', ['--', 'sh', '-c', 'kill -SEGV $$'], 139],
  ])('%s', async (_, args, status) => {
    expect((await run(...args)).status).toBe(status);
  });

  it('a wrong option is an error of its own', async () => {
    const { status, stderr } = await run('--fault', 'nonsense', '--', 'true');
    expect(status).toBe(2);
    expect(stderr).toContain('there is no fault "nonsense"');
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('passes %s on and removes the tree', async (signal, status) => {
    const running = startLabRun(['--', 'sh', '-c', 'echo ready; exec sleep 60']);
    await running.said('ready');
    expect(place.trees()).toHaveLength(1);
    running.kill(signal);
    expect((await running.ended).status).toBe(status);
    expect(place.trees()).toEqual([]);
  });

  it('lets the program answer a signal in its own way', async () => {
    const running = startLabRun([
      '--',
      'sh',
      '-c',
      'trap "echo caught; exit 5" TERM; echo ready; while :; do sleep 0.05; done',
    ]);
    await running.said('ready');
    running.kill('SIGTERM');
    const { status, stdout } = await running.ended;
    expect([status, stdout]).toEqual([5, 'ready\ncaught\n']);
    expect(place.trees()).toEqual([]);
  });

  it('a signal at any moment of setting up leaves nothing behind', async () => {
    for (const [index, wait] of [5, 30, 45, 60, 75, 90, 105, 120, 150, 200].entries()) {
      const running = startLabRun(['--instance', 'p5.48xlarge', '--', 'sleep', '30']);
      await new Promise((resolve) => setTimeout(resolve, wait));
      running.kill(index % 2 === 0 ? 'SIGTERM' : 'SIGINT');
      const { status, signal } = await running.ended;
      // Before Node listens to signals, the signal itself ends the process.
      expect(status ?? signal).toBeOneOf([143, 130, 'SIGTERM', 'SIGINT']);
    }
    expect(place.trees()).toEqual([]);
  });

  it('a signal while the library is compiled leaves nothing behind', async () => {
    const slow = join(workshop.directory, 'slow-cc');
    writeFileSync(slow, '#!/bin/sh\nexec sleep 30\n', { mode: 0o755 });
    const cache = join(workshop.directory, 'slow-cache');
    const running = startLabRun(['--', 'true'], { CC: slow, XDG_CACHE_HOME: cache });
    while (!existsSync(join(cache, 'rdmatool'))) await new Promise((resolve) => setTimeout(resolve, 10));
    running.kill('SIGTERM');
    expect((await running.ended).status).toBe(143);
    expect(place.trees()).toEqual([]);
    expect(readdirSync(join(cache, 'rdmatool'))).toEqual([]);
  });

  it('two at once', async () => {
    const both = [
      startLabRun(['--device', 'a:efa0', '--', 'ibv_devices']),
      startLabRun(['--device', 'b:efa2', '--', 'ibv_devices']),
    ];
    const [first, second] = await Promise.all(both.map(({ ended }) => ended));
    expect(first?.stdout).toMatch(/\ba\b/);
    expect(second?.stdout).toMatch(/\bb\b/);
    expect(place.trees()).toEqual([]);
  });

  it('takes TMPDIR where it is set, through a symbolic link too', async () => {
    const real = join(workshop.directory, 'real-tmp');
    const linked = join(workshop.directory, 'linked-tmp');
    mkdirSync(real);
    symlinkSync(real, linked);
    const { stdout, status } = await startLabRun(['--', 'sh', '-c', 'ls "$SYSFS_PATH/class"; ibv_devices'], {
      TMPDIR: linked,
    }).ended;
    expect(status).toBe(0);
    expect(stdout).toContain('rdmap0s6');
    expect(readdirSync(real)).toEqual([]);
  });
});
