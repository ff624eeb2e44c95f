/** Results of the `cm` commands for people. */

import { ibUverbsQpAttr } from '../abi/verbs-qp.ts';
import { bytesText } from '../explain/quantities.ts';
import type { Json } from '../layout/codec.ts';
import type {
  CmAddress,
  CmConnection,
  CmConnectResult,
  CmGetaddrinfoResult,
  CmInitQpAttrResult,
  CmResolveResult,
  CmRoute,
  CmStep,
} from '../model/cm.ts';
import type { KernelCommand } from '../model/kernel-commands.ts';
import type { Block } from '../output/blocks.ts';
import { pingBlocks } from './cm-exchange.ts';
import { kernelCommandBlocks } from './kernel-commands.ts';
import { enumText, flagsText } from './values.ts';

/** What all one-shot commands show. */
interface Outcome {
  readonly port_space: string;
  readonly local: CmAddress | null;
  readonly peer: CmAddress | null;
  readonly device: string | null;
  readonly ib_port: number | null;
  readonly steps: readonly CmStep[];
  readonly kernel_commands: readonly KernelCommand[] | null;
}

/** `10.9.0.1:7174`, `[fd09::1]:7174`. */
export const addressText = ({ addr, port }: CmAddress): string =>
  addr.includes(':') ? `[${addr}]:${port}` : `${addr}:${port}`;

/** Where the id is, its steps, and what went to the kernel where that was asked for. */
export const cmView = (result: Outcome): Block[] => [
  ...outcomeBlocks(result),
  ...kernelCommandBlocks(result.kernel_commands),
];

/** Where the id is, and its steps. */
export function outcomeBlocks(result: Outcome): Block[] {
  const rows: [string, string][] = [['port space', result.port_space]];
  if (result.local) rows.push(['local', addressText(result.local)]);
  if (result.peer) rows.push(['peer', addressText(result.peer)]);
  if (result.device) {
    rows.push(['device', `${result.device}${result.ib_port === null ? '' : `, port ${result.ib_port}`}`]);
  }
  return [{ type: 'pairs', rows }, ...stepsBlocks(result.steps)];
}

function stepsBlocks(steps: readonly CmStep[]): Block[] {
  if (steps.length === 0) return [];
  return [
    { type: 'gap' },
    {
      type: 'table',
      columns: ['STEP', 'TIME', 'EVENT', 'STATUS'],
      rows: steps.map((step) => [
        step.step,
        `${step.duration_ms.toFixed(2)} ms`,
        step.event === null ? '-' : enumText(step.event),
        step.status === 0
          ? { text: '0', tone: 'good' }
          : { text: statusText(step.status, step.status_name), tone: 'bad' },
      ]),
    },
  ];
}

/** `8 INVALID_SERVICE_ID`, `-110 ETIMEDOUT`. */
export const statusText = (status: number, name: string | null): string =>
  name === null ? String(status) : `${status} ${name}`;

export function cmResolveView(result: CmResolveResult): Block[] {
  return [
    ...outcomeBlocks(result),
    ...routeBlocks(result.route),
    ...kernelCommandBlocks(result.kernel_commands),
  ];
}

/** GIDs and path records. */
export function routeBlocks(route: CmRoute | null): Block[] {
  if (route === null) return [];
  // On RoCE the kernel leaves bytes of other values there.
  const infinibandOnly = (rows: [string, string][]) => (route.link_layer === 'Ethernet' ? [] : rows);
  return [
    { type: 'gap' },
    {
      type: 'pairs',
      rows: [
        ['source GID', route.sgid],
        ['destination GID', route.dgid],
        ['P_Key', route.pkey],
      ],
    },
    ...route.paths.flatMap((path, index): Block[] => [
      { type: 'gap' },
      { type: 'heading', text: `path ${index + 1} of ${route.paths.length}` },
      {
        type: 'pairs',
        indent: 2,
        rows: [
          ['sgid', path.sgid],
          ['dgid', path.dgid],
          ...infinibandOnly([
            ['slid', String(path.slid)],
            ['dlid', String(path.dlid)],
          ]),
          ['pkey', path.pkey],
          ['sl', String(path.sl)],
          ['mtu', `${enumText(path.mtu)}, selector ${path.mtu_selector}`],
          ['rate', `${enumText(path.rate)}, selector ${path.rate_selector}`],
          [
            'packet_life_time',
            `${lifeTimeText(path.packet_life_time)} (${path.packet_life_time}), selector ${path.packet_life_time_selector}`,
          ],
          ['hop_limit', String(path.hop_limit)],
          ['traffic_class', String(path.traffic_class)],
          ['flow_label', `0x${path.flow_label.toString(16)}`],
          ['reversible', String(path.reversible)],
          ['numb_path', String(path.numb_path)],
          ['raw_traffic', String(path.raw_traffic)],
          ...infinibandOnly([['preference', String(path.preference)]]),
        ],
      },
    ]),
  ];
}

/** 4.096 us x 2^n in a unit that reads well. */
export function lifeTimeText(code: number): string {
  const microseconds = 4.096 * 2 ** (code & 0x3f);
  if (microseconds < 1000) return `${microseconds.toFixed(1)} us`;
  if (microseconds < 1e6) return `${(microseconds / 1000).toFixed(1)} ms`;
  return `${(microseconds / 1e6).toFixed(1)} s`;
}

export function cmConnectView(result: CmConnectResult): Block[] {
  const rows: [string, string][] = [];
  const { qp } = result;
  if (qp) {
    rows.push([
      'queue pair',
      `${qp.qp_num} ${qp.type}${qp.srq ? ', shared receive queue' : ''}${qp.real ? '' : ', a number only'}`,
    ]);
  }
  return [
    ...outcomeBlocks(result),
    ...routeBlocks(result.route),
    ...(rows.length === 0 ? [] : [{ type: 'gap' } as const, { type: 'pairs', rows } as const]),
    ...connectionBlocks(result.connection),
    ...pingBlocks(result.ping),
    ...result.events.map(
      (event): Block => ({
        type: 'text',
        text: `${event.time.slice(11, 23)} ${enumText(event.event)} ${statusText(event.status, event.status_name)}: ${event.meaning}`,
      }),
    ),
    ...kernelCommandBlocks(result.kernel_commands),
  ];
}

function connectionBlocks(connection: CmConnection | null): Block[] {
  if (connection === null) return [];
  const { private_data, private_data_text, private_data_len, private_data_padded, ...values } = connection;
  const isEmpty = private_data === null || /^0x(00)*$/.test(private_data);
  const data = isEmpty
    ? 'none'
    : private_data_text === null
      ? private_data
      : JSON.stringify(private_data_text);
  const length = private_data_padded
    ? `, ${bytesText(private_data_len)} (the room of the message: its real length is not told)`
    : `, ${bytesText(private_data_len)}`;
  return [
    { type: 'gap' },
    { type: 'heading', text: 'what the peer answered' },
    {
      type: 'pairs',
      indent: 2,
      rows: [
        ['private data', isEmpty && !private_data_padded ? 'none' : `${data}${length}`],
        ...Object.entries(values).flatMap(([name, value]): [string, string][] =>
          value === null ? [] : [[name, String(value)]],
        ),
      ],
    },
  ];
}

/** Members that each bit of the mask makes hold, where the names differ. */
const MEMBERS_OF_FLAG: Readonly<Record<string, readonly string[]>> = {
  STATE: ['qp_state'],
  CUR_STATE: ['cur_qp_state'],
  ACCESS_FLAGS: ['qp_access_flags'],
  PORT: ['port_num'],
  AV: ['ah_attr'],
  MAX_QP_RD_ATOMIC: ['max_rd_atomic'],
  ALT_PATH: ['alt_ah_attr', 'alt_pkey_index', 'alt_port_num', 'alt_timeout'],
  CAP: ['max_send_wr', 'max_recv_wr', 'max_send_sge', 'max_recv_sge', 'max_inline_data'],
  DEST_QPN: ['dest_qp_num'],
};

export function cmInitQpAttrView(result: CmInitQpAttrResult): Block[] {
  return [
    ...outcomeBlocks(result),
    ...result.attributes.flatMap((attr): Block[] => {
      const holding = attr.qp_attr_mask.flags.flatMap(
        (flag) => MEMBERS_OF_FLAG[flag] ?? [flag.toLowerCase()],
      );
      const known = ibUverbsQpAttr.members.map(({ name }) => name);
      const rows = Object.entries<Json>(attr)
        .filter(([name]) => name === 'qp_attr_mask' || holding.includes(name))
        .filter(([name]) => known.includes(name))
        .flatMap(([name, value]) => memberRows(name, value));
      return [
        { type: 'gap' },
        { type: 'heading', text: `attributes for ${attr.qp_state.name ?? attr.qp_state.value}` },
        { type: 'pairs', indent: 2, rows },
      ];
    }),
    ...kernelCommandBlocks(result.kernel_commands),
  ];
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member by its name, a structure member by member. */
function memberRows(name: string, value: Json): [string, string][] {
  if (!isObject(value)) return [[name, String(value)]];
  const { value: number, name: word, flags, unknown } = value;
  if (Array.isArray(flags)) {
    return [[name, flagsText({ value: String(number), flags: flags.map(String), unknown: String(unknown) })]];
  }
  if (typeof number === 'number') {
    return [[name, enumText({ value: number, name: typeof word === 'string' ? word : null })]];
  }
  return Object.entries(value)
    .filter(([key]) => key !== 'reserved')
    .flatMap(([key, inner]) => memberRows(`${name}.${key}`, inner));
}

export function cmGetaddrinfoView(result: CmGetaddrinfoResult): Block[] {
  if (result.results.length === 0) return [];
  const NONE = '-';
  return [
    {
      type: 'table',
      columns: ['FAMILY', 'PORT SPACE', 'QP TYPE', 'SOURCE', 'DESTINATION', 'NAME', 'ROUTE'],
      rows: result.results.map((row) => [
        enumText(row.family),
        enumText(row.port_space),
        enumText(row.qp_type),
        row.src_addr ? addressText(row.src_addr) : NONE,
        row.dst_addr ? addressText(row.dst_addr) : NONE,
        row.dst_canonname ?? row.src_canonname ?? NONE,
        bytesText(row.route_len),
      ]),
    },
  ];
}
