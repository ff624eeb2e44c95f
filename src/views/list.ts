import type { ListedDevice, ListedPort, ListResult } from '../model/list.ts';
import type { Block, Cell } from '../output/blocks.ts';

const NONE = '-';

/** One line a device. */
export function listView(result: ListResult): Block[] {
  if (result.devices.length === 0) return [];
  return [
    {
      type: 'table',
      columns: [
        'DEVICE',
        'DRIVER',
        'NODE GUID',
        'PORTS',
        'STATE',
        'LINK LAYER',
        'RATE',
        'NETDEV',
        'UVERBS',
        '',
      ],
      rows: result.devices.map(row),
    },
  ];
}

function row(device: ListedDevice): Cell[] {
  const each = (value: (port: ListedPort) => string): string =>
    [...new Set(device.ports.map(value))].join(',') || NONE;
  const active = device.ports.every((port) => port.state === 'ACTIVE');
  return [
    { text: device.name, tone: 'title' },
    device.driver ?? NONE,
    device.node_guid ?? NONE,
    String(device.ports.length),
    // States stand port by port, so that one that is down is not hidden.
    {
      text: device.ports.map((port) => port.state ?? '?').join(',') || NONE,
      tone: active ? 'good' : 'doubt',
    },
    each((port) => port.link_layer ?? '?'),
    each((port) => (port.rate_gbps === null ? '?' : `${port.rate_gbps} Gb/s`)),
    device.netdevs.join(',') || NONE,
    device.uverbs ?? NONE,
    device.error ? { text: device.error.code, tone: 'bad' } : '',
  ];
}
