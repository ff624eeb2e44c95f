/** Data over a connection, for people. */
import { bytesText } from '../explain/quantities.ts';
import type { CmCompletion, CmEcho, CmPing } from '../model/cm-exchange.ts';
import type { Block } from '../output/blocks.ts';
import { enumText } from './values.ts';

/** `87.3 us`, `1.25 ms`. */
export function durationText(microseconds: number): string {
  if (microseconds < 1000) return `${microseconds.toFixed(1)} us`;
  if (microseconds < 1e6) return `${(microseconds / 1000).toFixed(2)} ms`;
  return `${(microseconds / 1e6).toFixed(2)} s`;
}

/** `1.50 MB/s (12.0 Mb/s)`. */
function rateText(bytesPerSecond: number): string {
  const scaled = (value: number, unit: string): string => {
    const prefixes = ['', 'k', 'M', 'G', 'T'];
    let rest = value;
    let index = 0;
    while (rest >= 1000 && index < prefixes.length - 1) {
      rest /= 1000;
      index++;
    }
    return `${rest.toFixed(rest < 10 ? 2 : 1)} ${prefixes[index]}${unit}`;
  };
  return `${scaled(bytesPerSecond, 'B/s')} (${scaled(bytesPerSecond * 8, 'b/s')})`;
}

const completionText = ({ status, vendor_err }: CmCompletion): string =>
  `${enumText(status)}${vendor_err === 0 ? '' : `, vendor error 0x${vendor_err.toString(16)}`}`;

export function pingBlocks(ping: CmPing | null): Block[] {
  if (ping === null) return [];
  const { protocol, size, count, sent, received, verified, round_trip, bytes_per_second, completion } = ping;
  const rows: [string, string][] = [
    ['pings', `${count} of ${bytesText(size)}, ${protocol === 'rping' ? 'as rping' : 'as datagrams'}`],
    ['sent', String(sent)],
    ['received', String(received)],
    [
      'verified',
      protocol === 'datagrams' && verified === 0 && received > 0
        ? '0 (the answers carry other bytes: udaddy sends its own)'
        : String(verified),
    ],
  ];
  if (round_trip !== null) {
    const { min_us, median_us, p99_us, max_us } = round_trip;
    rows.push([
      'round trip',
      `min ${durationText(min_us)}, median ${durationText(median_us)}, p99 ${durationText(p99_us)}, max ${durationText(max_us)}`,
    ]);
  }
  if (bytes_per_second !== null) rows.push(['bandwidth', `${rateText(bytes_per_second)}, to and fro`]);
  if (completion !== null) rows.push(['completion', completionText(completion)]);
  return [{ type: 'gap' }, { type: 'heading', text: 'data' }, { type: 'pairs', indent: 2, rows }];
}

/** `12 pings sent back, 768 bytes`. */
export function echoText(echo: CmEcho | null): string {
  if (echo === null) return '';
  const what = `${echo.protocol === 'rping' ? 'ping' : 'datagram'}${echo.served === 1 ? '' : 's'}`;
  const completion = echo.completion === null ? '' : `, completion ${completionText(echo.completion)}`;
  return `${echo.served} ${what} sent back, ${bytesText(echo.bytes)}${completion}`;
}
