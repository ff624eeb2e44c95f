import type { CmConnectManyResult } from '../model/cm-connect-many.ts';
import type { Block } from '../output/blocks.ts';
import { addressText, statusText } from './cm.ts';
import { enumText } from './values.ts';

const time = (milliseconds: number): string => `${milliseconds.toFixed(2)} ms`;

/** Rate, times of the steps, and what failed, by cause. */
export function cmConnectManyView(result: CmConnectManyResult): Block[] {
  const { established, failed, count, concurrency, duration_ms, connections_per_second } = result;
  const rows: [string, string | { text: string; tone: 'good' | 'bad' }][] = [
    ['port space', result.port_space],
  ];
  if (result.local)
    rows.push(['local', result.local.port === 0 ? result.local.addr : addressText(result.local)]);
  if (result.peer) rows.push(['peer', addressText(result.peer)]);
  if (result.device) rows.push(['device', result.device]);
  rows.push(['asked for', `${count} connections, ${concurrency} at once`]);
  if (duration_ms === null) return [{ type: 'pairs', rows }];
  rows.push(['established', { text: String(established), tone: established === count ? 'good' : 'bad' }]);
  if (failed > 0) rows.push(['failed', { text: String(failed), tone: 'bad' }]);
  rows.push(['duration', time(duration_ms)]);
  if (connections_per_second !== null)
    rows.push(['connections per second', connections_per_second.toFixed(1)]);
  return [{ type: 'pairs', rows }, ...stepBlocks(result), ...failureBlocks(result)];
}

function stepBlocks({ steps }: CmConnectManyResult): Block[] {
  if (steps.length === 0) return [];
  return [
    { type: 'gap' },
    {
      type: 'table',
      columns: ['STEP', 'COUNT', 'MIN', 'MEDIAN', 'P99', 'MAX', { title: 'TOTAL', rank: 1 }],
      rows: steps.map(({ step, count, min_ms, median_ms, p99_ms, max_ms, total_ms }) => [
        step,
        String(count),
        ...[min_ms, median_ms, p99_ms, max_ms, total_ms].map(time),
      ]),
    },
  ];
}

function failureBlocks({ failures }: CmConnectManyResult): Block[] {
  if (failures.length === 0) return [];
  return [
    { type: 'gap' },
    {
      type: 'table',
      columns: ['FAILED', 'STEP', 'EVENT', 'STATUS', 'CODE'],
      rows: failures.map(({ count, step, event, status, status_name, first }) => [
        String(count),
        step,
        event === null ? '-' : enumText(event),
        statusText(status, status_name),
        first.code,
      ]),
    },
    // A single cause is what stderr says.
    ...(failures.length === 1 ? [] : failures).map(
      ({ first }): Block => ({ type: 'text', text: `${first.message}; next: ${first.hint}` }),
    ),
  ];
}
