import { EFADV_CAPS, type EfadvCapName } from '../abi/efadv.ts';
import { sizeText } from '../explain/quantities.ts';
import type { Json } from '../layout/codec.ts';
import type { EnumJson } from '../layout/enumeration.ts';
import type { FlagsJson } from '../layout/flags.ts';
import type {
  Device,
  Gid,
  LibraryOrigin,
  Port,
  QueryDeviceResult,
  SysfsPort,
} from '../model/query-device.ts';
import type { Block, Cell } from '../output/blocks.ts';
import {
  durationText,
  enumText,
  flagsText,
  gidTypeText,
  hexAndDecimal,
  pageSizesText,
  rateText,
} from './values.ts';

type Row = readonly [label: string, value: Cell];

export interface QueryDeviceViewOptions {
  /** Every attribute; otherwise what a person wants first. */
  readonly verbose: boolean;
}

/** A section a device, what all of them have in common, and the libraries that answered. */
export function queryDeviceView(result: QueryDeviceResult, options: QueryDeviceViewOptions): Block[] {
  const { devices } = result;
  if (devices.length === 0) return [];
  const shared = sharedNotes(devices);
  const blocks = devices.flatMap((device): Block[] => [
    ...(options.verbose ? everything(device) : essentials(device, shared)),
    { type: 'gap' },
  ]);
  if (!options.verbose && shared.size > 0) {
    const text = [...shared].map(([note, count]) => `Note on ${count} devices: ${note}`);
    blocks.push(...text.map((line): Block => ({ type: 'text', text: line, tone: 'doubt' })), { type: 'gap' });
  }
  const libraries = librariesText(result);
  return libraries === '' ? blocks : [...blocks, { type: 'text', text: libraries, tone: 'quiet' }];
}

/** Notes that several devices have, and how many. */
function sharedNotes(devices: readonly Device[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const note of devices.flatMap(({ notes }) => notes)) counts.set(note, (counts.get(note) ?? 0) + 1);
  return new Map([...counts].filter(([, count]) => count > 1));
}

function librariesText({ libraries }: QueryDeviceResult): string {
  const one = (name: string, origin: LibraryOrigin): string[] => {
    if (origin.path === null) return origin.version === null ? [] : [`${name} ${origin.version}`];
    return [`${name} ${origin.version ?? 'of unknown release'} (${origin.path})`];
  };
  const loaded = [...one('libibverbs', libraries.libibverbs), ...one('libefa', libraries.libefa)];
  return loaded.length === 0 ? '' : `Answered by ${loaded.join(', ')}`;
}

const heading = (device: Device): Block => {
  const { driver, pci_address, numa_node, uverbs } = device.sysfs;
  const detail = [
    driver && `driver ${driver}`,
    pci_address,
    numa_node !== null && numa_node >= 0 && `NUMA node ${numa_node}`,
    uverbs,
  ];
  return { type: 'heading', text: device.name, detail: detail.filter(Boolean).join(', ') };
};

const errorRows = ({ error }: Device): Row[] =>
  error === null
    ? []
    : [
        ['Error', { text: error.message, tone: 'bad' }],
        ...(error.hint === '' ? [] : [['Next', error.hint] as const]),
      ];

const noteRows = (notes: readonly string[]): Row[] =>
  notes.map((note): Row => ['Note', { text: note, tone: 'doubt' }]);

// ------------------------------------------------------------------------------------- what one wants first

/** @param elsewhere notes that are shown for several devices together */
function essentials(device: Device, elsewhere: ReadonlyMap<string, number>): Block[] {
  const { attributes, sysfs } = device;
  const rows: Row[] = errorRows(device);
  if (device.efa) rows.push(['EFA', device.efa.verdict]);
  if (attributes) {
    const { vendor_id, vendor_part_id, hw_ver, fw_ver } = attributes;
    rows.push([
      'Card',
      [
        `vendor 0x${vendor_id.toString(16)}`,
        `part ${hexAndDecimal(vendor_part_id)}`,
        `hw_ver 0x${hw_ver.toString(16)}`,
        `firmware ${fw_ver || 'unknown'}`,
        ...(sysfs.board_id === null ? [] : [`board ${sysfs.board_id}`]),
      ].join(', '),
    ]);
  }
  if (device.node_type && device.transport) {
    rows.push(['Type', `node ${enumText(device.node_type)}, transport ${enumText(device.transport)}`]);
  }
  if (device.node_guid !== null) rows.push(['Node GUID', device.node_guid]);
  for (const port of device.ports) rows.push(...portEssentials(port, device));
  if (device.ports.length === 0 && attributes === null) {
    rows.push(...sysfs.ports.map((port): Row => [`Port ${port.port}`, `${sysfsPortText(port)} (sysfs)`]));
  }
  const notes = device.notes.filter((note) => !elsewhere.has(note));
  return [heading(device), { type: 'pairs', indent: 2, rows: [...rows, ...noteRows(notes)] }];
}

const MOST_GIDS = 8;

function portEssentials(port: Port, device: Device): Row[] {
  const label = `Port ${port.port}`;
  if (port.error) {
    const isSaid = port.error.message === device.error?.message;
    return [[label, { text: isSaid ? 'does not answer' : port.error.message, tone: 'bad' }]];
  }
  const isActive = port.state?.name === 'ACTIVE';
  const isUp = port.phys_state?.name === 'LINK_UP';
  const mtu = nameOf(port.active_mtu);
  const text = [
    nameOf(port.state),
    // An active port has its link; anything else is worth a word.
    ...(isActive && isUp ? [] : [nameOf(port.phys_state)]),
    rateText(port.rate_gbps, port.active_width, port.speed),
    ...(port.effective_speed_gbps === null || port.effective_speed_gbps === port.rate_gbps
      ? []
      : [`effective ${port.effective_speed_gbps} Gb/s`]),
    mtu === nameOf(port.max_mtu) ? `MTU ${mtu}` : `MTU ${mtu} of ${nameOf(port.max_mtu)}`,
    ...(port.lid ? [`LID ${port.lid}`, `SM LID ${port.sm_lid}`] : []),
    `link layer ${nameOf(port.link_layer)}`,
  ].join(', ');
  const gids = port.gids ?? [];
  const rows: Row[] = [[label, { text, tone: isActive ? 'good' : 'doubt' }]];
  rows.push(...gids.slice(0, MOST_GIDS).map((gid): Row => [`  GID ${gid.index}`, gidText(gid)]));
  if (gids.length > MOST_GIDS) rows.push(['  …', `${gids.length - MOST_GIDS} more GIDs: -v shows them`]);
  if (port.gids === null) {
    rows.push(['  GIDs', { text: `unknown: ${port.unavailable['gids'] ?? ''}`, tone: 'doubt' }]);
  } else if (gids.length === 0) rows.push(['  GIDs', { text: 'none', tone: 'doubt' }]);
  return rows;
}

/** `4: ACTIVE, 5: LinkUp, 100 Gb/sec (4X EDR), link layer Unknown`, in the kernel's words. */
const sysfsPortText = ({ state, phys_state, rate, link_layer }: SysfsPort): string =>
  [state, phys_state, rate, link_layer && `link layer ${link_layer}`].filter(Boolean).join(', ');

export const nameOf = (shown: EnumJson | null): string =>
  shown === null ? '?' : (shown.name ?? `unknown (${shown.value})`);

const gidText = (gid: Gid): string =>
  [gid.gid, gid.type && gidTypeText(gid.type), gid.netdev].filter(Boolean).join(', ');

// ----------------------------------------------------------------------------------------------- everything

/** Every attribute, under its name in the headers. */
function everything(device: Device): Block[] {
  const blocks: Block[] = [heading(device)];
  const section = (title: string, rows: readonly Row[]): void => {
    if (rows.length === 0) return;
    blocks.push({ type: 'heading', text: title, indent: 2 }, { type: 'pairs', indent: 4, rows });
  };
  const missing = (key: string): Row[] => {
    const reason = device.unavailable[key];
    return reason === undefined ? [] : [[key, { text: `unavailable: ${reason}`, tone: 'doubt' }]];
  };

  section('Problems and notes', [...errorRows(device), ...noteRows(device.notes)]);
  section('Device', [
    ...(device.node_guid === null ? missing('node_guid') : [['node_guid', device.node_guid] as const]),
    ...(device.node_type ? [['node_type', enumText(device.node_type)] as const] : missing('node_type')),
    ...(device.transport ? [['transport', enumText(device.transport)] as const] : missing('transport')),
    ...(device.num_comp_vectors === null
      ? missing('num_comp_vectors')
      : [['num_comp_vectors', String(device.num_comp_vectors)] as const]),
    ...sysfsRows(device),
  ]);
  section(
    'Attributes (ibv_device_attr)',
    device.attributes ? memberRows(device.attributes) : missing('attributes'),
  );
  section(
    'Extended attributes (ibv_device_attr_ex)',
    device.attributes_ex ? memberRows(device.attributes_ex) : missing('attributes_ex'),
  );
  section(
    'Completion counters (ibv_comp_cntr_caps)',
    device.comp_cntr_caps ? memberRows(device.comp_cntr_caps) : missing('comp_cntr_caps'),
  );
  section('EFA (efadv_device_attr)', device.efa ? efaRows(device.efa) : missing('efa'));
  for (const port of device.ports) {
    blocks.push(
      ...portSection(
        port,
        device.sysfs.ports.find((shown) => shown.port === port.port),
      ),
    );
  }
  const asked = device.ports.map(({ port }) => port);
  for (const port of device.sysfs.ports) {
    if (!asked.includes(port.port)) section(`Port ${port.port}`, sysfsPortRows(port));
  }
  return blocks;
}

const sysfsPortRows = (port: SysfsPort | undefined): Row[] =>
  port === undefined ? [] : [['sysfs', sysfsPortText(port) || 'nothing']];

function sysfsRows({ sysfs }: Device): Row[] {
  const node = sysfs.uverbs_node;
  const rows: [string, string | null][] = [
    ['driver', sysfs.driver],
    ['pci_address', sysfs.pci_address],
    ['numa_node', sysfs.numa_node === null ? null : String(sysfs.numa_node)],
    ['netdevs', sysfs.netdevs.length === 0 ? null : sysfs.netdevs.join(', ')],
    ['node_desc', sysfs.node_desc],
    ['fw_ver', sysfs.fw_ver],
    ['hca_type', sysfs.hca_type],
    ['board_id', sysfs.board_id],
    [
      'uverbs',
      node &&
        (node.mode === null
          ? `${node.path} does not exist`
          : `${node.path}, mode ${node.mode}, owner ${node.owner}:${node.group}, ${node.accessible ? 'accessible' : 'not accessible'}`),
    ],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== null);
}

function efaRows(efa: NonNullable<Device['efa']>): Row[] {
  const { verdict, inlen, caps, needs, max_sq_depth, max_rq_depth, unavailable, ...attr } = efa;
  const rows: Row[] = [['verdict', verdict], ...memberRows(attr, unavailable)];
  for (const [name, able] of Object.entries(caps) as [EfadvCapName, boolean | null][]) {
    const word = able === null ? `unknown, needs ${needs[name]}` : able ? 'yes' : 'no';
    const tone = able === null ? 'doubt' : able ? 'good' : 'plain';
    rows.push([`  ${name}`, { text: `${word}  (${EFADV_CAPS[name].meaning})`, tone }]);
  }
  return [...rows, ...memberRows({ max_sq_depth, max_rq_depth }, unavailable), ['inlen', String(inlen)]];
}

/** Every attribute of a port, with its GIDs and P_Keys. */
export function portSection(port: Port, shown: SysfsPort | undefined): Block[] {
  const {
    gids,
    gids_from,
    pkeys,
    unavailable,
    error,
    port: number,
    speed,
    rate_gbps,
    effective_speed_gbps,
    ...attr
  } = port;
  const title: Block = { type: 'heading', text: `Port ${number}`, indent: 2 };
  if (error) {
    const rows: Row[] = [['error', { text: error.message, tone: 'bad' }], ...sysfsPortRows(shown)];
    return [title, { type: 'pairs', indent: 4, rows }];
  }
  const blocks: Block[] = [
    title,
    {
      type: 'pairs',
      indent: 4,
      rows: [
        ['rate', rateText(rate_gbps, port.active_width, speed)],
        ...(rate_gbps === null ? memberRows({ rate_gbps }, unavailable) : []),
        ...memberRows({ effective_speed_gbps }, unavailable),
        ...memberRows(attr, unavailable),
        ...sysfsPortRows(shown),
        ...memberRows(gids === null ? { gids } : { gids_from }, unavailable),
        ...(pkeys === null ? memberRows({ pkeys }, unavailable) : []),
      ],
    },
  ];
  if (gids && gids.length > 0) {
    blocks.push({
      type: 'table',
      indent: 4,
      columns: ['GID', 'VALUE', 'TYPE', 'NETDEV', 'IPV4'],
      rows: gids.map((gid) => [
        String(gid.index),
        gid.gid,
        gid.type ? gidTypeText(gid.type) : '-',
        gid.netdev ?? '-',
        gid.ipv4 ?? '-',
      ]),
    });
  }
  if (pkeys && pkeys.length > 0) {
    blocks.push({
      type: 'table',
      indent: 4,
      columns: ['P_KEY', 'VALUE', 'MEMBERSHIP'],
      rows: pkeys.map((pkey) => [String(pkey.index), pkey.pkey, pkey.membership]),
    });
  }
  return blocks;
}

/** Members whose number a person reads in another form. */
const SHOWN_AS: Readonly<Record<string, (value: string | number) => string>> = {
  vendor_id: (value) => hexAndDecimal(Number(value)),
  vendor_part_id: (value) => hexAndDecimal(Number(value)),
  hw_ver: (value) => hexAndDecimal(Number(value)),
  max_mr_size: bytesText,
  max_msg_sz: bytesText,
  max_rdma_size: bytesText,
  max_dm_size: bytesText,
  page_size_cap: (value) => withNote(value, pageSizesText(String(value))),
  hca_core_clock: (value) => (String(value) === '0' ? '0 (none)' : `${value} kHz`),
  qp_rate_limit_min: (value) => `${value} kb/s`,
  qp_rate_limit_max: (value) => `${value} kb/s`,
  max_cq_period: (value) => `${value} us`,
  local_ca_ack_delay: exponentText,
  subnet_timeout: exponentText,
  effective_speed_gbps: (value) => `${value} Gb/s`,
};

const withNote = (value: string | number, note: string): string =>
  note === '' ? `${value}` : `${value} (${note})`;

const NO_LIMIT = 2n ** 64n - 1n;

function bytesText(value: string | number): string {
  const size = sizeText(BigInt(value));
  if (BigInt(value) === NO_LIMIT) return `${size} (no limit)`;
  return / bytes?$/.test(size) ? size : `${value} (${size})`;
}

/** 4.096 us x 2^n, the IBTA's way to write a time in five bits. */
function exponentText(value: string | number): string {
  return withNote(value, Number(value) > 31 ? '' : durationText(4.096 * 2 ** Number(value)));
}

/** A row a member; a nested structure's members under `outer.inner`. */
function memberRows(
  members: { readonly [name: string]: Json },
  unavailable: Readonly<Record<string, string>> = {},
  prefix = '',
): Row[] {
  return Object.entries(members).flatMap(([name, value]): Row[] => {
    if (value === null) {
      return [[prefix + name, { text: `unavailable: ${unavailable[name] ?? 'unknown'}`, tone: 'doubt' }]];
    }
    if (isFlags(value)) return [[prefix + name, flagsText(value)]];
    if (isEnum(value)) return [[prefix + name, enumText(value)]];
    if (typeof value === 'object') {
      return memberRows(value as { readonly [name: string]: Json }, unavailable, `${prefix}${name}.`);
    }
    const shown = SHOWN_AS[name];
    return [[prefix + name, shown && typeof value !== 'boolean' ? shown(value) : String(value)]];
  });
}

const isFlags = (value: Json): value is FlagsJson =>
  typeof value === 'object' && value !== null && 'flags' in value && Array.isArray(value.flags);
const isEnum = (value: Json): value is EnumJson =>
  typeof value === 'object' && value !== null && 'name' in value && 'value' in value;
