import { EFADV_CAPS, type EfadvCapName } from '../abi/efadv.ts';
import { sizeText } from '../explain/quantities.ts';
import type { Json } from '../layout/codec.ts';
import type { EnumJson } from '../layout/enumeration.ts';
import type { FlagsJson } from '../layout/flags.ts';
import type { Device, Gid, LibraryOrigin, Port, QueryDeviceResult } from '../model/query-device.ts';
import type { Block, Cell } from '../output/blocks.ts';
import { enumText, flagsText, hexAndDecimal, pageSizesText, rateText } from './values.ts';

type Row = readonly [label: string, value: Cell];

export interface QueryDeviceViewOptions {
  /** Every attribute; otherwise what a person wants first. */
  readonly verbose: boolean;
}

/** A section a device, and the libraries that answered. */
export function queryDeviceView(result: QueryDeviceResult, options: QueryDeviceViewOptions): Block[] {
  const sections = result.devices.map((device) =>
    options.verbose ? everything(device) : essentials(device),
  );
  const blocks = sections.flatMap((section): Block[] => [...section, { type: 'gap' }]);
  const libraries = librariesText(result);
  return libraries === '' || blocks.length === 0
    ? blocks
    : [...blocks, { type: 'text', text: libraries, tone: 'quiet' }];
}

function librariesText({ libraries }: QueryDeviceResult): string {
  const one = (name: string, origin: LibraryOrigin): string[] =>
    origin.path === null ? [] : [`${name} ${origin.version ?? 'of unknown release'} (${origin.path})`];
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

function errorRows(device: Device): Row[] {
  const rows: Row[] = [];
  if (device.error) {
    rows.push(['Error', { text: device.error.message, tone: 'bad' }], ['Next', device.error.hint]);
  }
  for (const port of device.ports) {
    if (port.error && port.error.message !== device.error?.message) {
      rows.push([`Error, port ${port.port}`, { text: port.error.message, tone: 'bad' }]);
    }
  }
  return rows;
}

const noteRows = (device: Device): Row[] =>
  device.notes.map((note): Row => ['Note', { text: note, tone: 'doubt' }]);

function essentials(device: Device): Block[] {
  const rows: Row[] = errorRows(device);
  if (device.efa) rows.push(['RDMA', device.efa.verdict]);
  else if (device.sysfs.driver === 'efa' && device.attributes) {
    rows.push([
      'RDMA',
      { text: `unknown: ${device.unavailable['efa'] ?? 'libefa did not answer'}`, tone: 'doubt' },
    ]);
  }
  if (device.attributes) {
    const { vendor_id, vendor_part_id, hw_ver, fw_ver } = device.attributes;
    rows.push([
      'Card',
      [
        `vendor 0x${vendor_id.toString(16)}`,
        `part ${hexAndDecimal(vendor_part_id)}`,
        `hw_ver 0x${hw_ver.toString(16)}`,
        `firmware ${fw_ver || 'unknown'}`,
        ...(device.sysfs.board_id === null ? [] : [`board ${device.sysfs.board_id}`]),
      ].join(', '),
    ]);
  }
  const type = [device.node_type, device.transport].filter((shown) => shown !== null).map(enumText);
  if (type.length > 0) rows.push(['Type', `node ${type[0]}, transport ${type[1] ?? '?'}`]);
  if (device.node_guid !== null) rows.push(['Node GUID', device.node_guid]);
  for (const port of device.ports) rows.push(...portEssentials(port));
  return [heading(device), { type: 'pairs', indent: 2, rows: [...rows, ...noteRows(device)] }];
}

const MOST_GIDS = 8;

function portEssentials(port: Port): Row[] {
  if (port.error) return [[`Port ${port.port}`, { text: port.error.message, tone: 'bad' }]];
  const up = port.state?.name === 'ACTIVE';
  const lid = port.lid ? [`LID ${port.lid}`, `SM LID ${port.sm_lid}`] : [];
  const text = [
    nameOf(port.state),
    nameOf(port.phys_state),
    rateText(port.rate_gbps, port.active_width, port.speed),
    ...(port.effective_speed_gbps === null ? [] : [`effective ${port.effective_speed_gbps} Gb/s`]),
    `MTU ${port.active_mtu?.name ?? '?'} of ${port.max_mtu?.name ?? '?'}`,
    ...lid,
    `link layer ${nameOf(port.link_layer)}`,
  ].join(', ');
  const gids = port.gids ?? [];
  const rows: Row[] = [[`Port ${port.port}`, { text, tone: up ? 'good' : 'doubt' }]];
  rows.push(...gids.slice(0, MOST_GIDS).map((gid): Row => [`  GID ${gid.index}`, gidText(gid)]));
  if (gids.length > MOST_GIDS) rows.push(['  …', `${gids.length - MOST_GIDS} more GIDs; -v shows them`]);
  if (port.gids === null)
    rows.push(['  GIDs', { text: port.unavailable['gids'] ?? 'unknown', tone: 'doubt' }]);
  return rows;
}

const nameOf = (shown: EnumJson | null): string =>
  shown === null ? '?' : (shown.name ?? `unknown (${shown.value})`);

const gidText = (gid: Gid): string =>
  [gid.gid, gid.type && gidTypeText(gid.type), gid.netdev].filter(Boolean).join(', ');

const GID_TYPES: Readonly<Record<string, string>> = { IB: 'IB', ROCE_V1: 'RoCE v1', ROCE_V2: 'RoCE v2' };

const gidTypeText = (type: EnumJson): string => GID_TYPES[type.name ?? ''] ?? enumText(type);

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

  section('Problems and notes', [...errorRows(device), ...noteRows(device)]);
  section('Device', [
    ['node_guid', device.node_guid ?? '?'],
    ...(device.node_type ? [['node_type', enumText(device.node_type)] as const] : missing('node_type')),
    ...(device.transport ? [['transport', enumText(device.transport)] as const] : missing('transport')),
    ...(device.num_comp_vectors === null
      ? []
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
  for (const port of device.ports) blocks.push(...portSection(port));
  return blocks;
}

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

function portSection(port: Port): Block[] {
  const {
    gids,
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
  if (error) return [title, { type: 'text', text: error.message, tone: 'bad', indent: 4 }];
  const blocks: Block[] = [
    title,
    {
      type: 'pairs',
      indent: 4,
      rows: [
        ['rate', rateText(rate_gbps, port.active_width, speed)],
        ...memberRows({ effective_speed_gbps }, unavailable),
        ...memberRows(attr, unavailable),
        ...(gids === null ? memberRows({ gids }, unavailable) : []),
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
  page_size_cap: (value) => `${value} (${pageSizesText(String(value))})`,
  hca_core_clock: (value) => (String(value) === '0' ? '0 (none)' : `${value} kHz`),
  qp_rate_limit_min: (value) => `${value} kb/s`,
  qp_rate_limit_max: (value) => `${value} kb/s`,
  max_cq_period: (value) => `${value} us`,
  local_ca_ack_delay: exponentText,
  subnet_timeout: exponentText,
  effective_speed_gbps: (value) => `${value} Gb/s`,
};

function bytesText(value: string | number): string {
  const size = sizeText(BigInt(value));
  return size.endsWith(' bytes') ? size : `${value} (${size})`;
}

/** 4.096 us x 2^n, the IBTA's way to write a time. */
function exponentText(value: string | number): string {
  return `${value} (${(4.096 * 2 ** Number(value)).toPrecision(4)} us)`;
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
