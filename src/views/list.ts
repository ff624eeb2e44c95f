import type { ListedDevice, ListedPort, ListResult } from '../model/list.ts';
import type { Block, Cell, Column } from '../output/blocks.ts';
import { codesText } from './values.ts';

const NONE = '-';

/** In the order of the table; on a narrow terminal the GUID goes first: it is the widest, and least asked for. */
const COLUMNS: readonly Column[] = [
  'DEVICE',
  { title: 'DRIVER', rank: 4 },
  { title: 'NODE GUID', rank: 1 },
  { title: 'PORTS', rank: 2 },
  'STATE',
  { title: 'LINK LAYER', rank: 3 },
  'RATE',
  { title: 'NETDEV', rank: 5 },
  { title: 'UVERBS', rank: 6 },
];

/** One line a device. */
export function listView(result: ListResult): Block[] {
  if (result.devices.length === 0) return [];
  const hasErrors = result.devices.some(({ error }) => error !== null);
  return [
    {
      type: 'table',
      columns: hasErrors ? [...COLUMNS, 'ERROR'] : COLUMNS,
      rows: result.devices.map(row),
    },
  ];
}

function row(device: ListedDevice): Cell[] {
  const each = (value: (port: ListedPort) => string): string =>
    [...new Set(device.ports.map(value))].join(',') || NONE;
  const active = device.ports.length > 0 && device.ports.every((port) => port.state === 'ACTIVE');
  return [
    { text: device.name, tone: 'title' },
    device.driver ?? NONE,
    device.node_guid ?? NONE,
    String(device.ports.length),
    { text: states(device.ports) || NONE, tone: active ? 'good' : 'doubt' },
    each((port) => port.link_layer ?? '?'),
    each(rate),
    device.netdevs.join(',') || NONE,
    device.uverbs ?? NONE,
    device.error ? { text: device.error.code, tone: 'bad' } : '',
  ];
}

/** In Gb/s; the codes where they are not known. */
function rate({ rate_gbps, active_width, speed }: ListedPort): string {
  if (rate_gbps !== null) return `${rate_gbps} Gb/s`;
  return active_width === null && speed === null ? '?' : codesText(active_width, speed);
}

/** Port by port, so that one that is down is not hidden; `ACTIVE x36` where many in turn have the same. */
function states(ports: readonly ListedPort[]): string {
  const runs: { state: string; count: number }[] = [];
  for (const { state } of ports) {
    const last = runs.at(-1);
    if (last !== undefined && last.state === (state ?? '?')) last.count++;
    else runs.push({ state: state ?? '?', count: 1 });
  }
  const text = ({ state, count }: { state: string; count: number }): string =>
    count > 2 ? `${state} x${count}` : Array.from({ length: count }, () => state).join(',');
  return runs.map(text).join(',');
}
