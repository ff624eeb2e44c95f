import type { GidDevice, GidEntry, GidPort, GidResult } from '../model/gid.ts';
import type { Block, Cell, Column } from '../output/blocks.ts';
import { gidTypeText } from './values.ts';

const NONE = '-';

export interface GidViewOptions {
  /** All digits of a GID. */
  readonly full: boolean;
}

/** On a narrow terminal what the GID itself tells goes first. */
const COLUMNS: readonly Column[] = [
  'DEVICE',
  'PORT',
  'INDEX',
  'GID',
  'TYPE',
  { title: 'IPV4', rank: 1 },
  { title: 'NETDEV', rank: 4 },
  { title: 'STATE', rank: 3 },
  { title: 'SCOPE', rank: 2 },
];

/** A line an entry, and below it why an entry is marked, or none. */
export function gidView(result: GidResult, options: GidViewOptions): Block[] {
  const { devices } = result;
  const rows = devices.flatMap((device) =>
    device.ports.flatMap(({ port, gids }) =>
      (gids ?? []).map((entry) => row(device.name, port, entry, options)),
    ),
  );
  const table: Block[] = rows.length === 0 ? [] : [{ type: 'table', columns: COLUMNS, rows }];
  const remarks = remarksOn(devices);
  const gap: Block[] = table.length > 0 && remarks.length > 0 ? [{ type: 'gap' }] : [];
  return [...table, ...gap, ...remarks];
}

function row(device: string, port: number, entry: GidEntry, { full }: GidViewOptions): Cell[] {
  const { wanted, netdev, netdev_state, type, scope } = entry;
  const isRoce = type !== null && type.name !== 'IB';
  return [
    { text: device, tone: 'title' },
    String(port),
    { text: `${entry.index}${wanted ? ' *' : ''}`, tone: wanted ? 'good' : 'plain' },
    full ? entry.gid_full : entry.gid,
    // What is there and not told is a question; what is not there is none.
    type === null ? (scope === 'empty' ? NONE : '?') : gidTypeText(type),
    entry.ipv4 ?? NONE,
    netdev ?? (isRoce ? '?' : NONE),
    {
      text: netdev === null ? NONE : (netdev_state ?? '?'),
      tone: netdev_state === null || netdev_state === 'up' ? 'plain' : 'doubt',
    },
    scope === 'empty' ? NONE : scope,
  ];
}

const MOST_PORTS = 4;

/** What is to be said of each port; what is the same of several is said once. */
function remarksOn(devices: readonly GidDevice[]): Block[] {
  const remarks = new Map<string, { tone: 'good' | 'doubt' | 'bad'; places: string[] }>();
  const say = (place: string, tone: 'good' | 'doubt' | 'bad', text: string): void => {
    const known = remarks.get(text);
    if (known) known.places.push(place);
    else remarks.set(text, { tone, places: [place] });
  };
  for (const device of devices) {
    for (const port of device.ports) {
      const place = `${device.name} port ${port.port}`;
      if (port.choice !== null) say(place, 'good', choiceText(port.choice, port.gids ?? []));
      else if (port.gids !== null) say(place, 'doubt', `no index is marked: ${port.unavailable['choice']}`);
      else say(place, 'bad', `GIDs unknown: ${port.unavailable['gids']}`);
    }
    if (device.ports.length === 0 && device.error !== null)
      say(device.name, 'bad', withoutSubject(device.error.message, device.name));
    for (const note of device.notes) say(device.name, 'doubt', note);
  }
  const lines = [...remarks].map(([text, { tone, places }]): Block => {
    const first = places.slice(0, MOST_PORTS).join(', ');
    const rest = places.length > MOST_PORTS ? ` and ${places.length - MOST_PORTS} more` : '';
    return { type: 'text', tone, text: `${first}${rest}: ${text}` };
  });
  const isMarked = devices.some(({ ports }) => ports.some(({ choice }) => choice !== null));
  if (!isMarked) return lines;
  const legend = '* the index for NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX, -x of perftest and the like';
  return [...lines, { type: 'text', tone: 'quiet', text: legend }];
}

/** A failure's message where its subject stands before it already. */
const withoutSubject = (message: string, subject: string): string =>
  message.startsWith(`${subject}: `) ? message.slice(subject.length + 2) : message;

const MOST_OTHERS = 8;

function choiceText(
  { index, reason, others }: NonNullable<GidPort['choice']>,
  gids: readonly GidEntry[],
): string {
  const where = (other: number): string => {
    const entry = gids.find((gid) => gid.index === other);
    return `${other} (${[entry?.ipv4 ?? entry?.gid, entry?.netdev].filter(Boolean).join(', ')})`;
  };
  const list = others.slice(0, MOST_OTHERS).map(where).join(', ');
  const rest = others.length > MOST_OTHERS ? ` and ${others.length - MOST_OTHERS} more` : '';
  return `index ${index}: ${reason}${others.length === 0 ? '' : `; also usable: ${list}${rest}`}`;
}
