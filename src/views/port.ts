import type { PortEntry, PortNetdev, PortResult } from '../model/port.ts';
import type { Block, Cell, Column } from '../output/blocks.ts';
import { nameOf, portSection } from './query-device.ts';
import { rateText } from './values.ts';

export interface PortViewOptions {
  /** Every attribute of each port. */
  readonly verbose: boolean;
}

const COLUMNS: readonly Column[] = [
  'PORT',
  'STATE',
  { title: 'PHYSICAL', rank: 7 },
  'RATE',
  { title: 'LINK LAYER', rank: 5 },
  { title: 'MTU', rank: 4 },
  { title: 'LID', rank: 3 },
  { title: 'SM LID', rank: 2 },
  { title: 'PORT GUID', rank: 1 },
  { title: 'NETDEV', rank: 6 },
];

/** One line a port, or a section with everything that is known of it. */
export function portView(result: PortResult, { verbose }: PortViewOptions): Block[] {
  if (result.ports.length === 0) return [];
  if (verbose) return result.ports.flatMap((port) => [...section(port), { type: 'gap' }]);
  const hasErrors = result.ports.some(({ error }) => error !== null);
  // LIDs belong to InfiniBand.
  const hasLids = result.ports.some(({ lid }) => lid !== null && lid !== 0);
  const shown = COLUMNS.map((column, index) => ({ column, index })).filter(
    ({ column }) => hasLids || typeof column === 'string' || !/LID$/.test(column.title),
  );
  const rows = result.ports.map((port) => {
    const cells = row(port);
    const error: Cell = port.error ? { text: port.error.code, tone: 'bad' } : '';
    return [...shown.map(({ index }) => cells[index] ?? ''), error];
  });
  const notes = [...new Set(result.ports.flatMap((port) => port.notes))];
  return [
    {
      type: 'table',
      columns: [...shown.map(({ column }) => column), ...(hasErrors ? ['ERROR'] : [])],
      rows,
    },
    ...notes.map((note): Block => ({ type: 'text', text: note, tone: 'doubt' })),
  ];
}

function row(port: PortEntry): Cell[] {
  const isActive = port.state?.name === 'ACTIVE';
  return [
    { text: `${port.device}/${port.port}`, tone: 'title' },
    { text: nameOf(port.state), tone: isActive ? 'good' : 'doubt' },
    nameOf(port.phys_state),
    port.rate_gbps === null && port.speed === null
      ? '?'
      : rateText(port.rate_gbps, port.active_width, port.speed),
    nameOf(port.link_layer),
    mtuText(port),
    port.lid === null ? '?' : String(port.lid),
    port.sm_lid === null ? '?' : String(port.sm_lid),
    port.port_guid ?? '-',
    port.netdevs.map(netdevText).join(', ') || '-',
  ];
}

/** `1024 of 4096` where the port could take more. */
function mtuText({ active_mtu, max_mtu }: PortEntry): string {
  if (active_mtu === null) return '?';
  return nameOf(active_mtu) === nameOf(max_mtu)
    ? nameOf(active_mtu)
    : `${nameOf(active_mtu)} of ${nameOf(max_mtu)}`;
}

/** `eth0`, and its state where that is not up. */
const netdevText = ({ name, operstate }: PortNetdev): string =>
  operstate === null || operstate === 'up' ? name : `${name} (${operstate})`;

function section(entry: PortEntry): Block[] {
  const { device, source, driver, fw_ver, node_guid, port_guid, netdevs, notes, ...port } = entry;
  const rows: [string, Cell][] = [
    ...(port.error
      ? [
          ['Error', { text: port.error.message, tone: 'bad' }] satisfies [string, Cell],
          ...(port.error.hint === '' ? [] : [['Next', port.error.hint] satisfies [string, Cell]]),
        ]
      : []),
    ...notes.map((note): [string, Cell] => ['Note', { text: note, tone: 'doubt' }]),
    ['driver', driver ?? `unavailable: ${entry.unavailable['driver']}`],
    ['fw_ver', fw_ver ?? `unavailable: ${entry.unavailable['fw_ver']}`],
    ['node_guid', node_guid ?? `unavailable: ${entry.unavailable['node_guid']}`],
    ['port_guid', port_guid ?? `unavailable: ${entry.unavailable['port_guid']}`],
    ['netdevs', netdevs.map(netdevDetail).join('; ') || 'none'],
    ['source', source ?? `unavailable: ${entry.unavailable['source']}`],
  ];
  const known = source === null ? [] : portSection({ ...port, error: null }, undefined);
  return [
    { type: 'heading', text: `${device}/${port.port}` },
    { type: 'pairs', indent: 2, rows },
    ...known.filter((block) => block.type !== 'heading'),
  ];
}

/** `eth0: up, index 3, MTU 1500, address 02:00:00:00:00:01`. */
function netdevDetail({ name, operstate, ifindex, mtu, address }: PortNetdev): string {
  const facts = [
    operstate,
    ifindex === null ? null : `index ${ifindex}`,
    mtu === null ? null : `MTU ${mtu}`,
    address === null ? null : `address ${address}`,
  ].filter((fact) => fact !== null);
  return facts.length === 0 ? name : `${name}: ${facts.join(', ')}`;
}
