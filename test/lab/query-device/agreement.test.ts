/** query-device says what its peers say: the unmodified ibv_devinfo, and a C program on the same libraries. */
import { describe, expect, it } from 'vitest';
import { fullGidText, parseGid } from '../../../src/abi/ib-types.ts';
import { EFA_INSTANCES, EFA_MODELS, type EfaLab } from '../../../src/lab/efa/lab.ts';
import { type DevinfoDevice, type DevinfoEntry, parseDevinfo } from '../support/devinfo.ts';
import { DEVICE_LINES, type DevinfoLine, HEADINGS, PORT_LINES } from '../support/devinfo-lines.ts';
import { addFake, fakeDirectory } from '../support/fakes.ts';
import { fullProfile } from '../support/full-profile.ts';
import { LIBRARIES, OTHER_RDMA_CORE, RELEASE } from '../support/generation.ts';
import { deviceOf, lab } from '../support/labs.ts';
import { type Leaf, leavesOf, plain, shownValue } from '../support/leaves.ts';
import { type Answers, askPeer } from '../support/peer.ts';
import { queryDevice, rdmatool, run } from '../support/rdmatool.ts';
import { parseTable, type TableDevice } from '../support/table.ts';

type Device = Awaited<ReturnType<typeof queryDevice>>['document']['devices'][number];

/** The three views of a device: document, table, ibv_devinfo. */
interface Views {
  readonly device: Device;
  readonly table: TableDevice;
  readonly devinfo: DevinfoDevice;
}

async function viewsOf(place: EfaLab, env: NodeJS.ProcessEnv = {}): Promise<Views[]> {
  const [json, table, devinfo] = await Promise.all([
    queryDevice([], { lab: place, env }),
    rdmatool(['query-device', '-v'], { lab: place, env }),
    run(['ibv_devinfo', '-v'], { lab: place, env }),
  ]);
  expect([json.status, table.status, devinfo.status]).toEqual([0, 0, 0]);
  const tables = new Map(parseTable(table.stdout).map((one) => [one.name, one]));
  const infos = new Map(parseDevinfo(devinfo.stdout).map((one) => [one.name, one]));
  const names = json.document.devices.map(({ name }) => name);
  expect([...tables.keys()]).toEqual(names);
  expect([...infos.keys()].sort()).toEqual([...names].sort());
  return json.document.devices.map((device) => {
    const [own, peer] = [tables.get(device.name), infos.get(device.name)];
    if (!own || !peer) throw new Error(device.name);
    return { device, table: own, devinfo: peer };
  });
}

/** The table's cell of a path in a device, or in port N of it. */
function cell(table: TableDevice, path: string, port: number | null): string | undefined {
  if (port !== null) return table.sections.get(`Port ${port}`)?.get(path);
  const [part = '', ...rest] = path.split('.');
  const section = {
    attributes: 'Attributes (ibv_device_attr)',
    attributes_ex: 'Extended attributes (ibv_device_attr_ex)',
    comp_cntr_caps: 'Completion counters (ibv_comp_cntr_caps)',
    efa: 'EFA (efadv_device_attr)',
  }[part];
  if (section !== undefined) return table.sections.get(section)?.get(rest.join('.'));
  return table.sections.get('Device')?.get(part === 'sysfs' ? rest.join('.') : path);
}

/** What ibv_devinfo, the document and the table say, line by line. */
function compareLines(
  entries: readonly DevinfoEntry[],
  lines: Readonly<Record<string, DevinfoLine>>,
  leaves: ReadonlyMap<string, Leaf>,
  shown: (path: string) => string | undefined,
): void {
  const said = entries.filter(({ key, text }) => !(HEADINGS.includes(key) && text === ''));
  const theirs: Record<string, string> = {};
  const document: Record<string, string> = {};
  const table: Record<string, string> = {};
  for (const entry of said) {
    const line = lines[entry.key];
    if (line === undefined) throw new Error(`ibv_devinfo prints ${entry.key}, which is mapped to nothing`);
    const leaf = leaves.get(line.path);
    const cut = (value: string): string =>
      line.mask !== undefined && /^\d+$/.test(value) ? (BigInt(value) & line.mask).toString() : value;
    theirs[entry.key] = line.read(entry);
    document[entry.key] = cut(plain(leaf));
    table[entry.key] = cut(shownValue(shown(line.path), leaf));
  }
  expect(document).toEqual(theirs);
  expect(table).toEqual(theirs);
}

const whole = (gid: string): string => fullGidText(parseGid(gid) ?? new Uint8Array(16));
const GID_TYPE_WORDS: Readonly<Record<string, string>> = { ROCE_V1: 'RoCE v1', ROCE_V2: 'RoCE v2', IB: 'IB' };

function compareWithDevinfo({ device, table, devinfo }: Views): void {
  compareLines(devinfo.entries, DEVICE_LINES, leavesOf(device), (path) => cell(table, path, null));
  expect(device.ports.map(({ port }) => port)).toEqual(devinfo.ports.map(({ port }) => port));
  for (const peer of devinfo.ports) {
    const port = device.ports.find((one) => one.port === peer.port);
    if (!port) throw new Error(`no port ${peer.port}`);
    compareLines(peer.entries, PORT_LINES, leavesOf(port), (path) => cell(table, path, peer.port));
    // ibv_devinfo names the type only where it is not InfiniBand's.
    expect((port.gids ?? []).map(({ index, gid }) => [index, whole(gid)])).toEqual(
      peer.gids.map(({ index, gid }) => [index, whole(gid)]),
    );
    for (const { index, type } of peer.gids) {
      const own = port.gids?.find((gid) => gid.index === index);
      if (type !== null) expect(GID_TYPE_WORDS[own?.type?.name ?? '']).toBe(type);
    }
    const speed = peer.entries.find(({ key }) => key === 'active_speed')?.text ?? '';
    const width = peer.entries.find(({ key }) => key === 'active_width')?.text ?? '';
    if (!/invalid/.test(speed + width)) {
      expect(port.rate_gbps).toBeCloseTo(Number.parseFloat(speed) * Number.parseInt(width, 10), 5);
    }
  }
}

/** The `attr.*` and `port.*` of the C program as paths of the document. */
function compareWithPeer(
  answers: Answers,
  from: string,
  leaves: ReadonlyMap<string, Leaf>,
  to: string,
): void {
  const said = [...answers].filter(([path]) => path.startsWith(`${from}.`) && path !== `${from}.result`);
  expect(said.length).toBeGreaterThan(0);
  const inDocument = (path: string): string =>
    path.startsWith('orig_attr.') ? path.replace('orig_attr', 'attributes') : `${to}${path}`;
  const own = said.map(([path]) => [path, plain(leaves.get(inDocument(path.slice(from.length + 1))))]);
  expect(Object.fromEntries(own)).toEqual(Object.fromEntries(said));
}

const INLEN = 32;

async function compareWithProgram(place: EfaLab, views: readonly Views[], env: NodeJS.ProcessEnv = {}) {
  const peers = await askPeer(place, env);
  expect([...peers.keys()].sort()).toEqual(views.map(({ device }) => device.name).sort());
  for (const { device } of views) {
    const peer = peers.get(device.name);
    if (!peer) throw new Error(device.name);
    const leaves = leavesOf(device);
    expect(peer.device.get('attr.result')).toBe('0');
    compareWithPeer(peer.device, 'attr', leaves, 'attributes_ex.');
    for (const path of ['node_type', 'transport', 'num_comp_vectors']) {
      expect(plain(leaves.get(path))).toBe(peer.device.get(path));
    }
    expect(device.ports.length).toBe(peer.ports.length);
    device.ports.forEach((port, index) => {
      const answers = peer.ports[index] ?? new Map<string, string>();
      compareWithPeer(answers, 'port', leavesOf(port), '');
      const pkeys = [...answers].filter(([path]) => path.startsWith('pkey.'));
      const valid = pkeys.filter(([, value]) => (Number(value) & 0x7fff) !== 0);
      expect(port.pkeys?.map(({ index: slot, pkey }) => [`pkey.${slot}`, plain(pkey)])).toEqual(valid);
      for (const { pkey, membership } of port.pkeys ?? []) {
        expect(membership).toBe(Number(pkey) >= 0x8000 ? 'full' : 'limited');
      }
      const gids = [...answers].filter(([path]) => path.startsWith('gid.')).map(([, value]) => value);
      expect(port.gids?.map(({ gid, type }) => `${type?.value} ${whole(gid).replaceAll(':', '')}`)).toEqual(
        gids,
      );
    });
    // Whatever inlen the library took, the members that it filled are the same. The bit for RDMA read is filled only
    // where max_rdma_size is asked for too.
    for (const [inlen, answers] of peer.efa) {
      if (answers.get('efa.result') !== '0') continue;
      const filled = [...answers].filter(
        ([path, value]) => inlen >= INLEN || (value !== '0' && path !== 'efa.device_caps'),
      );
      compareWithPeer(new Map(filled), 'efa', leaves, 'efa.');
    }
    // What only newer libraries can tell.
    device.ports.forEach((port, index) => {
      const answers = peer.ports[index] ?? new Map<string, string>();
      const speed = answers.get('speed.result') === '0' ? Number(answers.get('speed.value')) / 10 : null;
      expect(port.effective_speed_gbps).toBe(speed);
    });
    if (peer.device.get('comp.result') === '0') {
      compareWithPeer(peer.device, 'comp', leaves, 'comp_cntr_caps.');
    } else expect(device.comp_cntr_caps).toBeNull();
    for (const key of ['max_sq_depth', 'max_rq_depth'] as const) {
      const depth = Number(peer.device.get(`depth.${key}`) ?? -1);
      expect(device.efa?.[key] ?? null).toBe(depth < 0 ? null : depth);
    }
    const works = [...peer.efa].filter(([, answers]) => answers.get('efa.result') === '0');
    if (works.length === 0) expect(device.efa).toBeNull();
    else {
      expect(peer.efa.get(device.efa?.inlen ?? 0)?.get('efa.result')).toBe('0');
      expect(device.efa?.inlen).toBe(INLEN);
    }
  }
}

describe('every model', () => {
  it.each(EFA_MODELS.map(({ name }) => name))('%s', async (model) => {
    const place = await lab({ devices: [`${model === 'rxe' ? 'rxe0' : 'rdmap0s6'}:${model}`] });
    const views = await viewsOf(place);
    for (const view of views) compareWithDevinfo(view);
    await compareWithProgram(place, views);
  });
});

describe('every instance type', () => {
  it.each(EFA_INSTANCES.map(({ name, devices }) => [name, devices.length] as const))(
    '%s: all of its %i devices',
    async (instance, count) => {
      const place = await lab({ instance });
      const views = await viewsOf(place);
      expect(views.length).toBe(count);
      for (const view of views) compareWithDevinfo(view);
      await compareWithProgram(place, views);
    },
  );
});

describe('a device with a value of its own in every field', () => {
  it.each(['efa', 'rxe'] as const)('of the provider %s', async (provider) => {
    const place = await lab({ devices: [deviceOf(`${provider}0`, fullProfile(provider))] });
    const views = await viewsOf(place);
    for (const view of views) compareWithDevinfo(view);
    await compareWithProgram(place, views);
  });

  it('shows P_Keys, GID types, network devices and IPv4 forms as the profile has them', async () => {
    const profile = fullProfile('rxe');
    const place = await lab({ devices: [deviceOf('rxe0', profile)] });
    const { document } = await queryDevice([], { lab: place });
    const [, second] = document.devices[0]?.ports ?? [];
    expect(second?.gids).toEqual([
      {
        index: 0,
        gid: 'fe80::2:1111:2222:3333',
        type: { value: 1, name: 'ROCE_V1' },
        netdev: 'eth2',
        ipv4: null,
      },
      {
        index: 1,
        gid: 'fe80::2:1111:2222:3333',
        type: { value: 2, name: 'ROCE_V2' },
        netdev: 'eth2',
        ipv4: null,
      },
      {
        index: 2,
        gid: '::ffff:10.20.2.40',
        type: { value: 1, name: 'ROCE_V1' },
        netdev: 'eth2',
        ipv4: '10.20.2.40',
      },
      {
        index: 3,
        gid: '::ffff:10.20.2.40',
        type: { value: 2, name: 'ROCE_V2' },
        netdev: 'eth2',
        ipv4: '10.20.2.40',
      },
      {
        index: 7,
        gid: '2001:db8:0:1:2:3:4:2',
        type: { value: 2, name: 'ROCE_V2' },
        netdev: 'vlan.200',
        ipv4: null,
      },
      { index: 36, gid: '2001:db8::2', type: { value: 2, name: 'ROCE_V2' }, netdev: 'bond2', ipv4: null },
    ]);
    expect(second?.pkeys).toEqual([
      { index: 0, pkey: '0xffff', membership: 'full' },
      { index: 1, pkey: '0x7fff', membership: 'limited' },
      { index: 3, pkey: '0x8002', membership: 'full' },
      { index: 4, pkey: '0x0002', membership: 'limited' },
      { index: 18, pkey: '0x8102', membership: 'full' },
    ]);
  });

  it('also where only drivers that are not here fill the fields: TSO, RSS hashes, packet pacing, PCI atomics', async () => {
    const fakes = fakeDirectory();
    // The program asks for what its release has.
    addFake(fakes, 'verbs', RELEASE);
    addFake(fakes, 'efa', RELEASE);
    const place = await lab();
    const json = await queryDevice([], { lab: place, env: fakes.env });
    const peer = (await askPeer(place, fakes.env)).get('rdmap0s6');
    const [device] = json.document.devices;
    expect(device?.error).toBeNull();
    if (!device || !peer) throw new Error('no device');
    compareWithPeer(peer.device, 'attr', leavesOf(device), 'attributes_ex.');
    device.ports.forEach((port, index) => {
      compareWithPeer(peer.ports[index] ?? new Map(), 'port', leavesOf(port), '');
    });
    const { tso_caps, rss_caps, packet_pacing_caps, pci_atomic_caps } = device.attributes_ex ?? {};
    const values = [...leavesOf({ tso_caps, rss_caps, packet_pacing_caps, pci_atomic_caps }).values()].map(
      plain,
    );
    expect(values).not.toContain('0');
    expect(new Set(values).size).toBe(values.length);
  });
});

describe('the table of -v and the document', () => {
  /** Reads every leaf of the document back from the table. */
  function compare({ device, table }: Pick<Views, 'device' | 'table'>): void {
    const { text } = table;
    const missing: string[] = [];
    const expectShown = (what: string, value: string): void => {
      if (!text.includes(value)) missing.push(`${what}: ${value}`);
    };
    const expectCell = (path: string, port: number | null, leaf: Leaf): void => {
      const shown = shownValue(cell(table, path, port), leaf);
      if (shown !== plain(leaf)) missing.push(`${path}: ${plain(leaf)} is shown as ${shown}`);
      // Names stand beside the numbers.
      if (leaf !== null && typeof leaf === 'object') {
        const words = cell(table, path, port)?.split(/[ :()]+/) ?? [];
        const named = 'flags' in leaf ? leaf.flags : [leaf.name ?? 'unknown'];
        for (const name of named) if (!words.includes(name)) missing.push(`${path}: ${name}`);
        if ('unknown' in leaf && leaf.unknown !== '0x0' && !words.includes(leaf.unknown)) {
          missing.push(`${path}: unknown ${leaf.unknown}`);
        }
      }
    };
    const { name, error, sysfs, ports, efa, attributes, attributes_ex, notes, unavailable, ...plainParts } =
      device;
    expect(table.name).toBe(name);
    expect(error).toBeNull();
    for (const note of notes) expectShown('notes', note);
    for (const [key, reason] of Object.entries(unavailable)) expectShown(key, reason);
    for (const [path, leaf] of leavesOf(plainParts)) {
      if (leaf !== null) expectCell(path, null, leaf);
    }
    for (const [path, leaf] of leavesOf({ attributes, attributes_ex })) expectCell(path, null, leaf);
    const { uverbs_node, uverbs, ports: kernelPorts, netdevs, ...own } = sysfs;
    for (const [path, leaf] of leavesOf(own)) if (leaf !== null) expectCell(`sysfs.${path}`, null, leaf);
    for (const netdev of netdevs) expectShown('netdevs', netdev);
    expectShown('uverbs', `/${uverbs}, `);
    for (const value of [
      uverbs_node?.path,
      `mode ${uverbs_node?.mode}`,
      `${uverbs_node?.owner}:${uverbs_node?.group}`,
    ]) {
      expectShown('uverbs_node', value ?? 'null');
    }
    expectShown('accessible', uverbs_node?.accessible ? ', accessible' : ', not accessible');
    for (const { port, ...shown } of kernelPorts) {
      for (const value of Object.values(shown)) {
        if (value !== null && !cell(table, 'sysfs', port)?.includes(value))
          missing.push(`sysfs port: ${value}`);
      }
    }
    if (efa) {
      const { caps, needs, verdict, unavailable: reasons, ...attr } = efa;
      expectShown('verdict', verdict);
      for (const [path, leaf] of leavesOf(attr)) expectCell(`efa.${path}`, null, leaf);
      for (const reason of Object.values(reasons)) expectShown('efa.unavailable', reason);
      for (const [cap, able] of Object.entries(caps)) {
        const shown = cell(table, `efa.${cap}`, null) ?? '';
        const word = able === null ? `unknown, needs ${Reflect.get(needs, cap)}` : able ? 'yes' : 'no';
        if (!shown.startsWith(word)) missing.push(`efa.caps.${cap}: ${word} is shown as ${shown}`);
      }
    }
    for (const port of ports) {
      const {
        gids,
        pkeys,
        unavailable: reasons,
        error: portError,
        port: number,
        speed,
        rate_gbps,
        ...attr
      } = port;
      expect(portError).toBeNull();
      for (const reason of Object.values(reasons)) expectShown(`port ${number}`, reason);
      for (const [path, leaf] of leavesOf(attr)) expectCell(path, number, leaf);
      expect(cell(table, 'rate', number)).toBe(
        `${rate_gbps} Gb/s (${attr.active_width?.name} ${speed?.name})`,
      );
      const rows = table.tables.get(`Port ${number}`) ?? [];
      const shownGids = rows.filter((row) => row.has('GID'));
      expect(shownGids.map((row) => [...row.values()])).toEqual(
        (gids ?? []).map(({ index, gid, type, netdev, ipv4 }) => [
          `${index}`,
          gid,
          GID_TYPE_WORDS[type?.name ?? ''],
          netdev ?? '-',
          ipv4 ?? '-',
        ]),
      );
      const shownPkeys = rows.filter((row) => row.has('P_KEY'));
      expect(shownPkeys.map((row) => [...row.values()])).toEqual(
        (pkeys ?? []).map(({ index, pkey, membership }) => [`${index}`, pkey, membership]),
      );
    }
    expect(missing).toEqual([]);
  }

  it('show the same, leaf by leaf', async () => {
    const devices = [
      deviceOf('full0', fullProfile('efa')),
      deviceOf('rxe0', fullProfile('rxe')),
      ...['efa0', 'efa1', 'efa2', 'efa3', 'efa4'].map((model, index) => `rdmap${index}s6:${model}`),
      'rxe1:rxe',
    ];
    const views = await viewsOf(await lab({ devices }));
    expect(views.length).toBe(devices.length);
    for (const view of views) compare(view);
  });

  it('show the same with newer libraries, which say more', async () => {
    const fakes = fakeDirectory();
    addFake(fakes, 'verbs', 65);
    addFake(fakes, 'efa', 65);
    const place = await lab();
    const json = await queryDevice([], { lab: place, env: fakes.env });
    const { stdout } = await rdmatool(['query-device', '-v'], { lab: place, env: fakes.env });
    const [device] = json.document.devices;
    const [table] = parseTable(stdout);
    if (!device || !table) throw new Error(stdout);
    expect(device.comp_cntr_caps?.max_counters).toBe(1234);
    compare({ device, table });
  });

  it('tells which libraries answered', async () => {
    const place = await lab();
    const { document } = await queryDevice([], { lab: place });
    const { stdout } = await rdmatool(['query-device', '-v'], { lab: place });
    for (const name of ['libibverbs', 'libefa'] as const) {
      const { path, version } = document.libraries[name];
      const found =
        OTHER_RDMA_CORE === undefined
          ? `$(ldconfig -p | sed -n 's|.*${name}.so.1 .*=> ||p' | head -1)`
          : `${LIBRARIES}/${name}.so.1`;
      const real = await run(['sh', '-c', `readlink -f "${found}"`]);
      expect(path).toBe(real.stdout.trim());
      expect(real.stdout).toContain(`.${version}`);
      expect(stdout).toContain(`${name} ${version} (${path})`);
    }
  });
});
